"""95 % intervals of the pre-gen metrics: the images are resampled, for all metrics
under the same weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.contracts import Interval, weighted_sums
from harness.stats import bootstrap
from harness_metrics.pregen import functions
from harness_metrics.pregen.tokens import FlatTokens

EXTREME = "a bootstrap does not describe the largest or smallest value of a sample"
"""Reason for metrics whose images are aggregated by ``max`` or ``min``."""
INFINITE = "the value of an image or a caption is infinite"
"""Reason for sums and means of values that are not finite."""
ZERO = "the geometric mean is 0 as soon as one value is"
"""Reason for geometric means of values with a 0."""


def intervals(
    tokens: FlatTokens, names: Sequence[str], samples: int, seed: int
) -> dict[str, Interval]:
    """Return metric name -> interval.

    Bootstrap over images, adjusted below :data:`harness.stats.bootstrap.SMALL` images.
    Metrics whose outermost aggregation is ``max`` or ``min`` have none.

    Parameters
    ----------
    tokens : FlatTokens
        Scored tokens of I images, at least 2.
    names : sequence of str
        Names of metrics.
    samples : int
        Number of bootstrap samples.
    seed : int
        Seed of the samples.
    """
    out: dict[str, Interval] = {}
    count = len(tokens.images) - 1
    rows = functions.rows_by_name(tokens, names)
    usable: list[str] = []
    for name in names:
        reason = _reason(name, rows[name])
        out[name] = Interval(None, reason)
        if not reason:
            usable.append(name)
    if not usable:
        return out

    members = np.repeat(np.arange(count), np.diff(tokens.images))
    blocks = [
        _weigh_images(rows, usable, weights, members)
        for weights in bootstrap.weights(count, samples, seed)
    ]
    draws = np.concatenate(blocks)
    values = _weigh_images(rows, usable, np.ones((1, count)), members)[0]

    # few images: the adjusted interval needs the values without each of them
    without_one = np.zeros((0, len(usable)))
    if count < bootstrap.SMALL:
        without_one = _weigh_images(rows, usable, 1.0 - np.eye(count), members)

    for k, name in enumerate(usable):
        ends = bootstrap.interval_of_draws(
            draws[:, k], float(values[k]), without_one[:, k], count
        )
        out[name] = Interval(ends, "" if ends else bootstrap.NO_SPREAD)
    return out


def _reason(name: str, row: np.ndarray) -> str:
    """Return the reason why a metric has no interval;
    an empty text for a metric that has one.
    """
    tier4 = functions.split_name(name)[0]
    if tier4 in ("max", "min"):
        return EXTREME
    if tier4 == "geomean" and (row == 0).any():
        return ZERO

    finite = np.isfinite(row)
    # a few infinite values are far from the middle, in any resample
    few_infinite = tier4 == "median" and finite.mean() > 0.9
    return "" if finite.all() or few_infinite else INFINITE


def _weigh_images(
    rows: dict[str, np.ndarray],
    names: Sequence[str],
    weights: np.ndarray,
    members: np.ndarray,
) -> np.ndarray:
    """Return the metrics under weights (W, I) of the images, shape (W, names);
    ``members`` (C,) holds the image of each caption.
    """
    count = weights.shape[1]
    captions = np.bincount(members, minlength=count).astype(np.float64)
    out = np.empty((len(weights), len(names)))
    for columns, tier4, joined, block in _group_names(rows, names):
        if tier4 == "median":
            member_weights = weights[:, members] if joined else weights
            for k, row in zip(columns, block):
                out[:, k] = _weighted_median(row, member_weights)
            continue

        # The geometric mean is the mean of the logarithms.
        block = np.log2(block) if tier4 == "geomean" else block
        if joined:
            # Captions are joined, but images are resampled: sums of captions within an
            # image carry the weight of the image.
            starts = np.flatnonzero(np.diff(members, prepend=-1))
            block = np.add.reduceat(block, starts, axis=1)

        sums = weighted_sums(weights, block.T)
        totals = weights @ captions if joined else weights.sum(axis=1)
        if tier4 != "sum":
            sums = sums / totals[:, None]
        out[:, columns] = np.exp2(sums) if tier4 == "geomean" else sums
    return out


def _group_names(
    rows: dict[str, np.ndarray], names: Sequence[str]
) -> Iterator[tuple[list[int], str, bool, np.ndarray]]:
    """Yield the positions of names with one outermost tier, the tier, True for
    ``join``, and their values (K, members).
    """
    groups: dict[tuple[str, bool], list[int]] = {}
    for position, name in enumerate(names):
        tiers = functions.split_name(name)
        groups.setdefault((tiers[0], tiers[1] == "join"), []).append(position)
    for (tier4, joined), columns in groups.items():
        yield columns, tier4, joined, np.stack([rows[names[k]] for k in columns])


def _weighted_median(values: np.ndarray, weights: Any) -> np.ndarray:
    """Return the medians (W,) of values (M,), each repeated as often as its
    whole-numbered weight in (W, M).
    """
    order = np.argsort(values, kind="stable")
    # A value of weight w stands at w consecutive ranks; the median is found by its rank
    # among them, without repeating values.
    ends = np.cumsum(weights[:, order], axis=1)
    totals = ends[:, -1]
    middle = [
        np.argmax(ends > np.floor(rank)[:, None], axis=1)
        for rank in ((totals - 1) / 2, totals / 2)
    ]
    in_order = values[order]
    return (in_order[middle[0]] + in_order[middle[1]]) / 2
