"""Agreement of one metric with people: every statistic of a task as a function of item weights.

On systems, the values come from the judged captions, and the human scores from these or from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from harness.contracts import Values
from harness.errors import InputError, did_you_mean
from harness.judgments.rows import ALL, MEAN, JudgmentRows, PairRows, RatedRows
from harness.spec.judgment_models import LABEL_STATISTICS, PAIR_STATISTICS, SYSTEM_STATISTICS
from harness.stats.correlation import SoftPairwiseAccuracy, across_systems
from harness.stats.weighted_correlation import Detection, Kendall, Pearson, Spearman, within_groups

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
    """Mask of the pairs without a score, shape (P,), among them those of :attr:`unequal`."""
    unequal: np.ndarray
    """Mask of the pairs whose sets differ in a size on which the metric depends, shape (P,): neither is the better one."""
    tied: np.ndarray
    """Share of the draws in which the metric has a tie, shape (P,)."""
    items: int
    details: Values

    @classmethod
    def of(cls, rows: JudgmentRows, metric: MetricScores) -> PairCredit:
        """Return the credit of a metric under the task's tie policy."""
        pairs, ties = rows.pairs, rows.spec.ties
        difference = differences(metric.scores[pairs.first], metric.scores[pairs.second])
        unequal = metric.sizes_differ(pairs.first, pairs.second)
        difference[unequal] = np.nan
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
        return cls(pairs, np.where(unscored, np.nan, mean), unscored, unequal, tied, rows.items, details)

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
        details = {**self.details, "ties": float(judged.mean()) if len(judged) else 0.0, **_count_unequal(mask & self.unequal)}
        return Agreement(reduce, int(counted.sum()), int((mask & self.unscored).sum()), details)


# --------------------------------------------------------------------------- rated captions
def _rate_agreement(rows: JudgmentRows, metric: MetricScores, statistic: str, group: str) -> Agreement:
    rated = rows.rated
    in_group = np.ones(len(rated.caption), dtype=bool) if group == ALL else rated.groups == group
    unequal = in_group & (statistic == "kendall_within") & _in_unequal_items(metric, rated, rows.items)
    of_draws: list[Agreement] = []
    for draw in range(metric.scores.shape[1]):
        scores = metric.scores[rated.caption, draw]
        usable = in_group & ~np.isnan(scores) & ~unequal
        of_draw = _one_draw(statistic, scores[usable], rated.human[usable], rated.item[usable], rows)
        details = {**of_draw.details, **_count_unequal(unequal)}
        of_draws.append(replace(of_draw, skipped=int((in_group & ~usable).sum()), details=details))
    return of_draws[0] if len(of_draws) == 1 else replace(of_draws[0], reduce=_mean_of([draw.reduce for draw in of_draws]))


def _in_unequal_items(metric: MetricScores, rated: RatedRows, items: int) -> np.ndarray:
    """Return the mask of the rated rows (n,) of items whose captions have sets of several sizes."""
    _, first, item = np.unique(rated.item, return_index=True, return_inverse=True)
    unequal = metric.sizes_differ(rated.caption, rated.caption[first[item]])
    return (np.bincount(rated.item, unequal, minlength=items) > 0)[rated.item]


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


def system_names(rows: JudgmentRows) -> list[str]:
    """Return the systems of the rated captions; raise :class:`InputError` for fewer than two."""
    names = list(dict.fromkeys(caption.system for caption in rows.judgments.captions))
    if len(names) < 2 or "" in names:
        raise InputError(
            f"statistics of systems need captions of at least two systems; found {', '.join(filter(None, names)) or 'none'} "
            "(name the column with judgments.columns.system)",
            rows.judgments.source,
        )
    return names


def system_positions(rows: JudgmentRows, names: list[str]) -> np.ndarray:
    """Return the position in ``names`` of the system of each rated row, shape (n,)."""
    positions = {name: k for k, name in enumerate(names)}
    of_caption = np.array([positions[caption.system] for caption in rows.judgments.captions])
    return of_caption[rows.rated.caption]


def system_agreement(rows: JudgmentRows, metric: MetricScores, statistic: str) -> Agreement:
    """Return the agreement of a metric with people on systems.

    A system's value is the metric's corpus number of its captions, its human score the mean of its ratings or the number of the
    file ``system_scores``. Undefined where the sets of the systems differ in a size on which the metric depends. Raises
    :class:`InputError` for fewer than two systems, or one without a human score.
    """
    names = system_names(rows)
    rated = rows.rated
    system = system_positions(rows, names)
    mean = metric.scores.mean(axis=1)[rated.caption]
    of_system = [rated.caption[system == k] for k in range(len(names))]
    if any(len({tuple(np.unique(counts[captions])) for captions in of_system}) > 1 for counts in metric.sizes.values()):
        return Agreement(lambda weights: np.full(len(weights), np.nan), 0, len(names), {UNEQUAL: len(names)})
    if statistic == "soft_pairwise_accuracy":
        cells = [_cells(values, rated.item, system, rows.items, len(names)) for values in (rated.human, mean)]
        return Agreement(SoftPairwiseAccuracy(cells[0], cells[1], seed=rows.spec.seed), len(names))
    members = [np.flatnonzero((system == k) & ~np.isnan(mean)) for k in range(len(names))]
    fixed = _human_of_systems(rows, names)

    def reduce(weights: np.ndarray) -> np.ndarray:
        values: list[np.ndarray] = []
        human: list[np.ndarray] = []
        for k, system_rows in enumerate(members):
            of_rows = weights[:, rated.item[system_rows]]
            values.append(_value(metric, rated.caption[system_rows], mean[system_rows], of_rows))
            human.append(_weighted_mean(rated.human[system_rows], of_rows) if fixed is None else np.full(len(weights), fixed[k]))
        return across_systems(np.stack(human, axis=1), np.stack(values, axis=1), statistic.removesuffix("_system"))

    return Agreement(reduce, len(names), int(np.isnan(mean).sum()))


def _value(metric: MetricScores, captions: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    if metric.system_values is not None and len(captions):
        return metric.system_values(captions, weights)
    return _weighted_mean(scores, weights)


def _weighted_mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return (weights @ values) / weights.sum(axis=1)


def _cells(values: np.ndarray, item: np.ndarray, system: np.ndarray, items: int, systems: int) -> np.ndarray:
    """Return the mean value of each system on each item, shape (systems, items), NaN where there is none."""
    cell = system * items + item
    usable = ~np.isnan(values)
    sums = np.bincount(cell[usable], values[usable], minlength=items * systems)
    counts = np.bincount(cell[usable], minlength=items * systems)
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, sums / counts, np.nan).reshape(systems, items)


def _human_of_systems(rows: JudgmentRows, names: list[str]) -> list[float] | None:
    table = rows.judgments.systems
    if not table:
        return None
    missing = next((name for name in names if name not in table), None)
    if missing is not None:
        hint = did_you_mean(missing, table)
        raise InputError(f"the system '{missing}' has no human score{hint}; scored are {', '.join(table)}", rows.judgments.source)
    sign = 1.0 if rows.spec.judgments.higher_is_better else -1.0
    return [sign * table[name] for name in names]


UNEQUAL = "unequal"
"""Detail of an agreement: number of pairs, captions or systems that are left out because their sets differ in size."""


def _count_unequal(mask: np.ndarray) -> Values:
    return {UNEQUAL: int(mask.sum())} if mask.any() else {}


ItemStatistic = Callable[[np.ndarray], np.ndarray]
"""Map from item weights (W, items) to values (W,)."""


@dataclass(frozen=True)
class Agreement:
    """One statistic of one metric in one group of judgments."""

    reduce: ItemStatistic
    n: int
    """Number of rated captions, ratings or pairs that count."""
    skipped: int = 0
    """Number of captions, ratings or pairs without a score."""
    details: Values = field(default_factory=Values)


@dataclass(frozen=True)
class MetricScores:
    """Oriented scores of a metric for the judged captions."""

    scores: np.ndarray
    """Higher is better, shape (captions, draws), NaN where undefined."""
    system_values: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    """Map from captions (k,) and their weights (W, k) to the corpus number of these captions, shape (W,), higher is better."""
    sizes: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    """Set sizes on which the metric depends: name -> number of texts of each judged caption, int, shape (captions,)."""

    def sizes_differ(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return True for pairs of captions, positions of shape (P,), whose sets differ in a size on which the metric depends."""
        differ = np.zeros(len(first), dtype=bool)
        for counts in self.sizes.values():
            differ |= counts[first] != counts[second]
        return differ


TiePolicy = Literal["half", "wrong", "skip", "epsilon"]
RELATIVE_TIE = 1e-7
"""Scores whose difference is at most this share of the larger one are tied: they differ by rounding in single precision, or by the
constants that keep quotients defined (BLEU of 3 in 6 words and of 4 in 8 words)."""


def differences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return ``first - second``, same shape, with exact zeros where the scores differ by rounding alone; NaN stays NaN."""
    difference = first - second
    return np.where(np.abs(difference) <= RELATIVE_TIE * np.maximum(np.abs(first), np.abs(second)), 0.0, difference)


def correctness(difference: np.ndarray, preference: np.ndarray, ties: TiePolicy = "half", epsilon: float = 0.0) -> np.ndarray:
    """Return the credit of a metric for each judged pair, same shape as ``difference``; NaN for a pair that does not count.

    Parameters
    ----------
    difference : ndarray
        Score of the first caption minus score of the second, higher is better, shape (P,) or (P, D).
    preference : ndarray
        Human preference, shape (P,): positive for the first caption, negative for the second, 0 for a tie.
    ties : {"half", "wrong", "skip", "epsilon"}
        Credit of a tie of the metric: 0.5, 0, or none (the pair does not count). Pairs with a human tie do not count, except with
        ``epsilon``: differences up to ``epsilon`` are ties, and a tie is correct where people tie too.
    epsilon : float
        Largest difference that is a tie, see :func:`calibrated_epsilon`.

    References
    ----------
    Deutsch, Foster and Freitag, "Ties Matter" (EMNLP 2023): pairwise accuracy with tie calibration.
    """
    human = preference if difference.ndim == 1 else preference[:, None]
    agree = np.where(difference * human > 0, 1.0, 0.0)
    if ties == "epsilon":
        credit = np.where(np.abs(difference) <= epsilon, np.where(human == 0, 1.0, 0.0), agree)
    else:
        credit = np.where(difference == 0, {"half": 0.5, "wrong": 0.0, "skip": np.nan}[ties], agree)
        credit = np.where(human == 0, np.nan, credit)
    return np.where(np.isnan(difference), np.nan, credit)


def calibrated_epsilon(difference: np.ndarray, preference: np.ndarray) -> float:
    """Return the smallest tie threshold with the highest accuracy of ``ties="epsilon"`` on the pairs.

    Parameters
    ----------
    difference, preference : ndarray
        As for :func:`correctness`, shape (P,); pairs with NaN are left out.
    """
    usable = ~np.isnan(difference)
    size, human = np.abs(difference[usable]), preference[usable]
    agree = difference[usable] * human > 0
    order = np.argsort(size, kind="stable")
    size, tie, agree = size[order], (human == 0)[order], agree[order]
    if len(size) == 0:
        return 0.0
    # Correct pairs when the first k + 1 differences are ties: human ties among them, and agreements beyond them.
    correct = np.cumsum(tie) + (agree.sum() - np.cumsum(agree))
    last = np.concatenate([size[1:] != size[:-1], [True]])
    best = int(np.argmax(np.where(last, correct, -1)))
    without = int(agree[size > 0].sum() + tie[size == 0].sum())
    return float(size[best]) if correct[best] > without else 0.0
