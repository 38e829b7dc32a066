"""The pairs of events on which the scores of a run rest.

They are computed anew by the run's own metric, and dropped where its scores are not
those of the run: no pair is shown that a score did not use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.contracts import (
    CaptionSet,
    EventMatch,
    MatchesEvents,
    Metric,
    has_corpus_state,
    is_event_set,
)
from harness.registry.display_names import display_name
from harness.results import MetricEntry, Run, System
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.stored_metrics import read_metric

CLOSE = 1e-6
"""Largest difference between a score of the run and the one that is computed anew."""
OfSystem = Mapping[str, Sequence[Sequence[EventMatch]]]
"""Example -> the pairs of each candidate."""


@dataclass(frozen=True)
class Matches:
    """Pairs of the systems of a run."""

    name: str = ""
    """Name of the metric in tables; empty without one that matches events."""
    systems: tuple[OfSystem, ...] = ()
    """Pairs of each system of the run; none where they are not those of the scores."""
    note: str = ""
    """Reason why there are no pairs."""
    label: str = field(default="", compare=False)
    """Label of the metric in the run."""


def event_sets(system: System, ids: Iterable[str] | None = None) -> list[CaptionSet]:
    """Return the sets of a system, all or those of some examples in their order; an
    empty list for a system whose captions are no sets of events.
    """
    # the metrics of a run of events refuse captions: the first row tells
    if not len(system.rows):
        return []
    first = system.table.lists("candidates")[int(system.rows[0])]
    if not first or not all(map(is_event_set, first)):
        return []
    sets = system.caption_sets()
    if ids is None:
        return sets
    by_id = {item.id: item for item in sets}
    return [by_id[name] for name in ids if name in by_id]


def readable_metrics(run: Run) -> list[tuple[MetricEntry, Metric]]:
    """Return the metrics of a run that can be computed anew for some examples alone, at
    little cost: without a model, and without corpus state.
    """
    metrics: list[tuple[MetricEntry, Metric]] = []
    for entry in run.provenance.metrics:
        metric = read_metric(run, entry.label)
        if "embeddings" not in metric.spec.needs and not has_corpus_state(metric):
            metrics.append((entry, metric))
    return metrics


def find_matches(run: Run, ids: Sequence[str]) -> Matches:
    """Return the pairs of events of some examples by the first metric of a run that
    matches events.
    """
    for entry, metric in readable_metrics(run):
        if not isinstance(metric, MatchesEvents):
            continue
        name = display_name(entry.label, entry.signature)
        systems: list[OfSystem] = []
        for system in run.samples.systems:
            sets = event_sets(system, ids)
            pairs = _pairs_of(metric, system, entry.label, sets)
            if pairs is None:
                note = f"{name} computes other scores than those of the run"
                return Matches(note=f"No pairs: {note}.")
            systems.append(pairs)
        return Matches(name, tuple(systems), label=entry.label)
    return Matches(note="No pairs: no metric of the run matches events one to one.")


def _pairs_of(
    metric: Metric, system: System, label: str, sets: Sequence[CaptionSet]
) -> OfSystem | None:
    """Return the pairs of a system; None where a score differs from that of the run."""
    features = FeatureCache()
    pairs: dict[str, list[list[EventMatch]]] = {}
    for _, batch in scoring.batches(sets, features):
        if not scoring.can_score(metric, batch):
            continue
        if not same_scores(
            metric, metric.stats(batch, features, None), system, label, batch.ids
        ):
            return None
        if isinstance(metric, MatchesEvents):
            of_candidates = metric.match_events(batch, features, None)
            for row, name in enumerate(batch.ids):
                pairs[name] = [matches[row] for matches in of_candidates]
    return pairs


def same_scores(
    metric: Metric, stats: object, system: System, label: str, ids: Sequence[str]
) -> bool:
    """Return True where statistics have the scores of the run."""
    values = metric.per_example(stats)
    scores = system.scores(label)
    expected = np.array([scores[system.row_of[name]] for name in ids])
    return bool(np.allclose(values, expected, CLOSE, CLOSE, equal_nan=True))
