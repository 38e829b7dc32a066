"""Jackknife intervals of the pooled CR, NRR and CND.

These are quadratic in the counts. A bootstrap repeats examples, hence n-grams: its samples have another mean than the value and
are spread too widely. Leaving one example out repeats nothing. The jackknife variance is on average not too small (Efron & Stein 1981); it
is too large for candidates that hardly differ from the references. The interval is that of the expected value for corpora of
this size: it does not remove the bias of a plug-in form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.plugins.crnrr.resampling import Grams, count_matrix, per_unit
from harness.stats import jackknife

NOTE = "jackknife; for the expected value of corpora of this size, with the bias of the form"
"""Note of the intervals."""


@dataclass(frozen=True, eq=False)
class _Side:
    """Counts of one side: candidates or references."""

    counts: Any
    """Sparse matrix of n-gram counts, shape (B, G)."""
    totals: np.ndarray
    """Number of n-gram tokens of each example, shape (B,)."""
    pooled: np.ndarray
    """Counts of all examples, shape (G,)."""

    def without_one(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of tokens and the sum of squared counts without each example, both (B,)."""
        squares = self.pooled @ self.pooled - 2 * (self.counts @ self.pooled) + self.counts.power(2).sum(axis=1)
        return self.totals.sum() - self.totals, squares


def interval(q: Grams, p: Grams, units: int, field: str, value: float) -> tuple[float, float] | None:
    """Return the 95 % interval of one result of the pooled examples.

    Parameters
    ----------
    q, p : Grams
        n-gram tokens of candidates and references.
    units : int
        Number of examples B.
    field : str
        Field of :class:`~harness.plugins.crnrr.ngrams.CrNrr`.
    value : float
        The value of the field.

    Returns
    -------
    tuple or None
        (low, high), which contains the value; None when the results without one example do not differ or are undefined.
    """
    size = 1 + int(max(q.gram.max(initial=-1), p.gram.max(initial=-1)))
    sides = [_side(grams, size, units) for grams in (q, p)]
    with np.errstate(divide="ignore", invalid="ignore"):
        each = _without_one(sides[0], sides[1], per_unit(q, units), field)
    return jackknife.interval(value, each)


def _side(grams: Grams, size: int, units: int) -> _Side:
    counts = count_matrix(grams, size, units).T.tocsr()
    counts.sum_duplicates()
    totals = np.bincount(grams.unit, minlength=units).astype(np.float64)
    return _Side(counts, totals, np.bincount(grams.gram, minlength=size).astype(np.float64))


def _without_one(q: _Side, p: _Side, tokens: tuple[np.ndarray, np.ndarray, np.ndarray], field: str) -> np.ndarray:
    """Return the result without each example, shape (B,)."""
    (tq, qq), (tp, pp) = q.without_one(), p.without_one()
    shared = q.counts.multiply(p.counts).sum(axis=1)
    qp = q.pooled @ p.pooled - q.counts @ p.pooled - p.counts @ q.pooled + shared
    cr = qp / (tq * tp)
    if field == "cr":
        return cr
    if field == "nrr_cross_sentence":
        _, within, squares = tokens
        return -(qq - (within.sum() - within)) / (tq**2 - (squares.sum() - squares))
    if field.endswith("unbiased"):
        nrr_q, nrr_p = -(qq - tq) / (tq * (tq - 1)), -(pp - tp) / (tp * (tp - 1))
    else:
        nrr_q, nrr_p = -qq / tq**2, -pp / tp**2
    return nrr_q if field.startswith("nrr") else -nrr_q - nrr_p - 2 * cr
