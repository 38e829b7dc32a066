"""The pairs of events on which the scores of a run rest.

They are computed anew by the run's own metric, and dropped where its scores are not
those of the run: no pair is shown that a score did not use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

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
from harness.rundir.sample_events import EVENTS

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
    # the captions of other runs are not read
    if EVENTS not in system.table.names or not len(system.rows):
        return []
    # the metrics of a run of events refuse captions: the first row tells
    (first,) = system.caption_sets([0])
    if not first.candidates or not all(map(is_event_set, first.candidates)):
        return []
    if ids is None:
        return system.caption_sets()
    row_of = system.row_of
    return system.caption_sets(row_of[name] for name in ids if name in row_of)


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
        matched = cast("MatchesEvents", metric).match_events(batch, features, None)
        if not same_scores(matched.scores, system, label, batch.ids):
            return None
        for row, name in enumerate(batch.ids):
            pairs[name] = [of_candidate[row] for of_candidate in matched.pairs]
    return pairs


def same_scores(
    values: np.ndarray, system: System, label: str, ids: Sequence[str]
) -> bool:
    """Return True where scores of examples, shape (B,), are those of the run."""
    scores = system.scores(label)
    expected = np.array([scores[system.row_of[name]] for name in ids])
    return bool(np.allclose(values, expected, CLOSE, CLOSE, equal_nan=True))
