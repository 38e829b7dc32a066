"""Agreement of one metric with people on rated captions: correlations of all rows,
within items and within systems, and the detection of labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from harness.judgments.judgment_models import LABEL_STATISTICS
from harness.judgments.metric_scores import (
    Agreement,
    ItemStatistic,
    MetricScores,
    count_unequal,
    mean_of,
)
from harness.judgments.rows import ALL, JudgmentRows, RatedRows
from harness.judgments.system_agreement import system_names, system_positions
from harness.stats.weighted_correlation import (
    Detection,
    Kendall,
    Pearson,
    Spearman,
    within_groups,
)

CORRELATIONS: dict[
    str, Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]
] = {
    "kendall_b": lambda x, y: Kendall(x, y, "b"),
    "kendall_c": lambda x, y: Kendall(x, y, "c"),
    "spearman": Spearman,
    "pearson": Pearson,
}
"""Statistic -> its correlation of two columns under row weights."""
LINEAR = ("pearson",)
"""Statistics of the scores themselves; those of ranks take scores that a metric does
not tell apart as ties.
"""


def agree_on_ratings(
    rows: JudgmentRows, metric: MetricScores, statistic: str, group: str
) -> Agreement:
    """Return the agreement on the rated captions of a group, the mean over draws of
    references.
    """
    rated = rows.rated
    in_group = np.ones(len(rated.caption), dtype=bool)
    if group != ALL:
        in_group = rated.groups == group
    unequal = np.zeros(len(rated.caption), dtype=bool)
    if statistic == "kendall_within":
        # Captions of one item are compared, which sets of different sizes cannot be.
        unequal = in_group & _in_unequal_items(metric, rated, rows.items)

    of_draws: list[Agreement] = []
    all_scores = metric.scores if statistic in LINEAR else metric.settled
    for draw in range(all_scores.shape[1]):
        scores = all_scores[rated.caption, draw]
        usable = in_group & ~np.isnan(scores) & ~unequal
        of_draw = _one_draw(statistic, scores[usable], rows, usable)
        counts = rows.counts(rated.caption[usable], rated.ratings[usable])
        details = {**counts, **of_draw.details, **count_unequal(unequal)}
        skipped = int((in_group & ~usable).sum())
        of_draws.append(replace(of_draw, skipped=skipped, details=details))
    return replace(of_draws[0], reduce=mean_of([draw.reduce for draw in of_draws]))


def _in_unequal_items(metric: MetricScores, rated: RatedRows, items: int) -> np.ndarray:
    """Return the mask of the rated rows (n,) of items whose captions have sets of
    several sizes.
    """
    # Every caption is compared with the first one of its item.
    _, first, item = np.unique(rated.item, return_index=True, return_inverse=True)
    unequal = metric.sizes_differ(rated.caption, rated.caption[first[item]])
    return (np.bincount(rated.item, unequal, minlength=items) > 0)[rated.item]


def _one_draw(
    statistic: str, scores: np.ndarray, rows: JudgmentRows, usable: np.ndarray
) -> Agreement:
    """Return the agreement of the scores (u,) of the rows that ``usable`` selects of
    all (n,).
    """
    human = rows.rated.human[usable]
    item = rows.rated.item[usable]
    grouping = rows.spec.grouping_of(statistic)
    if grouping == "item":
        of_items = correlate_groups(statistic, scores, human, item, rows.items)
        return _within(of_items, len(scores))
    if grouping == "system":
        system = positions_in_grouping(rows, statistic)[0][usable]
        reduce = _within_systems(statistic, scores, human, item, system)
        return Agreement(reduce, len(scores))
    of_rows = agree_by_rows(rows, statistic, scores, human)
    return Agreement(lambda weights: of_rows(weights[:, item]), len(scores))


def agree_by_rows(
    rows: JudgmentRows, statistic: str, scores: np.ndarray, human: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a correlation, or the detection of labels, of scores and judgments (n,) as
    a map from row weights (W, n) to values (W,).
    """
    if len(scores) < 2:
        return lambda weights: np.full(len(weights), np.nan)
    if statistic not in LABEL_STATISTICS:
        return CORRELATIONS[statistic](scores, human)
    label = human == human.max()
    if rows.spec.judgments.higher_is_better:
        return Detection(scores, label, statistic)
    # A true label is a bad caption, which a low score detects.
    return Detection(-scores, ~label, statistic)


def positions_in_grouping(rows: JudgmentRows, statistic: str) -> tuple[np.ndarray, int]:
    """Return the item or system of each rated row, shape (n,), and their number, for a
    statistic with a grouping.
    """
    if rows.spec.grouping_of(statistic) == "item":
        return rows.rated.item, rows.items
    names = system_names(rows)
    return system_positions(rows, names), len(names)


def correlate_groups(
    statistic: str,
    scores: np.ndarray,
    human: np.ndarray,
    group: np.ndarray,
    groups: int,
) -> np.ndarray:
    """Return the correlation of the rows of each group, shape (groups,).

    NaN where the judgments do not differ, 0 where they do and the scores do not.

    Parameters
    ----------
    statistic : str
        A correlation, or ``kendall_within`` for tau-b.
    scores, human : ndarray
        Scores of a metric and judgments, shape (n,).
    group : ndarray
        Group of each row, integers in [0, groups), shape (n,).
    groups : int
        Number of groups.
    """
    if statistic in ("kendall_b", "kendall_within"):
        return within_groups(scores, human, group, groups)

    out = np.full(groups, np.nan)
    order = np.argsort(group, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        if len(members) and np.ptp(human[members]):
            of_rows = CORRELATIONS[statistic](scores[members], human[members])
            value = of_rows(np.ones((1, len(members))))[0]
            out[group[members[0]]] = np.nan_to_num(value)
    return out


def _within_systems(
    statistic: str,
    scores: np.ndarray,
    human: np.ndarray,
    item: np.ndarray,
    system: np.ndarray,
) -> ItemStatistic:
    """Return the mean over systems of a correlation, of rows (n,); a resample leaves
    out systems without a coefficient.
    """
    members = [np.flatnonzero(system == k) for k in np.unique(system)]
    members = [rows for rows in members if np.ptp(human[rows])]
    correlations = [
        CORRELATIONS[statistic](scores[rows], human[rows]) for rows in members
    ]

    def reduce(weights: np.ndarray) -> np.ndarray:
        values: list[np.ndarray] = []
        for rows, of_rows in zip(members, correlations):
            # Constant scores agree with nothing: 0, not undefined.
            if np.ptp(scores[rows]):
                values.append(of_rows(weights[:, item[rows]]))
            else:
                values.append(np.zeros(len(weights)))
        with np.errstate(invalid="ignore"):
            return np.nansum(values, axis=0) / np.sum(~np.isnan(values), axis=0)

    return reduce if members else lambda weights: np.full(len(weights), np.nan)


def _within(coefficients: np.ndarray, n: int) -> Agreement:
    """Return the mean over items of coefficients (items,), NaN where undefined."""
    defined = ~np.isnan(coefficients)
    sums = np.where(defined, coefficients, 0.0)
    counts = defined.astype(np.float64)

    def reduce(weights: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights @ sums) / (weights @ counts)

    return Agreement(reduce, n, details={"items": int(defined.sum())})
