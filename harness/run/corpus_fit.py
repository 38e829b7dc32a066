"""Corpus state of metrics, fitted shard by shard where a metric permits it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.contracts import (
    CaptionSet,
    Metric,
    OnePassFit,
    State,
    has_corpus_state,
    merge_states,
)
from harness.run import score as scoring
from harness.run.example_store import BLOCK
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan

_log = logging.getLogger(__name__)


@dataclass
class CorpusFit:
    """Corpus state in one feature cache, and the metrics that cannot be scored shard by
    shard.
    """

    features: FeatureCache
    streaming: list[int] = field(default_factory=list[int])
    """Indices of the metrics that are scored shard by shard."""
    in_memory: list[int] = field(default_factory=list[int])
    """Indices of the metrics that need all texts of a system in memory."""


def fit(
    metrics: Sequence[MetricPlan],
    references: Sequence[Sequence[str]],
    *,
    shards: int,
    advance: Callable[[int], None] = lambda n: None,
) -> CorpusFit:
    """Fit the metrics on the references of all examples.

    Parameters
    ----------
    metrics : sequence of MetricPlan
        Metrics of the run.
    references : sequence of sequences of str
        References of each example.
    shards : int
        Number of shards; with one shard every metric streams.
    advance : callable
        Called with the number of examples after each block.
    """
    out = CorpusFit(FeatureCache(references))
    merged: dict[int, Metric] = {}
    for index, plan in enumerate(metrics):
        if shards == 1:
            out.streaming.append(index)
        elif hasattr(plan.metric, "merge"):
            merged[index] = plan.metric
            out.streaming.append(index)
        elif _has_state(plan.metric, out.features):
            _log.warning(
                "note: metric '%s' is fitted in one pass and keeps all texts in "
                "memory (docs/plugins.md: merge)",
                plan.label,
            )
            out.in_memory.append(index)
        else:
            out.streaming.append(index)

    if merged:
        _fit_in_shards(merged, out, advance)
        out.features.next_shard()  # state that is complete takes less memory
    return out


def _has_state(metric: Metric, features: FeatureCache) -> bool:
    """Return True for corpus state other than None; a fit of the metric's own is tried
    on the first example alone.
    """
    if has_corpus_state(metric):
        probe = FeatureCache(features.references[:1])
        try:
            if metric.fit(probe.references, probe) is not None:
                return True
        except Exception as error:  # a fit that one example is too little for has state
            _log.debug("fit of %s on one example: %s", metric.signature(), error)
            return True
    features.keep(("state", metric.signature()), None)
    return False


def _fit_in_shards(
    metrics: dict[int, Metric], out: CorpusFit, advance: Callable[[int], None]
) -> None:
    states: dict[int, State] = {}
    for start in range(0, out.features.examples, BLOCK):
        references = out.features.references[start : start + BLOCK]
        for index, metric in list(metrics.items()):
            key = ("memo", ("state", metric.signature()))
            with out.features.noting(key, metric.spec.name):
                state = metric.fit(references, out.features)
            try:
                if index in states:
                    state = merge_states(metric, states[index], state)
                states[index] = state
                del state  # the counts of a block are as large as those of all
            except OnePassFit:
                # a composed metric with a part that is fitted in one pass
                del metrics[index]
                out.streaming.remove(index)
                out.in_memory.append(index)
        out.features.next_shard()
        advance(len(references))

    for index, metric in metrics.items():
        out.features.keep(("state", metric.signature()), states[index])


def prime(
    fit: CorpusFit, metrics: Sequence[MetricPlan], sets: Sequence[CaptionSet]
) -> None:
    """Score the first caption set of each shape, so that state that is built on first
    use exists before workers start.

    Embeddings are fitted and document frequencies of distances counted here, once.
    """
    for positioned_batch in scoring.batches(sets[:1], fit.features):
        for index in fit.streaming:
            metric = metrics[index].metric
            if scoring.can_score(metric, positioned_batch.batch):
                scoring.score(metric, [positioned_batch], fit.features, None, 0)
    fit.features.next_shard()
