"""The functions of aac-metrics that start Java, without it: the same calls, NumPy's
numbers in place of tensors.

=========================================  =========================================
import of aac-metrics                      import in its place
=========================================  =========================================
``aac_metrics.utils.checks``               ``check_java_path``
``aac_metrics.utils.tokenization``         ``preprocess_mono_sents``
``aac_metrics.functional.meteor``          ``meteor``
=========================================  =========================================

SPICE has no replacement: it parses sentences, by the Java program of its authors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caption_kernels.coco.toolkit import Meteor, PTBTokenizer

WITHOUT_EFFECT = frozenset(
    {
        "cache_path",
        "java_path",
        "java_max_memory",
        "language",
        "tmp_path",
        "use_shell",
        "verbose",
    }
)
"""Options of caches, Java and messages, and the language, which is checked."""
Score = dict[str, np.float64]
SentenceScores = dict[str, np.ndarray]


def check_java_path(java_path: object) -> bool:
    """Return True for any path: no Java is started."""
    return True


def preprocess_mono_sents(sentences: Sequence[str], **options: object) -> list[str]:
    """Return the PTB tokens of each sentence, joined by one blank.

    Parameters
    ----------
    sentences : sequence of str
        N sentences without line breaks.
    options
        Options of the original about caches, Java and messages, which have no effect.

    Raises
    ------
    TypeError
        For an option that the original does not have.
    ValueError
        For ``punctuations`` or ``normalize_apostrophe``, which change the tokens, and
        for one text in place of a sequence.

    Examples
    --------
    >>> preprocess_mono_sents(["A dog's barking!", "Rain, heavy rain."])
    ["a dog 's barking", 'rain heavy rain']
    """
    _refuse(options, ("punctuations", "normalize_apostrophe"))
    _refuse_text(sentences, "sentences")
    tokens = PTBTokenizer().tokenize(
        {k: [{"caption": text}] for k, text in enumerate(sentences)}
    )
    return [line for k in range(len(sentences)) for line in tokens[k]]


def meteor(
    candidates: Sequence[str],
    mult_references: Sequence[Sequence[str]],
    return_all_scores: bool = True,
    **options: object,
) -> tuple[Score, SentenceScores] | np.float64:
    """Return METEOR 1.5 of tokenised English sentences.

    Parameters
    ----------
    candidates : sequence of str
        N tokenised sentences.
    mult_references : sequence of sequences of str
        The tokenised references of each.
    return_all_scores : bool
        False returns the number of the corpus alone.
    options
        Options of the original about caches, Java and messages, which have no effect.

    Returns
    -------
    tuple
        ``{"meteor": number}`` of the corpus, and ``{"meteor": array (N,)}``.

    Raises
    ------
    MissingSources
        Without the data of the package pycocoevalcap (the extra ``meteor``).
    TypeError
        For an option that the original does not have.
    ValueError
        For a ``language`` other than ``en``, for ``params`` or ``weights``, and for
        one text in place of a sequence.
    """
    if options.get("language", "en") != "en":
        raise ValueError(f"meteor: language is {options['language']!r}; expected 'en'")
    _refuse(options, ("params", "weights"))

    _refuse_text(candidates, "candidates")
    _refuse_text(mult_references, "mult_references")
    for k, texts in enumerate(mult_references):
        _refuse_text(texts, f"mult_references[{k}]")
    references = {k: list(texts) for k, texts in enumerate(mult_references)}
    corpus, sentences = Meteor().compute_score(
        references, {k: [text] for k, text in enumerate(candidates)}
    )
    if not return_all_scores:
        return np.float64(corpus)
    return {"meteor": np.float64(corpus)}, {"meteor": np.asarray(sentences)}


def _refuse_text(texts: object, name: str) -> None:
    """Raise ValueError for one text, whose letters would be taken for texts."""
    if isinstance(texts, str):
        raise ValueError(f"{name} is the text {texts!r:.80}; expected a list of texts")


def _refuse(options: dict[str, object], names: Sequence[str]) -> None:
    """Raise ValueError for an option that would change the numbers, and TypeError for
    one that does not exist.
    """
    for name in options:
        if name not in WITHOUT_EFFECT and name not in names:
            raise TypeError(f"unexpected keyword argument '{name}'")
    for name in names:
        if options.get(name):
            raise ValueError(
                f"{name} is {options[name]!r}; caption_kernels has the default alone"
            )
