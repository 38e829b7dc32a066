"""Distances, embeddings and the features protocol: everything that several metrics of a run need of the texts, computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from harness.contracts.data import Batch, CaptionSet

T = TypeVar("T")


@runtime_checkable
class Distance(Protocol):
    """Distance of two texts: non-negative, d(x, x) = 0; it may be asymmetric and need not satisfy the triangle inequality."""

    name: str

    def signature(self) -> str:
        """Return a text that changes whenever a distance may change."""
        ...

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return all pairs, float64, shape (B, N, N): rows the hypothesis, columns the reference, candidates first."""
        ...


@runtime_checkable
class Embedding(Protocol):
    """Map from texts to vectors."""

    name: str

    def signature(self) -> str:
        """Return a text that changes whenever a vector may change."""
        ...

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Fit on the task's references (a vocabulary) before the first ``encode``; most embeddings do nothing."""
        ...

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return vectors, float32, shape (T, d). Called with each distinct text once, shortest first."""
        ...


class Features(Protocol):
    """Shared feature cache of one run. The first metric that asks for a value computes it; the others read it."""

    references: Sequence[Sequence[str]]
    """References of the task, one sequence per example; metrics fit their corpus state on them."""
    texts: list[str]
    """Interned texts; the id of a text is its index."""

    def intern(self, texts: Iterable[str]) -> np.ndarray:
        """Return the ids (T,) of the texts, int64; new texts are added."""
        ...

    def batch(self, sets: Sequence[CaptionSet]) -> Batch:
        """Return caption sets of one (n, m) shape as a :class:`Batch`."""
        ...

    def sub_batch(self, parent: Batch, n: int, m: int) -> Batch:
        """Return the batch of the first ``n`` candidates and ``m`` references of every example of ``parent``."""
        ...

    def per_text(self, key: Hashable, ids: Iterable[int], compute: Callable[[list[str]], Sequence[T]]) -> list[T]:
        """Return one value per text id; ``compute`` gets the distinct texts that have no value under ``key`` yet."""
        ...

    def per_batch(
        self,
        key: Hashable,
        batch: Batch,
        build: Callable[[Batch], np.ndarray],
        cut: Callable[[np.ndarray, Batch], np.ndarray] | None = None,
    ) -> np.ndarray:
        """Return ``build(batch)``, shape (B, ...), computed once per ``key`` and batch, or cut from the value of the batch's parent."""
        ...

    def peek(self, key: Hashable, batch: Batch, cut: Callable[[np.ndarray, Batch], np.ndarray] | None = None) -> np.ndarray | None:
        """Return the value of :meth:`per_batch`, shape (B, ...), where it is computed for the batch or its parent, otherwise None."""
        ...

    def vectors(self, embedding: Embedding, ids: np.ndarray) -> np.ndarray:
        """Return embedding vectors, shape ``ids.shape + (d,)``, float32; each distinct text is encoded once."""
        ...

    def distances(self, distance: Distance, batch: Batch) -> np.ndarray:
        """Return the matrices (B, N, N) of a distance on a batch, float64, checked and read-only."""
        ...

    def memo(self, key: Hashable, build: Callable[[], T]) -> T:
        """Return ``build()``, computed once per key: corpus-level state shared between metrics."""
        ...

    def forget(self, batch: Batch) -> None:
        """Drop the values kept for a batch."""
        ...
