"""Evidence of many sequences at once, held to that of the harness,
for :mod:`benchmarks.decide`."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from benchmarks.decide_data import Addends
from harness.run.sequences import finite_bounds, metric_looks
from harness.stats.anytime import FIRST_LOOK, FRACTIONS, LEVEL
from harness.stats.readiness import CARRIERS, count_carriers


def running_log_e(
    data: Addends, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithm of the evidence against equality after each example, and the
    z statistic, both (R, n).

    Parameters
    ----------
    data : Addends
        The metric.
    a, b : ndarray
        Addends of R runs, shape (R, n, k).
    """
    counts = np.arange(1, a.shape[1] + 1)
    if data.bound is not None:
        differences = (a - b)[..., 0]
        sides = [
            np.cumsum(
                np.log1p(np.multiply.outer(sign * differences / data.bound, FRACTIONS)),
                axis=1,
            )
            for sign in (1, -1)
        ]
        capital = np.maximum(
            *(np.logaddexp.reduce(side, axis=2) - log(len(FRACTIONS)) for side in sides)
        )
        mean = np.cumsum(differences, axis=1) / counts
        square = np.cumsum(differences**2, axis=1) / counts
        return capital - log(2), mean / np.sqrt(
            np.maximum(square - mean**2, 1e-300) / counts
        )

    sums = [np.cumsum(side, axis=1) for side in (a, b)]
    values = [
        data.metric.of_sums(side.reshape(-1, side.shape[2])).reshape(side.shape[:2])
        for side in sums
    ]

    gradient = np.concatenate(
        [_gradient(data, sums[0]), -_gradient(data, sums[1])], axis=2
    )
    columns = np.concatenate([a, b], axis=2)

    second = np.cumsum(
        np.einsum("rni,rnj->rnij", columns, columns, optimize=True), axis=1
    )
    mean = np.concatenate(sums, axis=2) / counts[:, None]

    # The variance of the value by its gradient (delta method), and the evidence of a
    # mixture of normal distributions whose scale fits the first look.
    along = np.einsum("rni,rni->rn", gradient, mean)
    variance = (
        np.einsum("rni,rnij,rnj->rn", gradient, second, gradient, optimize=True)
        / counts
        - along**2
    )
    deviation = counts * np.sqrt(np.maximum(variance, 1e-300))

    difference = np.nan_to_num(values[0] - values[1])
    rho = sqrt((-2 * log(LEVEL) + log(-2 * log(LEVEL) + 1)) / FIRST_LOOK)
    growth = counts * rho**2 + 1
    log_e = (counts * rho * difference / deviation) ** 2 / (2 * growth) - np.log(
        growth
    ) / 2

    return np.where(counts >= FIRST_LOOK, log_e, 0.0), np.where(
        counts >= FIRST_LOOK, difference / deviation * np.sqrt(counts), 0.0
    )


def _gradient(data: Addends, sums: np.ndarray) -> np.ndarray:
    """Return the gradient of the number at sums (R, n, k)."""
    gradient = np.zeros_like(sums)
    for column in range(sums.shape[2]):
        step = np.zeros_like(sums)
        step[..., column] = 1e-6 * np.maximum(np.abs(sums[..., column]), 1e-9)
        ends = [
            data.metric.of_sums(
                (sums + side * step).reshape(-1, sums.shape[2])
            ).reshape(sums.shape[:2])
            for side in (1, -1)
        ]
        gradient[..., column] = (ends[0] - ends[1]) / (2 * step[..., column])
    return np.nan_to_num(gradient)


def check_evidence(
    data: Addends, a: np.ndarray, b: np.ndarray, log_e: np.ndarray
) -> None:
    """End the script where the evidence of a run differs from the p-value of the
    harness.
    """
    (look,) = metric_looks(data.metric, a, b, np.ones(len(a)), [len(a)])
    ours = min(
        1.0, float(np.exp(-(log_e.max() if data.bound is not None else log_e[-1])))
    )
    if data.bound is None and (bounds := finite_bounds(data.metric)) is not None:
        ours = max(
            ours,
            min(
                1.0,
                2
                * float(
                    np.exp(-len(a) * abs(look.difference) / (bounds[1] - bounds[0]))
                ),
            ),
        )
    # With fewer carriers the harness takes a larger deviation.
    is_plain = (
        data.bound is not None or count_carriers(data.influences_of(a, b)) >= CARRIERS
    )
    if (
        is_plain
        and not look.waits
        and not np.isclose(look.p_value, ours, rtol=1e-3, atol=1e-9)
    ):
        raise SystemExit(
            f"{data.name}: p is {look.p_value:g} in the harness and {ours:g} here"
        )


def is_alarm(data: Addends, a: np.ndarray, b: np.ndarray, log_e: np.ndarray) -> bool:
    """Return whether the sequence of a run ever excludes 0.

    The conditions of an asymptotic sequence only ever raise its p-value: they are asked
    at the looks with enough evidence alone.
    """
    crossed = np.flatnonzero(log_e >= -log(LEVEL)) + 1
    if data.bound is not None or not len(crossed):
        return len(crossed) > 0
    sizes = np.ones(len(a))
    parts = np.array_split(crossed, -(-len(crossed) // 20))
    return any(
        metric_looks(data.metric, a, b, sizes, part.tolist())[-1].p_value <= LEVEL
        for part in parts
    )
