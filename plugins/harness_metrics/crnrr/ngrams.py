"""CR, NRR and CND: quality, diversity and divergence of a corpus, in time linear in the corpus.

With the relative frequencies Q (candidates) and P (references) of n-gram tokens, CR = sum Q P, NRR = -sum Q^2 and
CND = sum (Q - P)^2. All sums are integers, and each result is one correctly rounded division of integers, so that CND is
accurate to the last digit for corpora of any similarity.

Source: Li et al., "On the Relation between Quality-Diversity Evaluation and Distribution-Fitting Goal in Text Generation"
(ICML 2020), sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from harness_metrics.crnrr.counting import NgramCounter, Tokens, Vocabulary
from harness_metrics.crnrr.runs import NgramRun, merge_runs, partitions


@dataclass(frozen=True, slots=True)
class Sums:
    """Integers that determine all results of one order."""

    total_q: int
    """Number of n-gram tokens of the candidates."""
    total_p: int
    """Number of n-gram tokens of the references."""
    qq: int
    """Sum over n-grams of squared candidate counts."""
    pp: int
    """Sum over n-grams of squared reference counts."""
    qp: int
    """Sum over n-grams of candidate count times reference count."""
    within: int
    """Sum over candidate sentences of squared counts within the sentence."""
    squares: int
    """Sum over candidate sentences of the squared number of n-gram tokens."""
    distinct_q: int = 0
    """Number of distinct n-grams of the candidates."""
    distinct_p: int = 0
    """Number of distinct n-grams of the references."""


@dataclass(frozen=True, slots=True)
class CrNrr:
    """Results of one order; None where undefined, with the reason in ``note``."""

    n: int
    """Order."""
    cr: float | None = None
    """Coverage rate, a quality in [0, 1]: higher is better; comparable for equal references only."""
    nrr: float | None = None
    """Negative repetition rate, a diversity in [-1, 0): higher is more diverse."""
    cnd: float | None = None
    """CR-NRR divergence, at least 0, and 0 only for equal n-gram distributions: lower is better."""
    nrr_unbiased: float | None = None
    """NRR under the assumption that n-gram tokens are independent draws: -sum c(c-1) / (T(T-1))."""
    cnd_unbiased: float | None = None
    """CND under the same assumption; may be negative."""
    nrr_cross_sentence: float | None = None
    """NRR over the pairs of n-gram tokens from different sentences."""
    sums: Sums | None = None
    """Integers of the results."""
    note: str = ""
    """Reason for undefined results."""


def cr_nrr_cnd(candidates: Iterable[Tokens], references: Iterable[Tokens], n: int) -> CrNrr:
    """Return CR, NRR and CND of order n of two corpora.

    Parameters
    ----------
    candidates, references : iterable of sequences of str
        Sentences as tokens; a sentence shorter than n has no n-gram.
    n : int
        Order, at least 1.

    Returns
    -------
    CrNrr
        All values are None when a side has no n-gram; ``note`` names the side.

    Raises
    ------
    HarnessError
        For an n that is not an integer of at least 1.
    InputError
        For a sentence that is a string.

    Examples
    --------
    >>> result = cr_nrr_cnd([["a", "b"], ["a", "a"]], [["a", "b"], ["b", "b"]], 1)
    >>> result.cr, result.nrr, result.cnd
    (0.375, -0.625, 0.5)
    """
    return cr_nrr_cnd_orders(candidates, references, (n,))[n]


def cr_nrr_cnd_orders(
    candidates: Iterable[Tokens], references: Iterable[Tokens], orders: Sequence[int] = (1, 2, 3, 4)
) -> dict[int, CrNrr]:
    """Return order -> :func:`cr_nrr_cnd` for several orders, from one pass over each corpus."""
    vocabulary = Vocabulary()
    q = NgramCounter(orders, vocabulary=vocabulary).add(candidates)
    p = NgramCounter(orders, vocabulary=vocabulary).add(references)
    return compare(q, p)


def compare(q: NgramCounter, p: NgramCounter) -> dict[int, CrNrr]:
    """Return order -> results of the candidates ``q`` and the references ``p``; runs on disk are read range by range."""
    runs_p = p.in_vocabulary(q)
    q.widen()
    out: dict[int, CrNrr] = {}
    for order, candidate_counts in q.counts.items():
        reference_counts = p.counts[order]
        qq = pp = qp = distinct_q = distinct_p = 0
        for run_q, run_p in partitions([candidate_counts.runs, runs_p[order]]):
            qq += _product(run_q.counts, run_q.counts, candidate_counts.total, candidate_counts.total)
            pp += _product(run_p.counts, run_p.counts, reference_counts.total, reference_counts.total)
            qp += _sum_shared_products(run_q, run_p, candidate_counts.total, reference_counts.total)
            distinct_q += len(run_q.counts)
            distinct_p += len(run_p.counts)
        sums = Sums(
            candidate_counts.total,
            reference_counts.total,
            qq,
            pp,
            qp,
            candidate_counts.within,
            candidate_counts.squares,
            distinct_q,
            distinct_p,
        )
        out[order] = from_sums(order, sums)
    return out


def from_sums(n: int, sums: Sums) -> CrNrr:
    """Return the results of one order from its integers."""
    tq, tp = sums.total_q, sums.total_p
    empty = [side for side, total in (("candidates", tq), ("references", tp)) if total == 0]
    if empty:
        return CrNrr(n, sums=sums, note=f"the {' and the '.join(empty)} hold no {n}-gram")
    qq, pp, qp = sums.qq, sums.pp, sums.qp
    # One division of integers per value: Q and P are never rounded to frequencies, whose difference would lose the
    # digits of a CND of nearly equal corpora.
    unbiased = _estimate_cnd(qq, tq, pp, tp, qp)
    pairs = tq * tq - sums.squares
    return CrNrr(
        n,
        cr=qp / (tq * tp),
        nrr=_negative(qq, tq * tq),
        cnd=(qq * tp * tp + pp * tq * tq - 2 * qp * tq * tp) / (tq * tq * tp * tp),
        nrr_unbiased=_negative(qq - tq, tq * (tq - 1)) if tq > 1 else None,
        cnd_unbiased=unbiased,
        nrr_cross_sentence=_negative(qq - sums.within, pairs) if pairs else None,
        sums=sums,
        note="" if unbiased is not None and pairs else "a single n-gram or a single sentence: some forms are undefined",
    )


def _negative(numerator: int, denominator: int) -> float:
    """Return ``-numerator / denominator`` without a negative zero."""
    return -numerator / denominator if numerator else 0.0


def _estimate_cnd(qq: int, tq: int, pp: int, tp: int, qp: int) -> float | None:
    """Return the unbiased CND over the common denominator; None for fewer than two n-gram tokens on a side."""
    if tq < 2 or tp < 2:
        return None
    q, p = tq * (tq - 1), tp * (tp - 1)
    return ((qq - tq) * p * tq * tp + (pp - tp) * q * tq * tp - 2 * qp * q * p) / (q * p * tq * tp)


def _product(a: np.ndarray, b: np.ndarray, total_a: int, total_b: int) -> int:
    """Return the exact sum of a * b, in 64 bits when the product of the totals fits, else in integers of any size."""
    if total_a * total_b < 1 << 62:
        return int(np.dot(a, b))
    return int(np.dot(a.astype(object), b.astype(object)))


def _sum_shared_products(q: NgramRun, p: NgramRun, total_q: int, total_p: int) -> int:
    """Return the sum over shared n-grams of the product of their counts in two runs."""
    if not len(q.counts) or not len(p.counts):
        return 0
    if len(q.keys) == 1:
        # Both runs are sorted and distinct: a binary search per key finds the shared ones.
        at = np.minimum(p.keys[0].searchsorted(q.keys[0]), len(p.counts) - 1)
        same = np.flatnonzero(p.keys[0][at] == q.keys[0])
        return _product(q.counts[same], p.counts[at[same]], total_q, total_p)
    # Merging runs of the constant counts 1 and 2 gives 3 for shared n-grams, in the order of both runs.
    marks = merge_runs([NgramRun(run.keys, np.full(len(run.counts), mark)) for mark, run in ((1, q), (2, p))]).counts
    in_q, in_p = marks[marks != 2] == 3, marks[marks != 1] == 3
    return _product(q.counts[in_q], p.counts[in_p], total_q, total_p)
