"""Distances, embeddings and the features protocol: everything that several metrics of a
run need of the texts, computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from harness.contracts.data import Batch, CaptionSet

T = TypeVar("T")


@runtime_checkable
class Distance(Protocol):
    """Distance of two texts: non-negative, d(x, x) = 0; it may be asymmetric and need
    not satisfy the triangle inequality.

    A distance that depends on the references of other examples has the attribute
    ``held_fixed``, as an :class:`Embedding` has.
    """

    name: str

    def signature(self) -> str:
        """Return a text that changes whenever a distance may change."""
        ...

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return all pairs, float64, shape (B, N, N): rows the hypothesis, columns the
        reference, candidates first.
        """
        ...


@runtime_checkable
class Embedding(Protocol):
    """Map from texts to vectors.

    One whose ``fit`` reads the references has the attribute ``held_fixed``, a note such
    as ``vocabulary held fixed``: metrics take it as
    :attr:`MetricSpec.held_fixed <harness.contracts.MetricSpec>`. What is fitted on the
    references alone tells them from candidates of the same source, so that permutation
    p-values are too small; :class:`EncodesSets` is the way to fit without knowing the
    labels.
    """

    name: str

    def signature(self) -> str:
        """Return a text that changes whenever a vector may change."""
        ...

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Fit on the task's references (a vocabulary) before the first ``encode``;
        most embeddings do nothing.
        """
        ...

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return vectors, float32, shape (T, d).

        Called with each distinct text once, shortest first.
        """
        ...


@runtime_checkable
class EncodesSets(Protocol):
    """An embedding that encodes the texts of one example together, for metrics of each
    example (:meth:`Features.set_vectors`).

    It may fit itself to the texts (a vocabulary, weights), which are not marked as
    candidates or references: a permutation of the texts permutes the vectors and
    changes nothing else, so that permutation tests stay exact.
    """

    def encode_set(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of the N texts of an example, float32, shape (N, d),
        with the d of ``encode``.
        """
        ...


@runtime_checkable
class LimitsTexts(Protocol):
    """An embedding, or another model of texts, that reads texts up to a number of
    tokens: a run counts what it does not read.
    """

    def reads(self) -> str:
        """Return model and length: ``minilm reads 256 tokens of a text``."""
        ...

    def signature(self) -> str:
        """Return a text that tells the model."""
        ...

    def cut_tokens(self, texts: Sequence[str]) -> np.ndarray:
        """Return the number of tokens of each text that are not read, int64, shape
        (T,).
        """
        ...


class Features(Protocol):
    """Shared feature cache of one run.

    The first metric that asks for a value computes it; the others read it.
    """

    references: Sequence[Sequence[str]]
    """References of the task, one sequence per example; metrics fit their corpus state
    on them.
    """
    texts: list[str]
    """Interned texts; the id of a text is its index."""
    corpus_read: str
    """Value that depends on the references of the task and was asked for since this was
    last set to an empty text.
    """

    @property
    def examples(self) -> int:
        """Number of examples on whose references corpus state is fitted."""
        ...

    def intern(self, texts: Iterable[str]) -> np.ndarray:
        """Return the ids (T,) of the texts, int64; new texts are added."""
        ...

    def batch(self, sets: Sequence[CaptionSet]) -> Batch:
        """Return caption sets of one (n, m) shape as a :class:`Batch`."""
        ...

    def sub_batch(self, parent: Batch, n: int, m: int) -> Batch:
        """Return the batch of the first ``n`` candidates and ``m`` references of every
        example of ``parent``.
        """
        ...

    def per_text(
        self,
        key: Hashable,
        ids: Iterable[int],
        compute: Callable[[list[str]], Sequence[T]],
    ) -> list[T]:
        """Return one value per text id; ``compute`` gets the distinct texts that have
        no value under ``key`` yet.
        """
        ...

    def per_batch(
        self,
        key: Hashable,
        batch: Batch,
        build: Callable[[Batch], np.ndarray],
        cut: Callable[[np.ndarray, Batch], np.ndarray] | None = None,
    ) -> np.ndarray:
        """Return ``build(batch)``, shape (B, ...), computed once per ``key`` and batch,
        or cut from the value of the batch's parent.
        """
        ...

    def peek(
        self,
        key: Hashable,
        batch: Batch,
        cut: Callable[[np.ndarray, Batch], np.ndarray] | None = None,
    ) -> np.ndarray | None:
        """Return the value of :meth:`per_batch`, shape (B, ...), where it is computed
        for the batch or its parent, otherwise None.
        """
        ...

    def vectors(self, embedding: Embedding, ids: np.ndarray) -> np.ndarray:
        """Return embedding vectors, shape ``ids.shape + (d,)``, float32; each distinct
        text is encoded once.
        """
        ...

    def set_vectors(self, embedding: Embedding, ids: np.ndarray) -> np.ndarray:
        """Return embedding vectors of the texts of examples, ids (B, N), shape
        (B, N, d), float32: comparable within an example alone.

        Metrics of each example ask for these. They are those of :meth:`vectors`, or
        those of :class:`EncodesSets`.
        """
        ...

    def distances(self, distance: Distance, batch: Batch) -> np.ndarray:
        """Return the matrices (B, N, N) of a distance on a batch, float64, checked and
        read-only.
        """
        ...

    def memo(self, key: Hashable, build: Callable[[], T]) -> T:
        """Return ``build()``, computed once per key: corpus-level state shared between
        metrics.
        """
        ...

    def forget(self, batch: Batch) -> None:
        """Drop the values kept for a batch."""
        ...
