"""CIDEr and CIDEr-D of word lists as the formulas read (Vedantam et al. 2015,
sections 4.1 and 4.2).

The oracle of :mod:`caption_kernels_reference.cider`, which has the same formulas over
the rows of an index.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from caption_kernels_reference.text_index import ORDERS, count_ngrams

SIGMA = 6.0
"""Width of the length penalty of CIDEr-D, in bigrams."""
SCALE = 10.0
"""Largest score."""
Words = Sequence[str]


def document_frequencies(
    documents: Iterable[Iterable[Words]],
) -> Counter[tuple[str, ...]]:
    """Return the number of documents (lists of word lists) that contain each n-gram of
    order 1 to 4.

    >>> document_frequencies([[["a", "dog"], ["a"]], [["a", "cat"]]])["a",]
    2
    """
    df: Counter[tuple[str, ...]] = Counter()
    for document in documents:
        df.update(
            {
                gram
                for words in document
                for counts in count_ngrams(words)
                for gram in counts
            }
        )
    return df


def vectors(
    words: Words, df: Mapping[tuple[str, ...], int], documents: int
) -> list[dict[tuple[str, ...], float]]:
    """Return the tf-idf weights of a text, one mapping per order:
    count times (log N - log max(1, df)).
    """
    log_n = math.log(documents)
    return [
        {
            gram: count * (log_n - math.log(max(1, df.get(gram, 0))))
            for gram, count in counts.items()
        }
        for counts in count_ngrams(words)
    ]


def pair_score(
    hyp: Words,
    ref: Words,
    df: Mapping[tuple[str, ...], int],
    documents: int,
    *,
    plain: bool = False,
) -> float:
    """Return the score of one hypothesis against one reference, in [0, 10].

    CIDEr-D is ten times the mean over orders of sum min(h, r) r / (|h| |r|), times
    exp(-(difference in bigrams)^2 / 72), with h and r the :func:`vectors` of the texts.
    The original CIDEr (``plain``) is ten times the mean over orders of cos(h, r),
    without clipping and length penalty.

    Parameters
    ----------
    hyp, ref : sequence of str
        Words.
    df : mapping
        Document frequency of each n-gram.
    documents : int
        Number of documents N.
    plain : bool
        Compute the original CIDEr.

    Examples
    --------
    >>> df = document_frequencies([[["a", "dog"]], [["a", "cat"]]])
    >>> pair_score(["a", "dog"], ["a", "dog"], df, 2)
    5.0
    """
    penalty = 1.0
    if not plain:
        difference = max(0, len(hyp) - 1) - max(0, len(ref) - 1)
        penalty = math.exp(-(difference**2) / (2 * SIGMA**2))
    total = 0.0
    for h, r in zip(vectors(hyp, df, documents), vectors(ref, df, documents)):
        product = sum(
            (weight if plain else min(weight, r[gram])) * r[gram]
            for gram, weight in h.items()
            if gram in r
        )
        scale = math.sqrt(sum(w * w for w in h.values())) * math.sqrt(
            sum(w * w for w in r.values())
        )
        total += (product / scale if scale else product) * penalty
    return total / ORDERS * SCALE


def score(
    hyp: Words,
    refs: Sequence[Words],
    df: Mapping[tuple[str, ...], int],
    documents: int,
    *,
    plain: bool = False,
) -> float:
    """Return the mean over references of :func:`pair_score`, in [0, 10]."""
    return sum(pair_score(hyp, ref, df, documents, plain=plain) for ref in refs) / len(
        refs
    )
