"""Correlation of one pair of columns by the functions for tables of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.errors import InputError
from harness.stats.correlation import correlate_columns, problem_of


@dataclass(frozen=True, slots=True)
class Correlation:
    """Correlation coefficients of two columns of n numbers; None where undefined,
    with the reason in ``note``.
    """

    n: int
    r: float | None
    r2: float | None
    p: float | None
    """Two-sided p-value of r = 0 for bivariate normal columns."""
    spearman: float | None
    kendall: float | None
    note: str = ""


def correlate(
    x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray
) -> Correlation:
    """Return the correlation of two columns of shape (n,).

    All coefficients of a constant column are None. A column with an infinite value has
    no r, but rank coefficients. ``note`` gives the reason. Raises :class:`InputError`
    for NaN, fewer than two rows, or columns of different length.

    >>> correlate([1, 2, 3, 4], [1, 3, 2, 4]).r2
    0.6400000000000001
    """
    columns = [np.asarray(values, dtype=np.float64) for values in (x, y)]
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
        raise InputError(
            f"columns of shape {columns[0].shape} and {columns[1].shape} cannot be "
            "correlated"
        )
    table = correlate_columns(columns[0][:, None], columns[1][:, None])
    r, p, spearman, kendall = (
        float(a[0, 0]) for a in (table.r, table.p, table.spearman, table.kendall)
    )
    notes = [
        f"{name} {problem}"
        for name, column in zip("xy", columns)
        if (problem := problem_of(column))
    ]
    return Correlation(
        table.n,
        _or_none(r),
        _or_none(r * r),
        _or_none(p),
        _or_none(spearman),
        _or_none(kendall),
        "; ".join(notes),
    )


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
