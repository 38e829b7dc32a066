"""Tokenisers by name; each distinct text of a run is tokenised once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np

from harness.errors import UnknownName
from harness_metrics.tokenisers.rouge_words import rouge_stems, rouge_words
from harness_metrics.tokenisers.unspaced import separate_characters, separate_chinese

if TYPE_CHECKING:
    from caption_kernels import Tokenizer
    from harness.contracts import Features

TokenizerName = Literal["ptb", "java-ptb", "none", "zh", "characters", "ja", "zh-words"]
"""Names of tokenisers; :func:`tokenize` says what each does."""
TOKENIZERS: tuple[str, ...] = get_args(TokenizerName)
"""Accepted names of tokenisers."""
ROUGE_WORDS = "rouge-score"
ROUGE_STEMS = "rouge-score-stems"
"""Words of rouge_score, and their stems: tokenisers of the metrics after that program
alone.
"""
_RULES = {
    "zh": separate_chinese,
    "characters": separate_characters,
    ROUGE_WORDS: rouge_words,
    ROUGE_STEMS: rouge_stems,
}
"""Tokenisers that are functions of one text."""


def check_tokenizer(name: str) -> TokenizerName:
    """Return the name of a tokeniser.

    Raises
    ------
    UnknownName
        For a name that is not in :data:`TOKENIZERS`.
    MissingExtra
        For ``java-ptb`` without a Java runtime, ``ja`` without MeCab and ``zh-words``
        without jieba.

    Examples
    --------
    >>> check_tokenizer("ptb")
    'ptb'
    """
    if name not in TOKENIZERS:
        raise UnknownName.of_name(
            "unknown tokenizer", name, TOKENIZERS, "expected", parameter="tokenizer"
        )

    if name == "java-ptb":
        from harness_metrics.tokenisers.java_runtime import java_command

        # fails before the run writes anything
        java_command(needed_by="the tokenizer 'java-ptb'")
    elif name in ("ja", "zh-words"):
        from harness_metrics.tokenisers.segmenters import check_installed

        check_installed(name)
    return cast("TokenizerName", name)


def signed(tokenizer: str) -> str:
    """Return a tokeniser as signatures name it: a segmenter with its version,
    on which the words depend.

    >>> signed("zh")
    'zh'
    """
    if tokenizer in ("ja", "zh-words"):
        from harness_metrics.tokenisers.segmenters import segmenter_version

        return segmenter_version(tokenizer)
    return tokenizer


def tokenize(texts: Sequence[str], tokenizer: str = "ptb") -> list[str]:
    """Return each text as its tokens joined by one blank.

    Parameters
    ----------
    texts : sequence of str
        T texts.
    tokenizer : str
        ``ptb``, the COCO caption toolkit's tokeniser and removal list; ``java-ptb``,
        the same through the toolkit's jar; ``none``, texts are tokenised already and
        returned unchanged; ``zh``, each Chinese character and the words of other
        scripts (sacrebleu's ``zh``); ``characters``, each character (sacrebleu's
        ``char``); ``ja``, words by MeCab with the IPA dictionary (sacrebleu's
        ``ja-mecab``, extra ``mecab``); ``zh-words``, words by jieba (extra ``jieba``).
        The last four keep case and punctuation.

    Returns
    -------
    list of str
        T strings.

    Examples
    --------
    >>> tokenize(["A dog, running."])
    ['a dog running']
    >>> tokenize(["一只狗"], "zh")
    ['一 只 狗']
    """
    return function_of(check_tokenizer(tokenizer))(list(texts))


def function_of(name: str) -> Callable[[list[str]], list[str]]:
    """Return the function of a tokeniser, which takes raw texts and returns their
    tokens, joined by one blank.
    """
    if name == "none":
        return list
    if name == "java-ptb":
        from harness_metrics.tokenisers import java_ptb  # starts a JVM

        return java_ptb.tokenize
    if name in ("ja", "zh-words"):
        from harness_metrics.tokenisers.segmenters import segment

        return partial(segment, name=name)
    if name in _RULES:
        return lambda texts: list(map(_RULES[name], texts))
    return _ptb().tokenize


@cache
def _ptb() -> Tokenizer:
    """Return the PTB tokeniser of this process,
    which remembers the pieces that it has met.
    """
    from caption_kernels import Tokenizer

    return Tokenizer()


def tokens_of(
    features: Features, ids: np.ndarray | Iterable[int], tokenizer: str = "ptb"
) -> list[str]:
    """Return the tokens, joined by one blank, of interned texts;
    each distinct text is tokenised once per run.

    Parameters
    ----------
    features : Features
        Feature cache of the run.
    ids : array_like of int
        Text ids, any shape.
    tokenizer : str
        Name of the tokeniser.

    Returns
    -------
    list of str
        One string per id, in the flattened order of ``ids``.
    """
    return features.per_text(
        ("tokens", check_tokenizer(tokenizer)),
        ids,
        lambda texts: tokenize(texts, tokenizer),
    )
