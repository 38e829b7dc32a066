"""Scores of the metrics of a plan for its caption sets; statistics that a run has are
read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.contracts import Example, Judgments
from harness.contracts.metrics import SET_SIZES
from harness.judgments.metric_scores import MetricScores
from harness.judgments.plan import JudgmentPlan
from harness.judgments.reference_policy import ScoringSets, rival_sets
from harness.judgments.system_agreement import average_cells
from harness.run.example_store import ExampleStore
from harness.run.execution import Execution
from harness.run.metric_plan import MetricPlan, unique
from harness.run.scored import Scored
from harness.run.scoring_pass import ScoringPass
from harness.run.shard_grid import ShardGrid
from harness.run.systems import PlannedSystem
from harness.rundir.artifact_key import ArtifactKey, content_digest
from harness.spec.models import SignificanceSpec
from harness.stats.ties import rank_scores


@dataclass(frozen=True)
class ScoredMetric:
    """One metric with its scores."""

    plan: MetricPlan
    scored: Scored
    scores: MetricScores
    per_set: np.ndarray
    """Score of each set as the metric gives it, shape (sets,)."""
    statistics: str
    """Name of the artifacts with the statistics."""


def score_metrics(
    plan: JudgmentPlan, sets: ScoringSets, execution: Execution, judgments: Judgments
) -> list[ScoredMetric]:
    """Return the scores of each metric of a plan; statistics that the run has are
    read.
    """
    rivals = [metric for metric in plan.metrics if metric.metric.spec.rival]
    others = [metric for metric in plan.metrics if metric not in rivals]
    scored = _score_sets(plan, others, sets, execution)
    if rivals:
        # Metrics that judge two captions together have sets of their own.
        pairs = rival_sets(judgments)
        scored += [
            _spread_points(metric, judgments, sets)
            for metric in _score_sets(plan, rivals, pairs, execution)
        ]
    return sorted(scored, key=lambda metric: plan.metrics.index(metric.plan))


def _spread_points(
    metric: ScoredMetric, judgments: Judgments, sets: ScoringSets
) -> ScoredMetric:
    """Return a metric of pairs with its preferences, and with the mean points of each
    caption as its score.
    """
    points = metric.scores.scores[:, 0]
    pairs = np.array([(pair.first, pair.second) for pair in judgments.pairs])
    # All first captions, then all second ones, which have the other share of the point.
    captions = pairs.T.ravel()
    points_of_captions = np.concatenate([points, 1 - points])
    single = np.zeros_like(captions)
    of_caption = average_cells(
        points_of_captions, captions, single, len(judgments.captions), 1
    )
    (per_set,) = average_cells(
        points_of_captions, sets.index[captions, 0, 0], single, len(sets.sets), 1
    )
    return replace(
        metric,
        scores=MetricScores(of_caption.T, of_pairs=2 * points[:, None] - 1),
        per_set=per_set,
    )


def _score_sets(
    plan: JudgmentPlan,
    metrics: Sequence[MetricPlan],
    sets: ScoringSets,
    execution: Execution,
) -> list[ScoredMetric]:
    """Return the scores of some metrics of a plan on its caption sets, or on sets of
    pairs.
    """
    texts = np.mean([len(item.candidates) + len(item.references) for item in sets.sets])
    size = execution.grid(len(sets.sets), float(texts)).size

    passes: list[ScoringPass] = []
    for corpus in sets.corpora:
        # A judged set is an example with the references that it is scored with. The
        # corpus has references of its own.
        members = sets.sets[corpus.start : corpus.stop]
        names = unique([item.id for item in members])
        store = ExampleStore(
            Example(name, item.references, item.media, item.source, item.meta)
            for name, item in zip(names, members)
        )
        system = PlannedSystem.of_rows(
            "", store, [{"candidates": list(item.candidates)} for item in members]
        )
        scoring_pass = ScoringPass(
            execution,
            metrics,
            [system],
            list(ShardGrid(len(members), size)),
            corpus.references,
            content_digest(corpus.references),
            SignificanceSpec(),
            plan.spec.seed,
            batch=None,
        )
        scoring_pass.compute()
        passes.append(scoring_pass)

    scored: list[ScoredMetric] = []
    for index, metric in enumerate(metrics):
        statistics = [scoring_pass.statistics(0, index) for scoring_pass in passes]
        scored.append(_scored_metric(metric, statistics, sets, execution))
    return scored


def _scored_metric(
    metric: MetricPlan,
    statistics: Sequence[tuple[Scored, str]],
    sets: ScoringSets,
    execution: Execution,
) -> ScoredMetric:
    """Return the scores of a metric from its statistics of each corpus and their
    names.
    """
    scored = Scored.join([scored for scored, _ in statistics])
    names = [name for _, name in statistics]
    name = names[0]
    if len(names) > 1:
        # The artifacts of the corpora stand under one name.
        name = ArtifactKey.of(metric.label, names).stem
        execution.artifacts.write_shards(name, names)
    per_set = scored.per_example(metric.metric)
    ranked = rank_scores(metric.metric, scored.stats, per_set)
    return ScoredMetric(
        metric,
        scored,
        _metric_scores(metric, scored, per_set, ranked, sets),
        per_set,
        name,
    )


def _metric_scores(
    metric: MetricPlan,
    scored: Scored,
    per_set: np.ndarray,
    ranked: np.ndarray,
    sets: ScoringSets,
) -> MetricScores:
    """Return the oriented scores of the judged captions, from those of the sets
    (sets,), as they are and as they rank.
    """
    sign = -1.0 if metric.metric.spec.higher_is_better is False else 1.0
    scores = sign * sets.scores(per_set)

    # A corpus number of some captions needs one set for each caption.
    system_values: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    if metric.metric.spec.resampled and sets.index.shape[1:] == (1, 1):
        of_caption = sets.index[:, 0, 0]

        def reduce(captions: np.ndarray, weights: np.ndarray) -> np.ndarray:
            stats = scored.stats[of_caption[captions]]
            numbers = metric.metric.reduce(stats, weights)
            return sign * np.asarray(numbers, dtype=np.float64)

        system_values = reduce

    lengths = [(len(item.candidates), len(item.references)) for item in sets.sets]
    columns = zip(SET_SIZES, np.array(lengths)[sets.index[:, 0, 0]].T)
    depends_on = metric.metric.spec.depends_on or ()
    sizes = {name: counts for name, counts in columns if name in depends_on}
    return MetricScores(
        scores,
        system_values,
        sizes,
        ranked=sign * sets.scores(ranked),
        tolerance=metric.metric.spec.tolerance,
    )
