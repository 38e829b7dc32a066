"""Agreement of one metric with people: every statistic of a task as a function of item
weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from harness.contracts import Values
from harness.judgments.metric_scores import (
    COUNTS,
    Agreement,
    ItemStatistic,
    MetricScores,
    count_unequal,
)
from harness.judgments.rows import ALL, MEAN, JudgmentRows, RatedRows
from harness.judgments.system_agreement import (
    system_agreement,
    system_names,
    system_positions,
)
from harness.spec.judgment_models import (
    LABEL_STATISTICS,
    PAIR_STATISTICS,
    SYSTEM_STATISTICS,
)
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

LINEAR = ("pearson",)
"""Statistics of the scores themselves; those of ranks take scores that a metric does
not tell apart as ties.
"""


def agreements(
    rows: JudgmentRows, metric: MetricScores, statistic: str
) -> dict[str, Agreement]:
    """Return group -> agreement of a metric with people by one statistic."""
    if statistic in SYSTEM_STATISTICS:
        return {ALL: system_agreement(rows, metric, statistic)}
    if statistic in PAIR_STATISTICS:
        credit = PairCredit.of(rows, metric)
        agreement_of_group = {
            name: credit.agreement(credit.mask(name)) for name in _single_groups(rows)
        }
    else:
        agreement_of_group = {
            name: _rate_agreement(rows, metric, statistic, name)
            for name in _single_groups(rows)
        }
    if MEAN in rows.group_names:
        mean = _mean(
            [agreement for name, agreement in agreement_of_group.items() if name != ALL]
        )
        counts = agreement_of_group[ALL].details
        agreement_of_group[MEAN] = replace(
            mean, details={name: counts[name] for name in COUNTS if name in counts}
        )
    return agreement_of_group


def _single_groups(rows: JudgmentRows) -> list[str]:
    return [name for name in rows.group_names if name != MEAN]


def _mean(group_agreements: list[Agreement]) -> Agreement:
    return Agreement(
        mean_of([agreement.reduce for agreement in group_agreements]),
        sum(agreement.n for agreement in group_agreements),
        sum(agreement.skipped for agreement in group_agreements),
    )


def mean_of(statistics: Sequence[ItemStatistic]) -> ItemStatistic:
    """Return the mean of statistics as a function of item weights."""

    def reduce(weights: np.ndarray) -> np.ndarray:
        return np.mean([statistic(weights) for statistic in statistics], axis=0)

    return reduce


# --------------------------------------------------------------------------- pairs
@dataclass(frozen=True)
class PairCredit:
    """Credit of a metric for each judged pair, the mean over draws."""

    rows: JudgmentRows
    credit: np.ndarray
    """Shape (P,), NaN for a pair that does not count."""
    unscored: np.ndarray
    """Mask of the pairs without a score, shape (P,),
    among them those of :attr:`unequal`.
    """
    unequal: np.ndarray
    """Mask of the pairs whose sets differ in a size on which the metric depends, shape
    (P,): neither is the better one.
    """
    tied: np.ndarray
    """Share of the draws in which the metric has a tie, shape (P,)."""
    details: Values

    @classmethod
    def of(cls, rows: JudgmentRows, metric: MetricScores) -> PairCredit:
        """Return the credit of a metric under the task's tie policy."""
        pairs = rows.pairs
        ties = rows.spec.ties
        difference = metric.compare_pairs(pairs.first, pairs.second)
        unequal = metric.sizes_differ(pairs.first, pairs.second)
        details: Values = {}
        epsilon = 0.0
        if ties == "epsilon":
            epsilon = calibrated_epsilon(
                difference.ravel(), np.repeat(pairs.human, difference.shape[1])
            )
            details["epsilon"] = epsilon
        credit = correctness(difference, pairs.human, ties, epsilon)
        with np.errstate(invalid="ignore"):
            mean = np.nansum(credit, axis=1) / (~np.isnan(credit)).sum(axis=1)
        unscored = np.asarray(np.isnan(difference).any(axis=1))
        tied = (np.abs(difference) <= epsilon).mean(axis=1)
        return cls(
            rows, np.where(unscored, np.nan, mean), unscored, unequal, tied, details
        )

    def mask(self, group: str) -> np.ndarray:
        """Return the mask of the pairs of a group, bool, shape (P,)."""
        return (
            np.ones(len(self.credit), dtype=bool)
            if group == ALL
            else self.rows.pairs.groups == group
        )

    def agreement(self, mask: np.ndarray) -> Agreement:
        """Return the accuracy over the pairs of a mask."""
        counted = mask & ~np.isnan(self.credit)
        pairs = self.rows.pairs
        items = pairs.item[counted]
        sums = np.bincount(items, self.credit[counted], minlength=self.rows.items)
        counts = np.bincount(items, minlength=self.rows.items)

        def reduce(weights: np.ndarray) -> np.ndarray:
            with np.errstate(invalid="ignore", divide="ignore"):
                return (weights @ sums) / (weights @ counts)

        judged = self.tied[mask & ~self.unscored & (pairs.human != 0)]
        details = {
            **self.details,
            "ties": float(judged.mean()) if len(judged) else 0.0,
            **self.rows.counts(
                np.concatenate([pairs.first[counted], pairs.second[counted]])
            ),
            **count_unequal(mask & self.unequal),
        }
        return Agreement(
            reduce, int(counted.sum()), int((mask & self.unscored).sum()), details
        )


# --------------------------------------------------------------------------- rated captions
def _rate_agreement(
    rows: JudgmentRows, metric: MetricScores, statistic: str, group: str
) -> Agreement:
    rated = rows.rated
    in_group = (
        np.ones(len(rated.caption), dtype=bool)
        if group == ALL
        else rated.groups == group
    )
    unequal = (
        in_group
        & (statistic == "kendall_within")
        & _in_unequal_items(metric, rated, rows.items)
    )
    of_draws: list[Agreement] = []
    all_scores = metric.scores if statistic in LINEAR else metric.settled
    for draw in range(all_scores.shape[1]):
        scores = all_scores[rated.caption, draw]
        usable = in_group & ~np.isnan(scores) & ~unequal
        of_draw = _one_draw(statistic, scores[usable], rows, usable)
        counts = rows.counts(rated.caption[usable], rated.ratings[usable])
        details = {**counts, **of_draw.details, **count_unequal(unequal)}
        of_draws.append(
            replace(of_draw, skipped=int((in_group & ~usable).sum()), details=details)
        )
    return replace(of_draws[0], reduce=mean_of([draw.reduce for draw in of_draws]))


def _in_unequal_items(metric: MetricScores, rated: RatedRows, items: int) -> np.ndarray:
    """Return the mask of the rated rows (n,) of items whose captions have sets of
    several sizes.
    """
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
        return _within(
            correlate_groups(statistic, scores, human, item, rows.items), len(scores)
        )
    if grouping == "system":
        return Agreement(
            _within_systems(
                statistic,
                scores,
                human,
                item,
                positions_in_grouping(rows, statistic)[0][usable],
            ),
            len(scores),
        )
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
    # a true label is a bad caption, which a low score detects
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
            value = CORRELATIONS[statistic](scores[members], human[members])(
                np.ones((1, len(members)))
            )[0]
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
    members = [
        rows
        for k in np.unique(system)
        if np.ptp(human[rows := np.flatnonzero(system == k)])
    ]
    correlations = [
        CORRELATIONS[statistic](scores[rows], human[rows]) for rows in members
    ]

    def reduce(weights: np.ndarray) -> np.ndarray:
        values = [
            of_rows(weights[:, item[rows]])
            if np.ptp(scores[rows])
            else np.zeros(len(weights))
            for rows, of_rows in zip(members, correlations)
        ]
        with np.errstate(invalid="ignore"):
            return np.nansum(values, axis=0) / np.sum(~np.isnan(values), axis=0)

    return reduce if members else lambda weights: np.full(len(weights), np.nan)


def _within(coefficients: np.ndarray, n: int) -> Agreement:
    defined = ~np.isnan(coefficients)
    sums = np.where(defined, coefficients, 0.0)
    counts = defined.astype(np.float64)

    def reduce(weights: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights @ sums) / (weights @ counts)

    return Agreement(reduce, n, details={"items": int(defined.sum())})


TiePolicy = Literal["half", "wrong", "skip", "epsilon"]


def correctness(
    difference: np.ndarray,
    preference: np.ndarray,
    ties: TiePolicy = "half",
    epsilon: float = 0.0,
) -> np.ndarray:
    """Return the credit of a metric for each judged pair, same shape as ``difference``;
    NaN for a pair that does not count.

    Parameters
    ----------
    difference : ndarray
        Score of the first caption minus score of the second, higher is better, shape
        (P,) or (P, D).
    preference : ndarray
        Human preference, shape (P,): positive for the first caption, negative for the
        second, 0 for a tie.
    ties : {"half", "wrong", "skip", "epsilon"}
        Credit of a tie of the metric: 0.5, 0, or none (the pair does not count). Pairs
        with a human tie do not count, except with ``epsilon``: differences up to
        ``epsilon`` are ties, and a tie is correct where people tie too.
    epsilon : float
        Largest difference that is a tie, see :func:`calibrated_epsilon`.

    References
    ----------
    Deutsch, Foster and Freitag, "Ties Matter" (EMNLP 2023): pairwise accuracy with tie
    calibration.
    """
    human = preference if difference.ndim == 1 else preference[:, None]
    agree = np.where(difference * human > 0, 1.0, 0.0)
    if ties == "epsilon":
        credit = np.where(
            np.abs(difference) <= epsilon, np.where(human == 0, 1.0, 0.0), agree
        )
    else:
        credit = np.where(
            difference == 0, {"half": 0.5, "wrong": 0.0, "skip": np.nan}[ties], agree
        )
        credit = np.where(human == 0, np.nan, credit)
    return np.where(np.isnan(difference), np.nan, credit)


def calibrated_epsilon(difference: np.ndarray, preference: np.ndarray) -> float:
    """Return the smallest tie threshold with the highest accuracy of ``ties="epsilon"``
    on the pairs.

    Parameters
    ----------
    difference, preference : ndarray
        As for :func:`correctness`, shape (P,); pairs with NaN are left out.
    """
    usable = ~np.isnan(difference)
    size = np.abs(difference[usable])
    human = preference[usable]
    agree = difference[usable] * human > 0
    order = np.argsort(size, kind="stable")
    size = size[order]
    tie = (human == 0)[order]
    agree = agree[order]
    if len(size) == 0:
        return 0.0
    # Correct pairs when the first k + 1 differences are ties: human ties among them,
    # and agreements beyond them.
    correct = np.cumsum(tie) + (agree.sum() - np.cumsum(agree))
    last = np.concatenate([size[1:] != size[:-1], [True]])
    best = int(np.argmax(np.where(last, correct, -1)))
    return float(size[best]) if correct[best] > agree.sum() else 0.0
