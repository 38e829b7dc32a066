"""Agreement of one metric with people: every statistic of a task as a function of item weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.contracts import Values
from harness.judgments.metric_scores import Agreement, ItemStatistic, MetricScores
from harness.judgments.rows import ALL, MEAN, JudgmentRows, PairRows
from harness.judgments.systems import system_agreement
from harness.spec.judgment_models import LABEL_STATISTICS, PAIR_STATISTICS, SYSTEM_STATISTICS
from harness.stats.detection import Detection
from harness.stats.judged_pairs import calibrated_epsilon, correctness, differences
from harness.stats.weighted_correlation import Kendall, Pearson, Spearman, within_groups

CORRELATIONS: dict[str, Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]] = {
    "kendall_b": lambda x, y: Kendall(x, y, "b"),
    "kendall_c": lambda x, y: Kendall(x, y, "c"),
    "spearman": Spearman,
    "pearson": Pearson,
}


def agreements(rows: JudgmentRows, metric: MetricScores, statistic: str) -> dict[str, Agreement]:
    """Return group -> agreement of a metric with people by one statistic."""
    if statistic in SYSTEM_STATISTICS:
        return {ALL: system_agreement(rows, metric, statistic)}
    if statistic in PAIR_STATISTICS:
        credit = PairCredit.of(rows, metric)
        agreement_of_group = {name: credit.agreement(credit.mask(name)) for name in _single_groups(rows)}
    else:
        agreement_of_group = {name: _rate_agreement(rows, metric, statistic, name) for name in _single_groups(rows)}
    if MEAN in rows.group_names:
        agreement_of_group[MEAN] = _mean([agreement for name, agreement in agreement_of_group.items() if name != ALL])
    return agreement_of_group


def _single_groups(rows: JudgmentRows) -> list[str]:
    return [name for name in rows.group_names if name != MEAN]


def _mean(group_agreements: list[Agreement]) -> Agreement:
    return Agreement(
        _mean_of([agreement.reduce for agreement in group_agreements]),
        sum(agreement.n for agreement in group_agreements),
        sum(agreement.skipped for agreement in group_agreements),
    )


def _mean_of(statistics: Sequence[ItemStatistic]) -> ItemStatistic:
    def reduce(weights: np.ndarray) -> np.ndarray:
        return np.mean([statistic(weights) for statistic in statistics], axis=0)

    return reduce


# --------------------------------------------------------------------------- pairs
@dataclass(frozen=True)
class PairCredit:
    """Credit of a metric for each judged pair, the mean over draws."""

    pairs: PairRows
    credit: np.ndarray
    """Shape (P,), NaN for a pair that does not count."""
    unscored: np.ndarray
    """Mask of the pairs without a score, shape (P,)."""
    tied: np.ndarray
    """Share of the draws in which the metric has a tie, shape (P,)."""
    items: int
    details: Values

    @classmethod
    def of(cls, rows: JudgmentRows, metric: MetricScores) -> PairCredit:
        """Return the credit of a metric under the task's tie policy."""
        pairs, ties = rows.pairs, rows.spec.ties
        difference = differences(metric.scores[pairs.first], metric.scores[pairs.second])
        details: Values = {}
        epsilon = 0.0
        if ties == "epsilon":
            human = np.repeat(pairs.human[:, None], difference.shape[1], axis=1)
            epsilon = calibrated_epsilon(difference.ravel(), human.ravel())
            details["epsilon"] = epsilon
        credit = correctness(difference, pairs.human, ties, epsilon)
        counted = ~np.isnan(credit)
        with np.errstate(invalid="ignore"):
            mean = np.where(counted.any(axis=1), np.nansum(credit, axis=1) / counted.sum(axis=1), np.nan)
        unscored = np.asarray(np.isnan(difference).any(axis=1))
        tied = (np.abs(difference) <= epsilon).mean(axis=1)
        return cls(pairs, np.where(unscored, np.nan, mean), unscored, tied, rows.items, details)

    def mask(self, group: str) -> np.ndarray:
        """Return the mask of the pairs of a group, bool, shape (P,)."""
        return np.ones(len(self.credit), dtype=bool) if group == ALL else self.pairs.groups == group

    def agreement(self, mask: np.ndarray) -> Agreement:
        """Return the accuracy over the pairs of a mask."""
        counted = mask & ~np.isnan(self.credit)
        items = self.pairs.item[counted]
        sums = np.bincount(items, self.credit[counted], minlength=self.items)
        counts = np.bincount(items, minlength=self.items)

        def reduce(weights: np.ndarray) -> np.ndarray:
            with np.errstate(invalid="ignore", divide="ignore"):
                return (weights @ sums) / (weights @ counts)

        judged = self.tied[mask & ~self.unscored & (self.pairs.human != 0)]
        details = {**self.details, "ties": float(judged.mean()) if len(judged) else 0.0}
        return Agreement(reduce, int(counted.sum()), int((mask & self.unscored).sum()), details)


# --------------------------------------------------------------------------- rated captions
def _rate_agreement(rows: JudgmentRows, metric: MetricScores, statistic: str, group: str) -> Agreement:
    rated = rows.rated
    in_group = np.ones(len(rated.caption), dtype=bool) if group == ALL else rated.groups == group
    of_draws: list[Agreement] = []
    for draw in range(metric.scores.shape[1]):
        scores = metric.scores[rated.caption, draw]
        usable = in_group & ~np.isnan(scores)
        of_draw = _one_draw(statistic, scores[usable], rated.human[usable], rated.item[usable], rows)
        of_draws.append(replace(of_draw, skipped=int((in_group & ~usable).sum())))
    return (
        of_draws[0] if len(of_draws) == 1 else replace(of_draws[0], reduce=_mean_of([draw.reduce for draw in of_draws]))
    )


def _one_draw(statistic: str, scores: np.ndarray, human: np.ndarray, item: np.ndarray, rows: JudgmentRows) -> Agreement:
    if len(scores) < 2:
        return Agreement(lambda weights: np.full(len(weights), np.nan), len(scores))
    if statistic == "kendall_within":
        return _within(scores, human, item, rows.items)
    if statistic in LABEL_STATISTICS:
        label = human == human.max()
        if not rows.spec.judgments.higher_is_better:  # a true label is a bad caption, which a low score detects
            label, scores = ~label, -scores
        of_rows: Callable[[np.ndarray], np.ndarray] = Detection(scores, label, statistic)
    else:
        of_rows = CORRELATIONS[statistic](scores, human)
    return Agreement(lambda weights: of_rows(weights[:, item]), len(scores))


def _within(scores: np.ndarray, human: np.ndarray, item: np.ndarray, items: int) -> Agreement:
    tau = within_groups(scores, human, item, items)
    defined = ~np.isnan(tau)
    sums, counts = np.where(defined, tau, 0.0), defined.astype(np.float64)

    def reduce(weights: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights @ sums) / (weights @ counts)

    return Agreement(reduce, len(scores), details={"items": int(defined.sum())})
