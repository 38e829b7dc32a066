"""Joint distances and product kernels of the places and the words of events.

Nothing here knows which set is a candidate: scales are those of all events of an
example together, so that tests by relabelings of whole sets are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.contracts import Batch, CaptionSet, Distance, Embedding, Features
from harness.errors import InputError
from harness_metrics.dense.matched import USUAL, OverlapFunction, overlap_function
from harness_metrics.dense.videos import Side, SideRules, read_sides
from harness_metrics.kernel import geometry
from harness_metrics.kernel.mmd import gaussian_kernel

WordKernel = Literal["cosine", "gaussian"]
"""Kernel of the vectors of the words: their cosine, or a Gaussian whose width is the
median distance of two events of the example.
"""
MAX_EVENTS = 2_000
"""Events of all sets of an example together, above which it is refused."""


@dataclass(frozen=True, eq=False)
class ExampleEvents:
    """Events of the N sets of an example, those of a set one after the other."""

    id: str
    sizes: np.ndarray
    """Number of events of each set, shape (N,)."""
    places: np.ndarray
    """Shape (E, ...)."""
    texts: np.ndarray
    """Ids of the texts, shape (E,)."""


def read_events(batch: Batch, features: Features, metric: str) -> list[ExampleEvents]:
    """Return the events of each example; raise :class:`InputError` for texts that are
    no events, places of several kinds, and more than :data:`MAX_EVENTS` events.
    """
    rules = SideRules(metric, geometry=None)
    return [
        _join_sides(name, sides)
        for name, sides in zip(batch.ids, read_sides(batch, features, rules))
    ]


def _join_sides(name: str, sides: Sequence[Side]) -> ExampleEvents:
    sizes = np.array([len(side) for side in sides])
    if sizes.sum() > MAX_EVENTS:
        raise InputError(
            f"{sizes.sum():,} events in {len(sides)} sets; at most {MAX_EVENTS:,} are "
            "compared with each other: fewer events, or -m dense",
            f"'{name}'",
        )
    filled = [side for side in sides if len(side)]
    kinds = {side.places.shape[1:] for side in filled}
    if len(kinds) > 1:
        numbers = sorted(int(np.prod(kind)) for kind in kinds)
        raise InputError(
            f"the events have places of {' and '.join(map(str, numbers))} numbers; "
            "expected places of one kind",
            f"'{name}'",
        )
    if not filled:
        return ExampleEvents(name, sizes, np.zeros((0, 2)), np.zeros(0, dtype=np.int64))
    return ExampleEvents(
        name,
        sizes,
        np.concatenate([side.places for side in filled]),
        np.concatenate([side.texts for side in filled]),
    )


def overlaps_of(events: ExampleEvents, overlap: OverlapFunction | None) -> np.ndarray:
    """Return the overlaps of all events, symmetric, shape (E, E); None: the overlap of
    their kind of place.
    """
    if not len(events.places):
        return np.zeros((0, 0))
    own = overlap or overlap_function(USUAL[events.places.shape[1:]])
    overlaps = own(events.places, events.places)
    return (overlaps + overlaps.T) / 2


def joint_distances(
    events: ExampleEvents,
    distance: Distance,
    overlap: OverlapFunction | None,
    features: Features,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of events, symmetric, in [0, 1], shape (E, E), and the
    number of events of each set, at least 1, shape (N,).

    The distance is 1 - overlap x closeness of the words. Closeness is 1 - their
    distance, which is the mean over both directions, divided by the largest of the
    example. A set without events has one that no other event resembles: its distance is
    1 from all events, and 0 from the one of another empty set.
    """
    overlaps = overlaps_of(events, overlap)
    words = _word_distances(events, distance, features)
    distances = 1.0 - overlaps * (1.0 - words)

    sizes = np.maximum(events.sizes, 1)
    is_event = np.repeat(events.sizes > 0, sizes)
    out = np.where(is_event[:, None] | is_event, 1.0, 0.0)
    out[np.ix_(is_event, is_event)] = distances
    return out, sizes


def _word_distances(
    events: ExampleEvents, distance: Distance, features: Features
) -> np.ndarray:
    """Return the distances of the texts of events, in [0, 1], shape (E, E)."""
    if len(events.texts) < 2:
        return np.zeros((len(events.texts), len(events.texts)))
    ids: list[int] = events.texts.tolist()
    texts = [features.texts[k] for k in ids]
    batch = features.batch([CaptionSet(events.id, (texts[0],), tuple(texts[1:]))])
    distances = features.distances(distance, batch)[0]
    features.forget(batch)
    distances = (distances + distances.T) / 2
    largest = distances.max()
    return distances / largest if largest > 0 else distances


def set_kernel(
    events: ExampleEvents,
    embedding: Embedding,
    word_kernel: WordKernel,
    overlap: OverlapFunction | None,
    features: Features,
) -> np.ndarray:
    """Return the cosines of the mean embeddings of N sets of events, shape (N, N),
    under the product of the overlap and a kernel of the words.

    The cosine leaves out how much the events of a set resemble each other, which is a
    matter of their number: what differs between labelings is how much the sets resemble
    each other. Empty sets resemble each other alone.
    """
    kernel = overlaps_of(events, overlap)
    if len(events.texts):
        kernel = kernel * _word_kernel(events, embedding, word_kernel, features)

    owners = np.repeat(np.arange(len(events.sizes)), events.sizes)
    members = (owners[:, None] == np.arange(len(events.sizes))).astype(np.float64)
    weights = members / np.maximum(events.sizes, 1)
    inner = weights.T @ kernel @ weights

    lengths = np.sqrt(np.maximum(np.diagonal(inner), 0.0))
    is_empty = lengths == 0
    divisors = np.where(is_empty, 1.0, lengths)
    cosines = inner / (divisors[:, None] * divisors)
    cosines[np.ix_(is_empty, is_empty)] = 1.0
    return cosines


def _word_kernel(
    events: ExampleEvents,
    embedding: Embedding,
    word_kernel: WordKernel,
    features: Features,
) -> np.ndarray:
    """Return the kernel of the texts of at least one event, shape (E, E)."""
    vectors = features.set_vectors(embedding, events.texts[None])
    if word_kernel == "cosine":
        return geometry.cosines(vectors)[0]
    squared = geometry.squared_distances(geometry.gram(vectors))
    if len(events.texts) == 1:
        return np.ones((1, 1))
    # The width of that kernel is half the median distance: its fourth root has twice
    # the width.
    return gaussian_kernel(squared)[0] ** 0.25


class PerExample:
    """Arrays of examples by the ids of their texts, computed once in a run."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, ...], np.ndarray] = {}

    def stack(
        self, batch: Batch, compute: Callable[[Batch], list[np.ndarray]]
    ) -> np.ndarray:
        """Return the arrays of a batch, shape (B, ...)."""
        keys = [tuple(row) for row in batch.text_ids.tolist()]
        if any(key not in self._arrays for key in keys):
            self._arrays.update(zip(keys, compute(batch)))
        return np.stack([self._arrays[key] for key in keys])

    def forget_texts(self) -> None:
        """Drop everything: keys are ids of texts."""
        self._arrays.clear()
