"""CR, NRR and CND: quality, diversity and divergence of a corpus,
in time linear in the corpus.

With the relative frequencies Q (candidates) and P (references) of n-gram tokens, CR =
sum Q P, NRR = -sum Q^2 and CND = sum (Q - P)^2. All sums are integers, and each result
is one correctly rounded division of integers, so that CND is accurate to the last digit
for corpora of any similarity.

Source: Li et al., "On the Relation between Quality-Diversity Evaluation and
Distribution-Fitting Goal in Text Generation" (ICML 2020), sections 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class CrNrr:
    """Results of one order; None where undefined, with the reason in ``note``."""

    n: int
    """Order."""
    cr: float | None = None
    """Coverage rate, a quality in [0, 1]: higher is better;
    comparable for equal references only.
    """
    nrr: float | None = None
    """Negative repetition rate, a diversity in [-1, 0): higher is more diverse."""
    cnd: float | None = None
    """CR-NRR divergence, at least 0, and 0 only for equal n-gram distributions:
    lower is better.
    """
    nrr_unbiased: float | None = None
    """NRR under the assumption that n-gram tokens are independent draws:
    -sum c(c-1) / (T(T-1)).
    """
    cnd_unbiased: float | None = None
    """CND under the same assumption; may be negative."""
    nrr_cross_sentence: float | None = None
    """NRR over the pairs of n-gram tokens from different sentences."""
    sums: Sums | None = None
    """Integers of the results."""
    note: str = ""
    """Reason for undefined results."""


def from_sums(n: int, sums: Sums) -> CrNrr:
    """Return the results of one order from its integers."""
    tq = sums.total_q
    tp = sums.total_p
    sides = ("candidates", tq), ("references", tp)
    empty = [side for side, total in sides if total == 0]
    if empty:
        note = f"the {' and the '.join(empty)} hold no {n}-gram"
        return CrNrr(n, sums=sums, note=note)

    qq = sums.qq
    pp = sums.pp
    qp = sums.qp
    # One division of integers per value: Q and P are never rounded to frequencies,
    # whose difference would lose the digits of a CND of nearly equal corpora.
    unbiased = _estimate_cnd(qq, tq, pp, tp, qp)
    pairs = tq * tq - sums.squares
    note = ""
    if unbiased is None or not pairs:
        note = "a single n-gram or a single sentence: some forms are undefined"

    return CrNrr(
        n,
        cr=qp / (tq * tp),
        nrr=_negative(qq, tq * tq),
        cnd=(qq * tp * tp + pp * tq * tq - 2 * qp * tq * tp) / (tq * tq * tp * tp),
        nrr_unbiased=_negative(qq - tq, tq * (tq - 1)) if tq > 1 else None,
        cnd_unbiased=unbiased,
        nrr_cross_sentence=_negative(qq - sums.within, pairs) if pairs else None,
        sums=sums,
        note=note,
    )


def _negative(numerator: int, denominator: int) -> float:
    """Return ``-numerator / denominator`` without a negative zero."""
    return -numerator / denominator if numerator else 0.0


def _estimate_cnd(qq: int, tq: int, pp: int, tp: int, qp: int) -> float | None:
    """Return the unbiased CND over the common denominator;
    None for fewer than two n-gram tokens on a side.
    """
    if tq < 2 or tp < 2:
        return None
    q = tq * (tq - 1)
    p = tp * (tp - 1)
    numerator = (qq - tq) * p * tq * tp + (pp - tp) * q * tq * tp - 2 * qp * q * p
    return numerator / (q * p * tq * tp)
