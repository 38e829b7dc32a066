"""Agreement of one metric with people on systems: values from the judged captions,
human scores from these or from a file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harness.contracts import Values
from harness.errors import InputError, did_you_mean
from harness.judgments.metric_scores import (
    UNEQUAL,
    Agreement,
    MetricScores,
    count_unequal,
)
from harness.judgments.rows import JudgmentRows
from harness.stats.bradley_terry import count_wins, reachable, strengths
from harness.stats.correlation import (
    SoftPairwiseAccuracy,
    across_systems,
    pairwise_differences,
)
from harness.stats.weighted_correlation import CELLS


def system_names(rows: JudgmentRows) -> list[str]:
    """Return the systems of the rated captions; raise :class:`InputError` for fewer
    than two.
    """
    names = list(dict.fromkeys(caption.system for caption in rows.judgments.captions))
    if len(names) < 2 or "" in names:
        raise InputError(
            "statistics of systems need captions of at least two systems; "
            f"found {', '.join(filter(None, names)) or 'none'} "
            "(name the column with judgments.columns.system, "
            "or system_first and system_second)",
            rows.judgments.source,
        )
    return names


def system_positions(rows: JudgmentRows, names: list[str]) -> np.ndarray:
    """Return the position in ``names`` of the system of each rated row, shape (n,)."""
    positions = {name: k for k, name in enumerate(names)}
    of_caption = np.array(
        [positions[caption.system] for caption in rows.judgments.captions]
    )
    return of_caption[rows.rated.caption]


def system_agreement(
    rows: JudgmentRows, metric: MetricScores, statistic: str
) -> Agreement:
    """Return the agreement of a metric with people on systems.

    A system's value is the metric's corpus number of its captions, its human score the
    mean of its ratings or the number of the file ``system_scores``; of judged pairs
    both are Bradley-Terry strengths. Undefined where the sets of the systems differ in
    a size on which the metric depends. Raises :class:`InputError` for fewer than two
    systems, one without a human score, and pairs that do not connect the systems.
    """
    if not rows.has_ratings:
        return _agreement_of_pairs(rows, metric, statistic)

    names = system_names(rows)
    rated = rows.rated
    system = system_positions(rows, names)
    mean = metric.scores.mean(axis=1)[rated.caption]
    scored = ~np.isnan(mean)
    counts = rows.counts(rated.caption[scored], rated.ratings[scored])
    skipped = int((~scored).sum())
    of_system = [rated.caption[system == k] for k in range(len(names))]
    if _sizes_differ(metric, of_system):
        details: Values = {UNEQUAL: len(names)}
        return Agreement(
            lambda weights: np.full(len(weights), np.nan), 0, len(names), details
        )

    if statistic == "soft_pairwise_accuracy":
        cells = [
            average_cells(values, rated.item, system, rows.items, len(names))
            for values in (rated.human, mean)
        ]
        cells = [pairwise_differences(values) for values in cells]
        accuracy = SoftPairwiseAccuracy(cells[0], cells[1], seed=rows.spec.seed)
        return Agreement(accuracy, len(names), skipped, counts)

    members = [np.flatnonzero((system == k) & scored) for k in range(len(names))]
    fixed = read_human_scores(rows, names)

    def reduce(weights: np.ndarray) -> np.ndarray:
        values: list[np.ndarray] = []
        human: list[np.ndarray] = []
        for k, system_rows in enumerate(members):
            of_rows = weights[:, rated.item[system_rows]]
            captions = rated.caption[system_rows]
            values.append(_average_system(metric, captions, mean[system_rows], of_rows))
            if fixed is None:
                human.append(_weighted_mean(rated.human[system_rows], of_rows))
            else:
                human.append(np.full(len(weights), fixed[k]))
        return across_systems(
            np.stack(human, axis=1),
            np.stack(values, axis=1),
            statistic.removesuffix("_system"),
            tolerance=metric.tolerance,
        )

    return Agreement(reduce, len(names), skipped, counts)


def _sizes_differ(metric: MetricScores, of_system: list[np.ndarray]) -> bool:
    """Return True where the captions of systems, positions (k,) each, have sets of
    different sizes on which the metric depends.
    """
    for counts in metric.sizes.values():
        sizes = {tuple(np.unique(counts[captions])) for captions in of_system}
        if len(sizes) > 1:
            return True
    return False


@dataclass(frozen=True)
class SystemPairs:
    """Judged pairs as games between systems."""

    names: list[str]
    first: np.ndarray
    """System of the first caption of each pair, shape (P,)."""
    second: np.ndarray

    @classmethod
    def of(cls, rows: JudgmentRows) -> SystemPairs:
        """Return the games of judged pairs; raise :class:`InputError` where they do not
        connect the systems.
        """
        names = system_names(rows)
        positions = {name: k for k, name in enumerate(names)}
        system = np.array(
            [positions[caption.system] for caption in rows.judgments.captions]
        )
        games = cls(names, system[rows.pairs.first], system[rows.pairs.second])

        played = np.zeros((len(names), len(names)), dtype=bool)
        played[games.first, games.second] = played[games.second, games.first] = True
        connected = reachable(played)[0]
        if not connected.all():
            apart = names[int(np.argmin(connected))]
            raise InputError(
                f"no chain of pairs connects the system {names[0]} with {apart} "
                f"({int(connected.sum())} of {len(names)} systems are "
                f"connected with {names[0]}): their strengths have no common scale",
                rows.judgments.source,
            )
        return games

    def strengths(self, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the strengths of S systems, shape (W, S), from the points (P,) or (W,
        P) of the first captions and weights (W, P).

        A tie is half a win for both, and one tie is added to each pair of systems, as
        in ``arena``: a system that wins always has a finite strength.
        """
        both = np.stack([weights * points, weights * (1 - points)])
        wins = count_wins(self.first, self.second, both, len(self.names))
        return strengths(wins)


def points_of_metric(rows: JudgmentRows, metric: MetricScores) -> np.ndarray:
    """Return the points of the first captions of judged pairs, shape (P,): 1, 0 or 1/2
    for a tie, NaN without a score.
    """
    preferences = metric.compare_pairs(rows.pairs.first, rows.pairs.second)
    return ((1 + np.sign(preferences)) / 2).mean(axis=1)


def _agreement_of_pairs(
    rows: JudgmentRows, metric: MetricScores, statistic: str
) -> Agreement:
    """Return the agreement of the strengths of systems by people and by a metric, on
    the pairs that the metric answered.
    """
    games = SystemPairs.of(rows)
    pairs = rows.pairs
    points = points_of_metric(rows, metric)
    used = ~np.isnan(points)
    human = (1 + np.sign(pairs.human)) / 2
    counts = rows.counts(np.concatenate([pairs.first[used], pairs.second[used]]))
    counts |= count_unequal(metric.sizes_differ(pairs.first, pairs.second))
    skipped = int((~used).sum())

    item = pairs.item[used]
    games = replace(games, first=games.first[used], second=games.second[used])
    size = len(games.names)
    if statistic == "soft_pairwise_accuracy":
        # A cell for each pair of systems and item; points count from the lower system.
        low = np.minimum(games.first, games.second)
        high = np.maximum(games.first, games.second)
        row = np.ravel_multi_index((low, high), (size, size))
        between = np.unique(row)
        cell = np.searchsorted(between, row)
        sign = np.where(games.first == low, 2, -2)
        of_people, of_metric = (
            average_cells(
                (values[used] - 0.5) * sign, item, cell, rows.items, len(between)
            )
            for values in (human, points)
        )
        accuracy = SoftPairwiseAccuracy(of_people, of_metric, seed=rows.spec.seed)
        return Agreement(accuracy, size, skipped, counts)

    def reduce(weights: np.ndarray) -> np.ndarray:
        step = max(1, CELLS // max(1, len(item)))
        chunks = [
            weights[start : start + step, item]
            for start in range(0, len(weights), step)
        ]
        values = [
            np.concatenate([games.strengths(values[used], chunk) for chunk in chunks])
            for values in (human, points)
        ]
        return across_systems(values[0], values[1], statistic.removesuffix("_system"))

    return Agreement(reduce, size, skipped, counts)


def notes_of_strengths(rows: JudgmentRows) -> list[str]:
    """Return a line per system that people always or never prefer."""
    if rows.has_ratings:
        return []
    games = SystemPairs.of(rows)
    points = (1 + np.sign(rows.pairs.human)) / 2
    both = np.stack([points, 1 - points])[:, None]
    wins = count_wins(games.first, games.second, both, len(games.names))[0]
    notes: list[str] = []
    for name, won, lost in zip(games.names, wins.sum(axis=1), wins.sum(axis=0)):
        if not (won and lost):
            notes.append(
                f"people {'always' if won else 'never'} prefer {name}: "
                "one tie is added to each pair of systems, and its strength is finite"
            )
    return notes


def _average_system(
    metric: MetricScores, captions: np.ndarray, scores: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    if metric.system_values is not None and len(captions):
        return metric.system_values(captions, weights)
    return _weighted_mean(scores, weights)


def _weighted_mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return (weights @ values) / weights.sum(axis=1)


def average_cells(
    values: np.ndarray, item: np.ndarray, system: np.ndarray, items: int, systems: int
) -> np.ndarray:
    """Return the mean value of each system on each item, shape (systems, items), NaN
    where there is none.
    """
    cell = system * items + item
    usable = ~np.isnan(values)
    sums = np.bincount(cell[usable], values[usable], minlength=items * systems)
    counts = np.bincount(cell[usable], minlength=items * systems)
    with np.errstate(invalid="ignore"):
        return (sums / counts).reshape(systems, items)


def read_human_scores(rows: JudgmentRows, names: list[str]) -> list[float] | None:
    """Return the human scores of systems in the file ``system_scores``, higher is
    better; None without a file.
    """
    table = rows.judgments.systems
    if not table:
        return None
    missing = next((name for name in names if name not in table), None)
    if missing is not None:
        hint = did_you_mean(missing, table)
        raise InputError(
            f"the system '{missing}' has no human score{hint}; "
            f"scored are {', '.join(table)}",
            rows.judgments.source,
        )
    sign = 1.0 if rows.spec.judgments.higher_is_better else -1.0
    return [sign * table[name] for name in names]
