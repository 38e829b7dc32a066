"""Reports of a metric of events beyond its numbers: the pairs of events that it
matched, and its scores at single thresholds of the overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from harness.contracts.data import Batch
from harness.contracts.features import Features
from harness.contracts.metrics import State

__all__ = ["EventMatch", "MatchedEvents", "MatchesEvents", "ScoresThresholds"]


@dataclass(frozen=True, slots=True)
class EventMatch:
    """A predicted event and the event of an annotator that a metric matched it with."""

    prediction: int
    """Position in the candidate."""
    annotator: int
    """Position among the references."""
    reference: int
    """Position in that reference."""
    overlap: float
    """Overlap of both places, in [0, 1]."""
    text: float
    """Score of the predicted text."""
    score: float
    """Addend of the pair to the metric's sum."""


class MatchedEvents(NamedTuple):
    """The pairs of events of a batch, and the scores that they make."""

    pairs: list[list[list[EventMatch]]]
    """Pairs of the n candidates of each of B examples."""
    scores: np.ndarray
    """Score of each example, shape (B,), NaN for one that is left out."""


@runtime_checkable
class MatchesEvents(Protocol):
    """A metric of sets of events whose scores rest on pairs of events."""

    def match_events(
        self, batch: Batch, features: Features, state: State
    ) -> MatchedEvents:
        """Return the pairs on which the scores of ``stats`` rest, and these scores."""
        ...


@runtime_checkable
class ScoresThresholds(Protocol):
    """A metric of events whose score of an example is a mean over thresholds of the
    overlap.
    """

    @property
    def thresholds(self) -> Sequence[float]:
        """Thresholds over which the mean is taken."""
        ...

    def scores_at(
        self,
        batch: Batch,
        features: Features,
        state: State,
        thresholds: Sequence[float],
    ) -> np.ndarray:
        """Return the score of each example at each of T thresholds alone, shape (B, T),
        NaN for an example that is left out.
        """
        ...
