"""Tests between the metrics of a task on its headline: PERM-BOTH, Williams' test, Holm's correction, significance clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from harness.contracts import Values
from harness.judgments.agreement import MetricScores, PairCredit, system_names, system_positions
from harness.judgments.rows import ALL, MEAN, JudgmentRows
from harness.spec.judgment_models import LABEL_STATISTICS, PAIR_STATISTICS, SYSTEM_STATISTICS
from harness.stats.correlation import across_systems
from harness.stats.metric_tests import KendallOfScores, clusters, permute_both, permute_credit, williams
from harness.stats.multiplicity import holm
from harness.stats.weighted_correlation import Detection, Pearson, Spearman, within_groups


@dataclass(frozen=True)
class MetricTests:
    """Tests between k metrics on one statistic and group."""

    ranks: tuple[int | None, ...]
    """Rank of each metric's significance cluster, 1 for the best."""
    p_values: np.ndarray
    """Holm-corrected p-values of PERM-BOTH, shape (k, k), NaN where undefined."""
    raw: np.ndarray
    """Uncorrected p-values, shape (k, k)."""
    williams: dict[tuple[int, int], Values] = field(default_factory=dict[tuple[int, int], Values])
    """Pair of metrics -> ``t``, ``p`` and Holm-corrected ``p_holm`` of Williams' test on Pearson's r of all rows."""


def compare_metrics(rows: JudgmentRows, metrics: Sequence[MetricScores], values: Sequence[float]) -> MetricTests:
    """Return the tests between metrics on the headline of a task.

    Parameters
    ----------
    rows : JudgmentRows
        The judgments.
    metrics : sequence of MetricScores
        Oriented scores of k metrics.
    values : sequence of float
        Headline statistic of each metric, length k.
    """
    spec = rows.spec
    k = len(metrics)
    pairs = [(i, j) for i, j in combinations(range(k), 2) if not np.isnan([values[i], values[j]]).any()]
    draws = max(spec.tests.draws, int(1.1 * len(pairs) / spec.tests.level)) if spec.tests.draws else 0
    compare = _comparison(rows, metrics)
    p = [compare(i, j, draws) if draws else float("nan") for i, j in pairs]
    raw, corrected = np.full((k, k), np.nan), np.full((k, k), np.nan)
    for (i, j), value, adjusted in zip(pairs, p, holm(p).tolist()):
        raw[i, j] = raw[j, i] = value
        corrected[i, j] = corrected[j, i] = adjusted
    ranks = clusters(values, corrected, spec.tests.level)
    return MetricTests(tuple(ranks), corrected, raw, _williams(rows, metrics, pairs))


def _comparison(rows: JudgmentRows, metrics: Sequence[MetricScores]) -> Callable[[int, int, int], float]:
    """Return the test of two metrics, given by their positions, with a number of draws."""
    statistic, group = rows.spec.headline
    seed = rows.spec.seed
    if statistic in PAIR_STATISTICS:
        credits = [_weighted_credit(rows, metric, group) for metric in metrics]
        items = rows.pairs.item
        return lambda i, j, draws: permute_credit(credits[i], credits[j], items, draws=draws, seed=seed)

    def compare(i: int, j: int, draws: int) -> float:
        rated = rows.rated
        a, b = (metrics[k].scores.mean(axis=1)[rated.caption] for k in (i, j))
        usable = ~(np.isnan(a) | np.isnan(b))
        if usable.sum() < 2:
            return float("nan")
        of_scores = _of_scores(rows, statistic, group, usable)
        captions = rated.caption[usable]
        return permute_both(of_scores, a[usable], b[usable], unit=captions, draws=draws, seed=seed)

    return compare


def _weighted_credit(rows: JudgmentRows, metric: MetricScores, group: str) -> np.ndarray:
    """Return the credits (P,) with weights under which their sum is the headline accuracy."""
    credit = PairCredit.of(rows, metric)
    names = [name for name in rows.group_names if name not in (ALL, MEAN)] if group == MEAN else [group]
    out = np.full(len(credit.credit), np.nan)
    for name in names:
        mask = credit.mask(name) & ~np.isnan(credit.credit)
        out[mask] = credit.credit[mask] / max(1, mask.sum()) / len(names)
    return out


def _of_scores(rows: JudgmentRows, statistic: str, group: str, usable: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the headline statistic as a map from scores (W, rows) to values (W,)."""
    if group == MEAN:
        names = [name for name in rows.group_names if name not in (ALL, MEAN)]
        groups = rows.rated.groups[usable]
        by_group = [(groups == name, _one_group(rows, statistic, usable & (rows.rated.groups == name))) for name in names]
        return lambda scores: np.mean([statistic_of(scores[:, mask]) for mask, statistic_of in by_group], axis=0)
    return _one_group(rows, statistic, usable)


def _one_group(rows: JudgmentRows, statistic: str, usable: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    human, item = rows.rated.human[usable], rows.rated.item[usable]
    ones = np.ones((1, len(human)))
    if statistic in ("kendall_b", "kendall_c"):
        return KendallOfScores(human, statistic[-1], rows.rated.caption[usable])
    if statistic == "pearson":
        return lambda scores: _pearson(scores, human)
    if statistic == "spearman":
        return lambda scores: np.array([Spearman(row, human)(ones)[0] for row in scores])
    if statistic == "kendall_within":
        return lambda scores: np.array([np.nanmean(within_groups(row, human, item, rows.items)) for row in scores])
    if statistic in LABEL_STATISTICS:
        good = human == human.max()
        sign = 1.0 if rows.spec.judgments.higher_is_better else -1.0
        label = good if sign > 0 else ~good
        return lambda scores: np.array([Detection(sign * row, label, statistic)(ones)[0] for row in scores])
    assert statistic in SYSTEM_STATISTICS
    return _of_systems(rows, statistic, usable)


def _pearson(scores: np.ndarray, human: np.ndarray) -> np.ndarray:
    """Return Pearson's r of scores (W, n) with the judgments (n,), shape (W,); NaN for constant scores."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    human = human - human.mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        return (centred @ human) / np.linalg.norm(centred, axis=1) / np.linalg.norm(human)


def _of_systems(rows: JudgmentRows, statistic: str, usable: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the agreement on the systems' mean scores; soft pairwise accuracy is tested by its hard form."""
    names = system_names(rows)
    system = system_positions(rows, names)[usable]
    member = (system[None, :] == np.arange(len(names))[:, None]).astype(np.float64)
    member /= np.maximum(member.sum(axis=1, keepdims=True), 1)
    human = member @ rows.rated.human[usable]
    kind = "accuracy" if statistic == "soft_pairwise_accuracy" else statistic.removesuffix("_system")
    return lambda scores: across_systems(np.repeat(human[None], len(scores), axis=0), scores @ member.T, kind)


def _williams(rows: JudgmentRows, metrics: Sequence[MetricScores], pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Values]:
    """Return Williams' tests of a task with Pearson's r."""
    if "pearson" not in rows.spec.statistics:
        return {}
    rated = rows.rated
    out: dict[tuple[int, int], Values] = {}
    for i, j in pairs:
        a, b = (metrics[k].scores.mean(axis=1)[rated.caption] for k in (i, j))
        usable = ~(np.isnan(a) | np.isnan(b))
        a, b, human = a[usable], b[usable], rated.human[usable]
        ones = np.ones((1, len(a)))
        r = [float(Pearson(x, y)(ones)[0]) for x, y in ((a, human), (b, human), (a, b))]
        test = williams(r[0], r[1], r[2], len(a))
        out[i, j] = {"t": test.t, "p": test.p_value}
    for entry, adjusted in zip(out.values(), holm([entry["p"] for entry in out.values()]).tolist()):
        entry["p_holm"] = adjusted
    return out
