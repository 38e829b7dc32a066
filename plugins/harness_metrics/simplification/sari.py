"""SARI: the words that a simplification keeps, deletes and adds, against those of the
references.

Multisets of n-grams: the counts of source and candidate are multiplied by the number
of references, those of the references are summed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

ORDERS = 4
"""Largest order of the n-grams."""
Words = Sequence[str]
Grams = Counter[tuple[str, ...]]


def sari(source: Words, candidate: Words, references: Sequence[Words]) -> float:
    """Return SARI of one sentence, in [0, 1].

    The mean over the orders 1 to 4 of (F of kept + precision of deleted + F of added
    n-grams) / 3, where a ratio without any n-gram is 1.

    Parameters
    ----------
    source, candidate : sequence of str
        Words.
    references : sequence of sequences of str
        Words of each reference, at least one.

    References
    ----------
    Xu et al. 2016, *Optimizing Statistical Machine Translation for Text
    Simplification*, section 4, with the corrections of tensor2tensor (0 / 0 = 1; recall
    of kept n-grams by counts), as the library evaluate has it.

    Examples
    --------
    >>> round(
    ...     sari(
    ...         "about 95 are accepted".split(),
    ...         "about 95 are in".split(),
    ...         ["about 95 are known".split()],
    ...     ),
    ...     4,
    ... )
    0.6667
    """
    total = 0.0
    for order in range(1, ORDERS + 1):
        s, c = (_grams(words, order) for words in (source, candidate))
        r: Grams = sum((_grams(words, order) for words in references), Grams())

        # The references are one multiset of R texts; source and candidate are repeated
        # R times to compare with it.
        for counts in (s, c):
            for gram in counts:
                counts[gram] *= len(references)

        retention = _score_retention(s, c, r)
        total += (retention + _score_deletions(s, c, r) + _score_additions(s, c, r)) / 3
    return total / ORDERS


def _grams(words: Words, order: int) -> Grams:
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def _score_retention(s: Grams, c: Grams, r: Grams) -> float:
    """Return the F-score of the n-grams that the candidate keeps."""
    retained = s & c
    right = s & r
    good = retained & r

    # Precision by distinct n-grams and recall by counts, as in tensor2tensor.
    precision = 1.0
    if retained:
        shares = sum(good[gram] / retained[gram] for gram in good)
        precision = shares / len(retained)
    recall = good.total() / right.total() if right else 1.0
    return _f_score(precision, recall)


def _score_deletions(s: Grams, c: Grams, r: Grams) -> float:
    """Return the precision of the n-grams that the candidate deletes."""
    deleted = s - c
    good = deleted - r
    if not deleted:
        return 1.0
    return sum(good[gram] / deleted[gram] for gram in good) / len(deleted)


def _score_additions(s: Grams, c: Grams, r: Grams) -> float:
    """Return the F-score of the distinct n-grams that the candidate adds."""
    added = c.keys() - s.keys()
    right = r.keys() - s.keys()
    good = len(added & r.keys())
    precision = good / len(added) if added else 1.0
    recall = good / len(right) if right else 1.0
    return _f_score(precision, recall)


def _f_score(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
