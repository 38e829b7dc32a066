"""Agreement of one metric with people on systems: values from the judged captions, human scores from these or from a file."""

from __future__ import annotations

import numpy as np

from harness.errors import InputError, did_you_mean
from harness.judgments.metric_scores import UNEQUAL, Agreement, MetricScores
from harness.judgments.rows import JudgmentRows
from harness.stats.correlation import SoftPairwiseAccuracy, across_systems


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
    counts = rows.counts(rated.caption[~np.isnan(mean)], rated.ratings[~np.isnan(mean)])
    of_system = [rated.caption[system == k] for k in range(len(names))]
    if any(len({tuple(np.unique(counts[captions])) for captions in of_system}) > 1 for counts in metric.sizes.values()):
        return Agreement(lambda weights: np.full(len(weights), np.nan), 0, len(names), {UNEQUAL: len(names)})
    if statistic == "soft_pairwise_accuracy":
        cells = [_cells(values, rated.item, system, rows.items, len(names)) for values in (rated.human, mean)]
        return Agreement(SoftPairwiseAccuracy(cells[0], cells[1], seed=rows.spec.seed), len(names), details=counts)
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

    return Agreement(reduce, len(names), int(np.isnan(mean).sum()), counts)


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
