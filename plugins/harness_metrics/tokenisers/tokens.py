"""Tokenisers by name; each distinct text of a run is tokenised once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, cast, get_args
from weakref import WeakSet

import numpy as np

from caption_kernels import TextIndex
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


# --------------------------------------------------------------------------- rows of texts
# Rows of a run's texts in an index of words and n-grams: each distinct text is
# tokenised and counted once.


_NO_PREFIX = np.uint64(2**32 - 1)
"""Prefix of an n-gram of one word, among the keys of an index:
the number of the prefix << 32 | the word.
"""


class TextRows:
    """The texts of a run in the index of one tokeniser.

    Parameters
    ----------
    tokenizer : str
        Name of the tokeniser.
    """

    def __init__(self, tokenizer: str) -> None:
        self.tokenizer = tokenizer
        self.index = TextIndex("ptb" if tokenizer == "ptb" else "none")
        self._rows = np.zeros(0, dtype=np.int64)
        """Row of each text id, -1 for a text that is not in the index yet."""
        self.tables: WeakSet[Any] = WeakSet()
        """Objects with ``counts`` of the n-grams of the index, by their numbers, and a
        ``stage``: ``growing``, ``complete`` (no further documents are counted) or
        ``short`` (without rare n-grams).
        """

    def rows(self, features: Features, ids: np.ndarray) -> np.ndarray:
        """Return the rows of interned texts, int64, shape of ``ids``;
        new texts are added.
        """
        ids = np.asarray(ids, dtype=np.int64)
        if len(features.texts) > len(self._rows):
            earlier_rows = self._rows
            self._rows = np.full(
                max(len(features.texts), 2 * len(earlier_rows)), -1, dtype=np.int64
            )
            self._rows[: len(earlier_rows)] = earlier_rows
        rows = self._rows[ids]
        if ids.size and rows.min() < 0:
            missing = np.unique(ids[rows < 0])
            self._rows[missing] = self.add(
                [features.texts[i] for i in missing.tolist()]
            )
            rows = self._rows[ids]
        return rows

    def gram_rows(self, features: Features, ids: np.ndarray) -> np.ndarray:
        """Return the rows of interned texts whose n-grams are counted, int64,
        shape of ``ids``.
        """
        rows = self.rows(features, ids)
        return self.index.gram_rows(np.ascontiguousarray(rows).ravel()).reshape(
            rows.shape
        )

    def add(self, texts: list[str]) -> np.ndarray:
        """Return the rows (T,) of raw texts that need no id."""
        return self.index.add(
            texts if self.tokenizer == "ptb" else function_of(self.tokenizer)(texts)
        )

    def forget_texts(self) -> None:
        """Drop all texts, and the n-grams that no table counts; of tables that are
        complete also those of fewer than two documents.
        """
        self._rows = np.zeros(0, dtype=np.int64)
        if {table.stage for table in self.tables} in (
            {"complete"},
            {"complete", "short"},
        ):
            self._drop_rare_grams()
        self.index.rollback(
            (0, max((len(table.counts) for table in self.tables), default=0), 0, 0)
        )

    def _drop_rare_grams(self) -> None:
        """Keep the n-grams of at least two documents of a table, under new numbers: one
        document weighs as much as none.
        """
        tokenizer, words, keys = cast(
            "tuple[str, object, np.ndarray]", self.index.__getstate__()
        )
        is_kept = np.zeros(len(keys), dtype=bool)
        for table in self.tables:
            is_kept[: len(table.counts)] |= table.counts > 1
        del self.index  # the old and the new one are never there at once
        for _ in range(3):  # a table from a file may lack the beginning of an n-gram
            prefixes = keys[is_kept] >> np.uint64(32)
            is_kept[prefixes[prefixes < _NO_PREFIX]] = True
        numbers = np.cumsum(is_kept, dtype=np.int32) - 1
        keys = keys[is_kept]
        prefixes = keys >> np.uint64(32)
        is_long = prefixes < _NO_PREFIX
        keys[is_long] = (
            numbers[prefixes[is_long]].astype(np.uint64) << np.uint64(32)
            | keys[is_long] & _NO_PREFIX
        )
        self.index = TextIndex.__new__(TextIndex)
        self.index.__setstate__((tokenizer, words, keys))
        for table in self.tables:
            table.stage, table.counts = (
                "short",
                table.counts[is_kept[: len(table.counts)]],
            )

    def __getstate__(self) -> dict[str, object]:
        """Return tokeniser, words and n-grams, for another process: no texts."""
        return {
            "tokenizer": self.tokenizer,
            "index": self.index,
            "_rows": np.zeros(0, dtype=np.int64),
        }

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, tables=WeakSet())  # the tables add themselves


def text_rows_of(features: Features, tokenizer: str) -> TextRows:
    """Return the texts that the metrics of a run share for one tokeniser."""
    return features.memo(("text-rows", tokenizer), lambda: TextRows(tokenizer))
