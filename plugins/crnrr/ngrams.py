"""CR, NRR and CND: quality, diversity and divergence of a corpus from n-gram statistics that cost linear time.

Source: Li et al., "On the Relation between Quality-Diversity Evaluation and Distribution-Fitting Goal in Text Generation"
(ICML 2020), sections 4 and 5. With the relative frequencies Q (candidates) and P (references) of n-gram tokens:
CR = sum Q P, NRR = -sum Q^2, CND = sum (Q - P)^2. All sums are integers; each result is one correctly rounded division of
integers, so that CND has all its digits however close the corpora are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.plugins.crnrr.counting import NgramCounter, NgramRun, Tokens, Vocabulary, merged, partitions


@dataclass(frozen=True, slots=True)
class Sums:
    """The integers from which everything of one order follows."""

    total_q: int
    total_p: int
    qq: int
    """Sum over n-grams of squared candidate counts."""
    pp: int
    qp: int
    within: int
    """Sum over candidate sentences of squared counts inside the sentence."""
    squares: int
    """Sum over candidate sentences of their squared number of n-gram tokens."""
    distinct_q: int = 0
    distinct_p: int = 0


@dataclass(frozen=True, slots=True)
class CrNrr:
    """Results for one order; None where undefined, with the reason in ``note``."""

    n: int
    cr: float | None = None
    """Coverage rate, quality: higher is better; comparable for the same references only."""
    nrr: float | None = None
    """Negative repetition rate, diversity in [-1, 0): higher is more diverse."""
    cnd: float | None = None
    """CR-NRR divergence, 0 only for equal n-gram distributions: lower is better."""
    nrr_unbiased: float | None = None
    """NRR were all n-gram tokens independent draws: -sum c(c-1) / (T(T-1))."""
    cnd_unbiased: float | None = None
    """CND likewise; may be negative."""
    nrr_cross_sentence: float | None = None
    """NRR over pairs of n-gram tokens from different sentences only."""
    sums: Sums | None = None
    note: str = ""


def cr_nrr_cnd(candidates: Iterable[Tokens], references: Iterable[Tokens], n: int) -> CrNrr:
    """CR, NRR and CND of order n of two corpora, each an iterable of token lists.

    Sentences shorter than n hold no n-gram. If a whole side has none every value is None and ``note`` says which side.
    Raises :class:`HarnessError` for an n below 1 and :class:`InputError` for a sentence that is a string.

    >>> result = cr_nrr_cnd([["a", "b"], ["a", "a"]], [["a", "b"], ["b", "b"]], 1)
    >>> result.cr, result.nrr, result.cnd
    (0.375, -0.625, 0.5)
    """
    return cr_nrr_cnd_orders(candidates, references, (n,))[n]


def cr_nrr_cnd_orders(
    candidates: Iterable[Tokens], references: Iterable[Tokens], orders: Sequence[int] = (1, 2, 3, 4)
) -> dict[int, CrNrr]:
    """The same for several orders in one pass over each corpus."""
    vocabulary = Vocabulary()
    q = NgramCounter(orders, vocabulary=vocabulary).add(candidates)
    p = NgramCounter(orders, vocabulary=vocabulary).add(references)
    return compare(q, p)


def compare(q: NgramCounter, p: NgramCounter) -> dict[int, CrNrr]:
    """Results per order of two counted corpora; n-grams on disk are read range by range, never all at once."""
    runs_p = p.in_vocabulary(q)
    q.widen()
    out = {}
    for order, held in q.counts.items():
        theirs = p.counts[order]
        qq = pp = qp = distinct_q = distinct_p = 0
        for own, other in partitions([held.runs, runs_p[order]]):
            qq += _product(own.counts, own.counts, held.total, held.total)
            pp += _product(other.counts, other.counts, theirs.total, theirs.total)
            qp += _shared(own, other, held.total, theirs.total)
            distinct_q += len(own.counts)
            distinct_p += len(other.counts)
        sums = Sums(held.total, theirs.total, qq, pp, qp, held.within, held.squares, distinct_q, distinct_p)
        out[order] = from_sums(order, sums)
    return out


def from_sums(n: int, sums: Sums) -> CrNrr:
    """The results of one order from its integers."""
    tq, tp = sums.total_q, sums.total_p
    empty = [side for side, total in (("candidates", tq), ("references", tp)) if total == 0]
    if empty:
        return CrNrr(n, sums=sums, note=f"the {' and the '.join(empty)} hold no {n}-gram")
    qq, pp, qp = sums.qq, sums.pp, sums.qp
    unbiased = _unbiased(qq, tq, pp, tp, qp)
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
        note=""
        if unbiased is not None and pairs
        else "one n-gram, or one sentence that has any: too few for every form",
    )


def _negative(numerator: int, denominator: int) -> float:
    return -numerator / denominator if numerator else 0.0


def _unbiased(qq: int, tq: int, pp: int, tp: int, qp: int) -> float | None:
    """Sum of the unbiased squares of both sides less twice CR, over the common denominator."""
    if tq < 2 or tp < 2:
        return None
    q, p = tq * (tq - 1), tp * (tp - 1)
    return ((qq - tq) * p * tq * tp + (pp - tp) * q * tq * tp - 2 * qp * q * p) / (q * p * tq * tp)


def _product(a: np.ndarray, b: np.ndarray, total_a: int, total_b: int) -> int:
    """Sum of a * b, exact: in 64 bits where the totals show that it fits, else in integers of any size."""
    if total_a * total_b < 1 << 62:
        return int(np.dot(a, b))
    return int(np.dot(a.astype(object), b.astype(object)))


def _shared(own: NgramRun, other: NgramRun, total_own: int, total_other: int) -> int:
    """Sum over shared n-grams of the product of their counts."""
    if not len(own.counts) or not len(other.counts):
        return 0
    if len(own.keys) == 1:
        at = np.minimum(np.searchsorted(other.keys[0], own.keys[0]), len(other.counts) - 1)
        same = other.keys[0][at] == own.keys[0]
        return _product(own.counts[same], other.counts[at[same]], total_own, total_other)
    which = [NgramRun(run.keys, np.full(len(run.counts), side)) for side, run in ((1, own), (2, other))]
    sides = merged(
        which
    ).counts  # 1, 2, or 3 where both have it; in each run the n-grams are distinct and in this order
    in_own, in_other = sides[sides != 2] == 3, sides[sides != 1] == 3
    return _product(own.counts[in_own], other.counts[in_other], total_own, total_other)
