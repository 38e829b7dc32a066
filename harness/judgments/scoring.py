"""Scores of every metric on the caption sets of a judgment set: the path of a run, with shared features and stored statistics."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness import __version__
from harness.contracts import CaptionSet, PositionedBatch, place_statistics
from harness.errors import HarnessError
from harness.judgments.metric_scores import MetricScores
from harness.judgments.plan import JudgmentPlan
from harness.judgments.reference_policy import Corpus, ScoringSets
from harness.registry import current
from harness.run import score as scoring
from harness.run import warmup
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan
from harness.run.progress import bar
from harness.run.provenance import code_of
from harness.run.score import Scored
from harness.rundir.pieces import PieceKey, PieceStore, content_digest

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
    statistics: str | None
    """Name of the piece with the statistics; None without a run directory."""


def score_metrics(
    plan: JudgmentPlan, sets: ScoringSets, pieces: PieceStore | None, show: bool
) -> Iterator[ScoredMetric]:
    """Yield the scores of each metric of a plan; stored statistics are read, and only missing ones are computed."""
    content = content_digest([[s.id, s.candidates, s.references, s.media, s.source] for s in sets.sets])
    corpora = content_digest([[corpus.positions.tolist(), corpus.references] for corpus in sets.corpora])
    keys = {
        metric.label: PieceKey.of(
            metric.label, __version__, metric.metric.signature(), dict(metric.params), code_of([metric.metric]), content,
            corpora,
        )
        for metric in plan.metrics
    }  # fmt: skip
    stored = {label: _stored(pieces, key) for label, key in keys.items()}
    missing = [metric for metric in plan.metrics if stored[metric.label] is None]
    warmup.warm(metric.metric for metric in missing)
    calls = [_Call.of(corpus, sets) for corpus in sets.corpora] if missing else []
    for metric in plan.metrics:
        arrays = stored[metric.label]
        if arrays is None:
            scored = _score(metric, calls, len(sets.sets), show)
            arrays = {**scored.to_arrays(), "rate": np.asarray(_rate(metric, calls[0]))}
            if pieces is not None:
                pieces.write_arrays(keys[metric.label], arrays)
        scored = Scored.from_arrays(arrays)
        per_set = scored.per_example(metric.metric)
        statistics = keys[metric.label].stem if pieces is not None else None
        scores = _metric_scores(metric, scored, per_set, sets)
        yield ScoredMetric(metric, scored, scores, per_set, float(arrays["rate"]), statistics)


def _stored(pieces: PieceStore | None, key: PieceKey) -> dict[str, np.ndarray] | None:
    return pieces.read_arrays(key) if pieces is not None else None


@dataclass(frozen=True)
class _Call:
    """The sets of one corpus as batches."""

    corpus: Corpus
    sets: Sequence[CaptionSet]
    features: FeatureCache
    parts: list[PositionedBatch]

    @classmethod
    def of(cls, corpus: Corpus, sets: ScoringSets) -> _Call:
        """Return the batches of a corpus with a feature cache of their own."""
        members = [sets.sets[int(k)] for k in corpus.positions]
        features = FeatureCache(corpus.references)
        return cls(corpus, members, features, scoring.batches(members, features, None))


def _score(metric: MetricPlan, calls: Sequence[_Call], total: int, show: bool) -> Scored:
    """Return the statistics of a metric on all sets."""
    with bar(metric.label, total, show=show) as advance:
        try:
            scored = [scoring.score(metric.metric, call.parts, call.features, None, 0, advance) for call in calls]
        except HarnessError:
            raise
        except Exception as error:
            if current().is_built_in("metrics", metric.name):
                raise  # a bug of the harness shows its traceback
            raise HarnessError(
                f"metric '{metric.label}' failed: {type(error).__name__}: {error} (--debug shows where)"
            ) from error
    stats = place_statistics([(call.corpus.positions, part.stats) for call, part in zip(calls, scored)], total)
    return Scored(stats, None, None, "", sum(part.seconds for part in scored))


def _rate(metric: MetricPlan, call: _Call) -> float:
    """Return the number of sets per second that the metric scores alone, tokenising included, on the first sets.

    Its kernels are compiled and its models are loaded before the clock starts. NaN for a metric that cannot score so few sets.
    """
    seconds = math.nan
    for sets in (call.sets[:2], call.sets[:RATE_SETS]):
        features = FeatureCache([item.references for item in sets])
        parts = scoring.batches(sets, features, None)
        started = time.perf_counter()
        try:
            scoring.score(metric.metric, parts, features, None, 0)
        except Exception:  # a metric of corpora may need more sets; it has scored all of them
            return math.nan
        seconds = time.perf_counter() - started
    return min(RATE_SETS, len(call.sets)) / seconds


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
    return MetricScores(scores, system_values)
