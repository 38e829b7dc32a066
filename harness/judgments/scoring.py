"""Scores of every metric on the caption sets of a judgment set: the scoring pass of a run, once per corpus."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.contracts import CaptionSet, Example
from harness.contracts.metrics import SET_SIZES
from harness.judgments.agreement import MetricScores
from harness.judgments.plan import JudgmentPlan
from harness.judgments.reference_policy import ScoringSets
from harness.run import score as scoring
from harness.run.example_store import ExampleStore
from harness.run.execution import Execution
from harness.run.metric_plan import MetricPlan, unique
from harness.run.score import Scored
from harness.run.scoring_pass import ScoringPass
from harness.run.shard_grid import ShardGrid
from harness.run.systems import PlannedSystem
from harness.rundir.artifacts import ArtifactKey, content_digest
from harness.spec.models import SignificanceSpec

RATE_SETS = 200
"""Number of sets on which the speed of a metric is measured."""


@dataclass(frozen=True)
class ScoredMetric:
    """One metric with its scores."""

    plan: MetricPlan
    scored: Scored
    scores: MetricScores
    per_set: np.ndarray
    """Score of each set as the metric gives it, shape (sets,)."""
    rate: float
    """Sets per second that the metric scores alone."""
    statistics: str
    """Name of the artifacts with the statistics."""


def score_metrics(plan: JudgmentPlan, sets: ScoringSets, execution: Execution) -> list[ScoredMetric]:
    """Return the scores of each metric of a plan; statistics that the run has are read."""
    texts = np.mean([len(item.candidates) + len(item.references) for item in sets.sets])
    size = execution.grid(len(sets.sets), float(texts)).size
    passes: list[ScoringPass] = []
    for corpus in sets.corpora:
        # A judged set is an example with the references that it is scored with. The corpus has references of its own.
        members = sets.sets[corpus.start : corpus.stop]
        names = unique([item.id for item in members])
        store = ExampleStore(Example(name, item.references, item.media, item.source, item.meta) for name, item in zip(names, members))
        system = PlannedSystem.of_rows("", store, [{"candidates": list(item.candidates)} for item in members])
        scoring_pass = ScoringPass(
            execution, plan.metrics, [system], list(ShardGrid(len(members), size)), corpus.references,
            content_digest(corpus.references), SignificanceSpec(), plan.spec.seed, batch=None,
        )  # fmt: skip
        scoring_pass.compute()
        passes.append(scoring_pass)
    return [
        _scored_metric(metric, [scoring_pass.statistics(0, index) for scoring_pass in passes], sets, execution)
        for index, metric in enumerate(plan.metrics)
    ]


def _scored_metric(metric: MetricPlan, statistics: Sequence[tuple[Scored, str]], sets: ScoringSets, execution: Execution) -> ScoredMetric:
    """Return the scores of a metric from its statistics of each corpus and their names."""
    scored, names = Scored.join([scored for scored, _ in statistics]), [name for _, name in statistics]
    name = names[0]
    if len(names) > 1:
        name = ArtifactKey.of(metric.label, names).stem
        execution.artifacts.write_shards(name, names)
    first = sets.sets[sets.corpora[0].start : sets.corpora[0].stop]
    rate = _stored_rate(metric, first, ArtifactKey.of(f"{metric.label} rate", names), execution)
    per_set = scored.per_example(metric.metric)
    return ScoredMetric(metric, scored, _metric_scores(metric, scored, per_set, sets), per_set, rate, name)


def _stored_rate(metric: MetricPlan, sets: Sequence[CaptionSet], key: ArtifactKey, execution: Execution) -> float:
    """Return the speed of a metric as it was measured when the run scored it."""
    stored = execution.artifacts.read_arrays(key.stem)
    if stored is None:
        stored = {"rate": np.asarray(_rate(metric, sets))}
        execution.artifacts.write_arrays(key, stored)
    return float(stored["rate"])


def _rate(metric: MetricPlan, sets: Sequence[CaptionSet]) -> float:
    """Return the number of sets per second that the metric scores alone, tokenising included, on the first sets.

    Its kernels are compiled and its models are loaded before the clock starts. NaN for a metric that cannot score so few sets.
    """
    seconds = math.nan
    for first in (sets[:2], sets[:RATE_SETS]):
        started = time.perf_counter()
        try:
            scoring.score_sets([metric.metric], first)
        except Exception:  # a metric of corpora may need more sets; it has scored all of them
            return math.nan
        seconds = time.perf_counter() - started
    return min(RATE_SETS, len(sets)) / seconds


def _metric_scores(metric: MetricPlan, scored: Scored, per_set: np.ndarray, sets: ScoringSets) -> MetricScores:
    sign = -1.0 if metric.metric.spec.higher_is_better is False else 1.0
    scores = sign * sets.scores(per_set)
    system_values: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    if metric.metric.spec.resampled and sets.index.shape[1:] == (1, 1):
        of_caption = sets.index[:, 0, 0]

        def reduce(captions: np.ndarray, weights: np.ndarray) -> np.ndarray:
            stats = scored.stats[of_caption[captions]]
            return sign * np.asarray(metric.metric.reduce(stats, weights), dtype=np.float64)

        system_values = reduce
    lengths = [(len(item.candidates), len(item.references)) for item in sets.sets]
    columns = zip(SET_SIZES, np.array(lengths)[sets.index[:, 0, 0]].T)
    return MetricScores(scores, system_values, {name: counts for name, counts in columns if name in (metric.metric.spec.depends_on or ())})
