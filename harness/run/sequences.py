"""Confidence sequences of metrics along a random order of the examples: of the
difference of two systems, or of one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from harness.contracts import MeanMetric, Metric, SumMetric
from harness.errors import HarnessError
from harness.stats.anytime import (
    LEVEL,
    Look,
    asymptotic_looks,
    betting_looks,
    shift_look,
)
from harness.stats.seeds import derive


def verify_addends(metric: MeanMetric, rows: np.ndarray) -> np.ndarray | None:
    """Return the addends (B, k) of statistics (B, d); None where they do not give the
    reported number, as in a subclass with a reduction of its own.
    """
    addends = np.asarray(metric.summands(rows), dtype=np.float64)
    try:
        expected = float(metric.reduce(rows))
    except HarnessError:  # not fitted: the reduction reads the texts
        return None
    value = float(metric.of_sums(addends.sum(axis=0, keepdims=True))[0])
    is_equal = np.isclose(value, expected, rtol=1e-9, atol=0, equal_nan=True)
    return addends if is_equal else None


def spread_addends(
    metric: MeanMetric, rows: np.ndarray, defined: np.ndarray
) -> np.ndarray | None:
    """Return the addends (B, k) of statistics (B, d), zeros outside of the mask
    ``defined`` (B,); None as :func:`verify_addends`.
    """
    addends = verify_addends(metric, rows[defined])
    if addends is None:
        return None
    spread = np.zeros((len(defined), addends.shape[1]))
    spread[defined] = addends
    return spread


def mean_bounds(metric: Metric) -> tuple[float, float] | None:
    """Return the bounds of the score of an example that a metric declares, where its
    number is the mean of them; None otherwise.
    """
    is_mean = isinstance(metric, MeanMetric) and not isinstance(metric, SumMetric)
    return finite_bounds(metric) if is_mean else None


def finite_bounds(metric: Metric) -> tuple[float, float] | None:
    """Return the bounds that a metric declares for its numbers,
    where both are finite; None otherwise.
    """
    bounds = metric.spec.bounds
    return bounds if bounds is not None and bool(np.isfinite(bounds).all()) else None


def random_order(names: Sequence[str], seed: int) -> np.ndarray:
    """Return the positions of units in a random order that depends on their names and
    the seed alone, shape (U,).

    The units of a subset have the order that they have within the whole, so that more
    examples continue a sequence.

    >>> names = ["a", "b", "c", "d"]
    >>> ordered = [names[k] for k in random_order(names, 0)]
    >>> [names[k] for k in random_order(names[:3], 0)] == [
    ...     name for name in ordered if name != "d"
    ... ]
    True
    """

    def key(position: int) -> tuple[int, int]:
        return derive(seed, "order", names[position]), position

    return np.array(sorted(range(len(names)), key=key), dtype=np.int64)


def metric_looks(
    metric: Metric,
    a: np.ndarray,
    b: np.ndarray | None,
    sizes: np.ndarray,
    looks: Sequence[int],
    *,
    level: float = LEVEL,
    population: int | None = None,
    largest: float | None = None,
    ends: bool = True,
    unit: str = "examples",
) -> list[Look]:
    """Return the confidence sequence of a metric: betting for means within known
    bounds, asymptotic for the others.

    The asymptotic sequence of a number that is no mean uses its bounds too, for what
    has not occurred yet.

    Parameters
    ----------
    metric : Metric
        A metric whose number is a function of sums over examples.
    a, b : ndarray
        Addends of two systems, summed within each unit, in the order of the looks,
        shape (U, k); b None: the number of one system.
    sizes : ndarray
        Number of examples of each unit, shape (U,).
    looks, level, population, largest, ends
        As in :func:`harness.stats.anytime.betting_looks`.
    unit : str
        What a unit is, as a plural noun, for the looks that have no interval yet.

    Raises
    ------
    HarnessError
        A statement on the mean of a data set about a number without known bounds.
    """
    # A mean of scores within known bounds is bet on.
    bounds = mean_bounds(metric)
    bet = partial(
        betting_looks,
        looks=looks,
        level=level,
        population=population,
        largest=largest,
        ends=ends,
    )
    if bounds is not None and b is not None:
        return bet((a - b)[:, 0], sizes, bounds[1] - bounds[0])
    if bounds is not None:  # one mean: the difference to the middle of its range
        middle = (bounds[0] + bounds[1]) / 2
        path = bet(a[:, 0] - middle * sizes, sizes, bounds[1] - middle)
        return [shift_look(look, middle) for look in path]
    if population is not None:
        raise HarnessError(
            f"'{metric.spec.name}' has no statement on the mean of a data set: "
            "its scores have no known bounds"
        )

    of_sums = cast(MeanMetric, metric).of_sums
    limits = finite_bounds(metric)
    if limits is None:
        return asymptotic_looks(of_sums, a, b, looks, level=level, unit=unit)
    # A unit of many examples moves the number by as many shares.
    width = limits[1] - limits[0]
    mean_sizes = np.cumsum(sizes) / np.arange(1, len(sizes) + 1)
    largest_sizes = np.maximum.accumulate(sizes) if largest is None else largest
    reach = width * largest_sizes / mean_sizes
    path = asymptotic_looks(of_sums, a, b, looks, level=level, reach=reach, unit=unit)

    lowest, highest = limits if b is None else (-width, width)
    return _cut_looks(path, lowest, highest)


def _cut_looks(path: Sequence[Look], lowest: float, highest: float) -> list[Look]:
    """Return looks whose intervals end at the bounds of the number, those that wait for
    examples as they are.
    """
    cut_path: list[Look] = []
    for look in path:
        if not look.waits:
            low = max(look.low, lowest)
            high = min(look.high, highest)
            look = replace(look, low=low, high=high)
        cut_path.append(look)
    return cut_path
