"""Tests between the metrics of a task on its headline: exchange of scores, tests of
Pearson's r, Holm's correction, clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations

import numpy as np

from harness.contracts import Values
from harness.errors import InputError
from harness.judgments.judgment_models import PAIR_STATISTICS, SYSTEM_STATISTICS
from harness.judgments.metric_scores import MetricScores
from harness.judgments.pair_credit import PairCredit
from harness.judgments.rated_agreement import (
    LINEAR,
    agree_by_rows,
    correlate_groups,
    positions_in_grouping,
)
from harness.judgments.rows import ALL, MEAN, JudgmentRows
from harness.judgments.system_agreement import (
    SystemPairs,
    points_of_metric,
    read_human_scores,
    system_names,
    system_positions,
)
from harness.stats import jackknife
from harness.stats.correlation import across_systems
from harness.stats.metric_tests import (
    MOST_LEVELS,
    MOST_SKIPPED,
    KendallOfScores,
    clusters,
    permute_credit,
    permute_scores,
    williams,
)
from harness.stats.multiplicity import holm
from harness.stats.weighted_correlation import Pearson

EXCHANGES = {"item": "perm_input", "record": "perm_both", "system": "perm_sys"}
"""Unit of the exchange -> key of the test."""
JACKKNIFE = "jackknife_input"
"""Key of the test over items of tau-b, which divides by the ties of a metric: exchanged
ties make the exchange of items too liberal between metrics of which one has ties
(``python -m benchmarks.metric_tests``).
"""


@dataclass(frozen=True)
class MetricTests:
    """Tests between k metrics on one statistic and group."""

    ranks: tuple[int | None, ...]
    """Rank of each metric's significance cluster, 1 for the best; None where it is not
    ranked.
    """
    p_values: np.ndarray
    """Holm-corrected p-values of the exchange test, shape (k, k), NaN where undefined.
    """
    raw: np.ndarray
    """Uncorrected p-values, shape (k, k)."""
    exchange: str = EXCHANGES["item"]
    """Key of the test."""
    of_pearson: dict[tuple[int, int], Values] = field(
        default_factory=dict[tuple[int, int], Values]
    )
    """Pair of metrics -> ``t``, p and Holm-corrected p of Williams' test or of the
    jackknife on Pearson's r of all rows.
    """


def compare_metrics(
    rows: JudgmentRows,
    metrics: Sequence[MetricScores],
    values: Sequence[float],
    skipped: Sequence[float] | None = None,
) -> MetricTests:
    """Return the tests between metrics on the headline of a task.

    Two metrics are compared on the rows for which both have a score.

    Parameters
    ----------
    rows : JudgmentRows
        The judgments.
    metrics : sequence of MetricScores
        Oriented scores of k metrics.
    values : sequence of float
        Headline statistic of each metric, length k.
    skipped : sequence of float, optional
        Share of the rows without a score of each metric, length k.
    """
    spec = rows.spec
    k = len(metrics)
    pairs = [
        (i, j)
        for i, j in combinations(range(k), 2)
        if not np.isnan([values[i], values[j]]).any()
    ]
    draws = spec.tests.draws
    if draws:
        # The smallest p-value must reach the level after the correction for all pairs.
        draws = max(draws, int(1.1 * len(pairs) / spec.tests.level))

    compare = _comparison(rows, metrics)
    p = [compare(i, j, draws) if draws else float("nan") for i, j in pairs]
    raw = np.full((k, k), np.nan)
    corrected = np.full((k, k), np.nan)
    for (i, j), value, adjusted in zip(pairs, p, holm(p).tolist()):
        raw[i, j] = raw[j, i] = value
        corrected[i, j] = corrected[j, i] = adjusted

    ranked = [
        value if share <= MOST_SKIPPED and draws else np.nan
        for value, share in zip(values, skipped or [0.0] * k)
    ]
    ranks = clusters(ranked, corrected, spec.tests.level)
    key = JACKKNIFE if _is_jackknifed(rows) else EXCHANGES[spec.tests.unit]
    return MetricTests(
        tuple(ranks), corrected, raw, key, _of_pearson(rows, metrics, pairs)
    )


def _is_jackknifed(rows: JudgmentRows) -> bool:
    """Return True where the headline is tested by leaving out items, see
    :data:`JACKKNIFE`.
    """
    statistic = rows.spec.statistics[0]
    return (
        statistic == "kendall_b"
        and rows.spec.tests.unit == "item"
        and rows.spec.grouping_of(statistic) == "none"
    )


def _without_items(
    rows: JudgmentRows,
    statistic: str,
    group: str,
    scores: np.ndarray,
    usable: np.ndarray,
) -> np.ndarray:
    """Return the correlation of scores (n,) with people on the rows of a mask (n,),
    under each of the weights of the jackknife.
    """
    rated = rows.rated
    values = list[np.ndarray]()
    items, position = np.unique(
        rows.item_ranks[rated.item[usable]], return_inverse=True
    )
    weights = jackknife.weights_without_items(len(items))
    for name in _groups_of(rows, group):
        mask = usable & ((rated.groups == name) | (name == ALL))
        of_rows = agree_by_rows(rows, statistic, scores[mask], rated.human[mask])
        values.append(of_rows(weights[:, position[mask[usable]]]))
    return np.mean(values, axis=0)


def _groups_of(rows: JudgmentRows, group: str) -> list[str]:
    """Return the groups over which the headline of a group is the mean."""
    if group != MEAN:
        return [group]
    return [name for name in rows.group_names if name not in (ALL, MEAN)]


def _comparison(
    rows: JudgmentRows, metrics: Sequence[MetricScores]
) -> Callable[[int, int, int], float]:
    """Return the test of two metrics, given by their positions, with a number of
    draws.
    """
    statistic, _ = rows.spec.headline
    if statistic in PAIR_STATISTICS or not rows.has_ratings:
        return _comparison_on_pairs(rows, metrics)
    return _comparison_on_ratings(rows, metrics)


def _comparison_on_pairs(
    rows: JudgmentRows, metrics: Sequence[MetricScores]
) -> Callable[[int, int, int], float]:
    """Return the test of two metrics on judged pairs, by exchanges of credit or of
    points.
    """
    statistic, group = rows.spec.headline
    seed = rows.spec.seed
    unit = rows.spec.tests.unit
    if unit == "system":
        raise InputError(
            "tests: {unit: system} exchanges the rated captions of a system; "
            "judged are pairs",
            rows.judgments.source,
        )
    clusters_of_pairs = np.arange(len(rows.pairs.item))
    if unit == "item":
        clusters_of_pairs = rows.item_ranks[rows.pairs.item]
    if statistic not in PAIR_STATISTICS:
        return _comparison_of_strengths(rows, metrics, clusters_of_pairs)
    credits = [_weighted_credit(rows, metric, group) for metric in metrics]
    return lambda i, j, draws: permute_credit(
        credits[i], credits[j], clusters_of_pairs, draws=draws, seed=seed
    )


def _comparison_on_ratings(
    rows: JudgmentRows, metrics: Sequence[MetricScores]
) -> Callable[[int, int, int], float]:
    """Return the test of two metrics on rated captions."""
    statistic, group = rows.spec.headline
    seed = rows.spec.seed
    unit = rows.spec.tests.unit
    rated = rows.rated
    units = {
        "item": lambda: rows.item_ranks[rated.item],
        "record": lambda: rows.distinct[rated.caption],
        "system": lambda: system_positions(rows, system_names(rows)),
    }[unit]()
    scores_of: list[np.ndarray] = []
    for metric in metrics:
        scores = metric.scores if statistic in LINEAR else metric.settled
        scores_of.append(scores.mean(axis=1)[rated.caption])

    @cache
    def without_items(k: int, usable: bytes) -> np.ndarray:
        mask = np.frombuffer(usable, dtype=bool)
        return _without_items(rows, statistic, group, scores_of[k], mask)

    def compare(i: int, j: int, draws: int) -> float:
        a = scores_of[i]
        b = scores_of[j]
        usable = ~(np.isnan(a) | np.isnan(b))
        if usable.sum() < 2:
            return float("nan")

        # The mean of coefficients of items: they are exchanged themselves.
        if rows.spec.grouping_of(statistic) == unit == "item" and group == ALL:
            within = [
                correlate_groups(
                    statistic,
                    scores[usable],
                    rated.human[usable],
                    rated.item[usable],
                    rows.items,
                )
                for scores in (a, b)
            ]
            return permute_credit(
                within[0], within[1], rows.item_ranks, draws=draws, seed=seed
            )
        if _is_jackknifed(rows):
            key = usable.tobytes()
            return jackknife.t_test(without_items(i, key) - without_items(j, key))[1]
        of_scores = _of_scores(rows, statistic, group, usable)
        return permute_scores(
            of_scores, a[usable], b[usable], unit=units[usable], draws=draws, seed=seed
        )

    return compare


def _comparison_of_strengths(
    rows: JudgmentRows, metrics: Sequence[MetricScores], unit: np.ndarray
) -> Callable[[int, int, int], float]:
    """Return the test of two metrics on the strengths of systems: points of pairs with
    the units (P,) are exchanged.
    """
    games = SystemPairs.of(rows)
    points = [points_of_metric(rows, metric) for metric in metrics]
    human = (1 + np.sign(rows.pairs.human)) / 2
    kind = rows.spec.statistics[0].removesuffix("_system")
    if kind == "soft_pairwise_accuracy":
        # Tested by its hard form.
        kind = "accuracy"

    def compare(i: int, j: int, draws: int) -> float:
        usable = ~(np.isnan(points[i]) | np.isnan(points[j]))
        of_usable = replace(
            games, first=games.first[usable], second=games.second[usable]
        )
        ones = np.ones((1, int(usable.sum())))
        of_people = of_usable.strengths(human[usable], ones)

        def of_points(drawn: np.ndarray) -> np.ndarray:
            return across_systems(
                np.repeat(of_people, len(drawn), axis=0),
                of_usable.strengths(drawn, ones),
                kind,
            )

        seed = rows.spec.seed
        return permute_scores(
            of_points,
            points[i][usable],
            points[j][usable],
            unit=unit[usable],
            draws=draws,
            seed=seed,
            standardised=True,
        )

    return compare


def _weighted_credit(
    rows: JudgmentRows, metric: MetricScores, group: str
) -> np.ndarray:
    """Return the credits (P,) with weights under which their sum is the headline
    accuracy.
    """
    credit = PairCredit.of(rows, metric)
    out = np.full(len(credit.credit), np.nan)
    names = _groups_of(rows, group)
    for name in names:
        mask = credit.mask(name) & ~np.isnan(credit.credit)
        out[mask] = credit.credit[mask] / mask.sum() / len(names)
    return out


def _of_scores(
    rows: JudgmentRows, statistic: str, group: str, usable: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the headline statistic as a map from scores (W, rows) to values (W,)."""
    if group != MEAN:
        return _one_group(rows, statistic, usable)

    groups = rows.rated.groups
    by_group: list[tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]] = []
    for name in _groups_of(rows, group):
        statistic_of = _one_group(rows, statistic, usable & (groups == name))
        by_group.append((groups[usable] == name, statistic_of))
    return lambda scores: np.mean(
        [statistic_of(scores[:, mask]) for mask, statistic_of in by_group], axis=0
    )


def _one_group(
    rows: JudgmentRows, statistic: str, usable: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a statistic of the rows of a mask (n,) as a map from their scores (W, u)
    to values (W,).
    """
    human = rows.rated.human[usable]
    if rows.spec.grouping_of(statistic) != "none":
        positions, groups = positions_in_grouping(rows, statistic)

        def mean_over_groups(scores: np.ndarray) -> float:
            of_groups = correlate_groups(
                statistic, scores, human, positions[usable], groups
            )
            if np.isnan(of_groups).all():
                return float("nan")
            return float(np.nanmean(of_groups))

        return lambda scores: np.array([mean_over_groups(row) for row in scores])

    levels = len(np.unique(human))
    if statistic in ("kendall_b", "kendall_c") and 0 < levels <= MOST_LEVELS:
        return KendallOfScores(human, statistic[-1], rows.rated.caption[usable])
    if statistic in SYSTEM_STATISTICS:
        return _of_systems(rows, statistic, usable)
    ones = np.ones((1, len(human)))
    return lambda scores: np.array(
        [agree_by_rows(rows, statistic, row, human)(ones)[0] for row in scores]
    )


def _of_systems(
    rows: JudgmentRows, statistic: str, usable: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the agreement of the systems' mean scores with their human scores; soft
    pairwise accuracy is tested by its hard form.
    """
    names = system_names(rows)
    system = system_positions(rows, names)[usable]
    member = (system[None, :] == np.arange(len(names))[:, None]).astype(np.float64)
    counts = member.sum(axis=1)

    def average(scores: np.ndarray) -> np.ndarray:
        # Sums of whole scores are exact in every order, so that equal means are ties on
        # every processor.
        with np.errstate(invalid="ignore"):  # a system without a row has no mean
            return scores @ member.T / counts

    soft = statistic == "soft_pairwise_accuracy"
    of_file = None if soft else read_human_scores(rows, names)
    human = average(rows.rated.human[usable]) if of_file is None else np.array(of_file)
    kind = "accuracy" if soft else statistic.removesuffix("_system")
    return lambda scores: across_systems(
        np.repeat(human[None], len(scores), axis=0), average(scores), kind
    )


def _of_pearson(
    rows: JudgmentRows,
    metrics: Sequence[MetricScores],
    pairs: Sequence[tuple[int, int]],
) -> dict[tuple[int, int], Values]:
    """Return the tests of a task with Pearson's r: Williams' test of one row per item,
    else the delete-one-item jackknife.
    """
    if "pearson" not in rows.spec.statistics or rows.spec.grouping != "none":
        return {}
    rated = rows.rated
    name = "williams" if len(np.unique(rated.item)) == len(rated.item) else "jackknife"
    out: dict[tuple[int, int], Values] = {}
    for i, j in pairs:
        a = metrics[i].scores.mean(axis=1)[rated.caption]
        b = metrics[j].scores.mean(axis=1)[rated.caption]
        usable = ~(np.isnan(a) | np.isnan(b))
        if name == "williams":
            ones = np.ones((1, int(usable.sum())))
            r_a, r_b, r_ab = (
                float(Pearson(x[usable], y[usable])(ones)[0])
                for x, y in ((a, rated.human), (b, rated.human), (a, b))
            )
            t, p = williams(r_a, r_b, r_ab, ones.size)
        else:
            of_a = _without_items(rows, "pearson", ALL, a, usable)
            of_b = _without_items(rows, "pearson", ALL, b, usable)
            t, p = jackknife.t_test(of_a - of_b)
        out[i, j] = {f"{name}_t": t, name: p}

    adjusted = holm([entry[name] for entry in out.values()]).tolist()
    for entry, value in zip(out.values(), adjusted):
        entry[f"{name}_holm"] = value
    return out
