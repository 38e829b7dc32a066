"""Everything that several metrics of a run need of the texts, computed once.

Texts are interned to integers; anything that depends on one text alone (tokens,
n-grams, embeddings) is computed once per distinct text; every distance matrix is built
once per batch. Metrics ask, the first one pays.

Caches: ``per_text`` by key and text id, ``vectors`` by embedding signature and text id,
``distances`` by distance signature and batch, ``memo`` by key for corpus-level state
such as document frequencies.

Whoever reads the references of the task is noted, and with it every cached value that
was computed from them: a run holds a metric to what it declares
(:func:`harness.run.score.score`), since stored statistics are read again when other
examples follow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from harness.contracts import (
    Batch,
    CaptionSet,
    Distance,
    Embedding,
    EncodesSets,
    ForgetsTexts,
)
from harness.contracts.parameters import Values
from harness.errors import HarnessError
from harness.run.feature_checks import check_distances, check_vectors
from harness.run.task_references import REFERENCES, NoReferences, TaskReferences

T = TypeVar("T")


class FeatureCache:
    """Feature cache of one run; implements :class:`harness.contracts.Features`.

    ``references`` are the references of the task, one sequence per example; metrics fit
    their corpus state on them.
    """

    def __init__(self, references: Sequence[Sequence[str]] = ()) -> None:
        self._task = references
        self.references: Sequence[Sequence[str]] = TaskReferences(references, self)
        self.corpus_read = ""
        self._from_corpus: dict[Hashable, str] = {}
        self.texts: list[str] = []
        self._ids: dict[str, int] = {}
        self._per_text: dict[Hashable, dict[int, Any]] = defaultdict(dict)
        self._vectors: dict[str, tuple[dict[int, int], np.ndarray]] = {}
        self._embeddings: dict[str, Embedding] = {}
        self._per_batch: dict[Hashable, WeakKeyDictionary[Batch, np.ndarray]] = (
            defaultdict(WeakKeyDictionary)
        )
        self._memo: dict[Hashable, Any] = {}
        self._kept: set[Hashable] = set()

    @property
    def examples(self) -> int:
        """Number of examples on whose references corpus state is fitted."""
        self.corpus_read = self.corpus_read or REFERENCES
        if isinstance(self._task, NoReferences):
            return self._task.examples
        return len(self._task)

    def intern(self, texts: Iterable[str]) -> np.ndarray:
        """Return the ids (T,) of texts; new ones are added."""
        ids = self._ids
        table = self.texts
        out: list[int] = []
        for text in texts:
            key = ids.get(text)
            if key is None:
                key = ids[text] = len(table)
                table.append(text)
            out.append(key)
        return np.asarray(out, dtype=np.int64)

    def batch(self, sets: Sequence[CaptionSet]) -> Batch:
        """Return caption sets of one (n, m) shape as a :class:`Batch`;
        raise ValueError when shapes differ.
        """
        n = len(sets[0].candidates)
        m = len(sets[0].references)
        if any((len(item.candidates), len(item.references)) != (n, m) for item in sets):
            raise ValueError("a batch holds caption sets of one (n, m) shape")
        ids = self.intern(
            text for item in sets for text in (*item.candidates, *item.references)
        )
        return Batch(tuple(sets), _read_only(ids.reshape(len(sets), n + m)), n, m)

    def sub_batch(self, parent: Batch, n: int, m: int) -> Batch:
        """Return the first ``n`` candidates and ``m`` references of every example
        (nested sets); features are the parent's.
        """
        if (n, m) == (parent.n, parent.m):
            return parent
        columns = np.concatenate([np.arange(n), parent.n + np.arange(m)])
        sets: list[CaptionSet] = []
        for item in parent.sets:
            candidates = item.candidates[:n]
            references = item.references[:m]
            sets.append(replace(item, candidates=candidates, references=references))
        ids = _read_only(parent.text_ids[:, columns])
        return Batch(tuple(sets), ids, n, m, parent, columns)

    def per_text(
        self,
        key: Hashable,
        ids: Iterable[int],
        compute: Callable[[list[str]], Sequence[T]],
    ) -> list[T]:
        """Return values of text ids: ``compute`` gets the distinct texts not yet known
        under ``key`` (in one call) and returns one value each.

        ``key`` names the computation and its parameters.
        """
        cache = self._per_text[key]
        requested = np.asarray(ids, dtype=np.int64).ravel().tolist()

        missing = [i for i in dict.fromkeys(requested) if i not in cache]
        if missing:
            with self.noting(("text", key), REFERENCES):
                values = compute([self.texts[i] for i in missing])
            if len(values) != len(missing):
                raise ValueError(
                    f"{key!r} returned {len(values)} values for {len(missing)} texts"
                )
            cache.update(zip(missing, values))

        self._note(("text", key))
        return [cache[i] for i in requested]

    def vectors(self, embedding: Embedding, ids: np.ndarray) -> np.ndarray:
        """Return embedding vectors, shape ``ids.shape + (d,)`` float32; each distinct
        text is encoded once, shortest first.

        Raises :class:`HarnessError` when the embedding returns the wrong shape or a
        value that is not finite.
        """
        ids = np.asarray(ids, dtype=np.int64)
        key = embedding.signature()
        embedding = self._fitted(embedding)
        rows, table = self._vectors.get(key, ({}, np.empty((0, 0), dtype=np.float32)))

        missing = [int(i) for i in np.unique(ids) if int(i) not in rows]
        if missing:
            # A model pads the texts of a batch to the longest: those of one length go
            # together.
            missing.sort(key=lambda i: (len(self.texts[i]), i))
            texts = [self.texts[i] for i in missing]
            new = check_vectors(embedding.name, embedding.encode(texts), texts)
            if rows and new.shape[1] != table.shape[1]:
                raise HarnessError(
                    f"embedding '{embedding.name}' returned vectors of length "
                    f"{table.shape[1]} before and {new.shape[1]} now"
                )
            table = np.concatenate([table, new]) if rows else new
            rows.update(zip(missing, range(len(rows), len(rows) + len(missing))))
            self._vectors[key] = (rows, table)

        flat_ids: list[int] = ids.ravel().tolist()
        positions = np.array([rows[i] for i in flat_ids], dtype=np.int64)
        return table[positions].reshape(*ids.shape, table.shape[1])

    def set_vectors(self, embedding: Embedding, ids: np.ndarray) -> np.ndarray:
        """Return embedding vectors of examples with the text ids (B, N), shape (B, N,
        d) float32: comparable within an example alone.

        An embedding with ``encode_set`` (:class:`~harness.contracts.EncodesSets`)
        encodes the texts of each example together.
        """
        fitted = self._fitted(embedding)
        if not isinstance(fitted, EncodesSets):
            return self.vectors(embedding, ids)

        out = np.empty((*ids.shape, 0), dtype=np.float32)
        for example, row in enumerate(cast(list[list[int]], ids.tolist())):
            texts = [self.texts[i] for i in row]
            vectors = check_vectors(fitted.name, fitted.encode_set(texts), texts)
            # the first example tells the length of all vectors
            if example == 0:
                out = np.empty((*ids.shape, vectors.shape[1]), dtype=np.float32)
            width = out.shape[-1]
            if vectors.shape[1] != width:
                raise HarnessError(
                    f"embedding '{fitted.name}' returned vectors of length {width} "
                    f"before and {vectors.shape[1]} now"
                )
            out[example] = vectors
        return out

    def _fitted(self, embedding: Embedding) -> Embedding:
        """Return the fitted embedding of this signature: one,
        however many metrics name it.
        """
        key = embedding.signature()
        if key not in self._embeddings:
            text = f"the embedding '{embedding.name}', which is fitted on {REFERENCES}"
            with self.noting(("embedding", key), text):
                embedding.fit(self.references)
            self._embeddings[key] = embedding
        self._note(("embedding", key))
        return self._embeddings[key]

    @contextmanager
    def noting(self, key: Hashable, description: str) -> Generator[None]:
        """Note under a key whether the code in the context reads the references of the
        task, or a value computed from them.

        Parameters
        ----------
        key : hashable
            Key of the value that the code computes.
        description : str
            The value, for the end of a message.
        """
        outside = self.corpus_read
        self.corpus_read = ""
        try:
            yield
        finally:
            if self.corpus_read:
                self._from_corpus[key] = description
            self.corpus_read = outside

    def _note(self, key: Hashable) -> None:
        """Note that the value of a key is asked for."""
        self.corpus_read = self.corpus_read or self._from_corpus.get(key, "")

    def per_batch(
        self,
        key: Hashable,
        batch: Batch,
        build: Callable[[Batch], np.ndarray],
        cut: Callable[[np.ndarray, Batch], np.ndarray] | None = None,
    ) -> np.ndarray:
        """Return an array of a batch, computed once per key and batch.

        Parameters
        ----------
        key : hashable
            Name of the computation and its parameters.
        batch : Batch
            A batch whose ``parent`` is set gets its value from the parent's.
        build : callable
            Computes the value of a batch without a parent, shape (B, N, N, ...) unless
            ``cut`` is given.
        cut : callable, optional
            Cuts the parent's value to a batch. The default takes the batch's columns of
            axes 1 and 2.

        Returns
        -------
        ndarray
            Read-only array.
        """
        cache = self._per_batch[key]
        value = cache.get(batch)
        if value is None:
            if batch.parent is not None:
                of_parent = self.per_batch(key, batch.parent, build, cut)
                value = (cut or _cut_pairs)(of_parent, batch)
            else:
                with self.noting(("batch", key), REFERENCES):
                    value = build(batch)
            value = cache[batch] = _read_only(value)

        self._note(("batch", key))
        return value

    def peek(
        self,
        key: Hashable,
        batch: Batch,
        cut: Callable[[np.ndarray, Batch], np.ndarray] | None = None,
    ) -> np.ndarray | None:
        """Return the value of :meth:`per_batch`, shape (B, ...), without computing it.

        For callers that need only a part of the value, and compute that part alone when
        the whole does not exist.

        Parameters
        ----------
        key : hashable
            Name of the computation and its parameters.
        batch : Batch
            A batch whose ``parent`` is set gets its value from the parent's.
        cut : callable, optional
            Cuts the parent's value to a batch, as in :meth:`per_batch`.

        Returns
        -------
        ndarray or None
            Read-only array, or None where neither the batch nor a parent of it has a
            value under ``key``.
        """
        self._note(("batch", key))
        cache = self._per_batch[key]
        value = cache.get(batch)
        if value is None and batch.parent is not None:
            of_parent = self.peek(key, batch.parent, cut)
            if of_parent is not None:
                value = _read_only((cut or _cut_pairs)(of_parent, batch))
                cache[batch] = value
        return value

    def distances(self, distance: Distance, batch: Batch) -> np.ndarray:
        """Return the (B, N, N) matrices of a distance on a batch: float64, finite,
        non-negative, zero diagonal, read-only.

        Raises :class:`HarnessError` with the pair of texts for which the distance
        breaks one of these.
        """
        key = ("distance", distance.signature())
        text = f"the distance '{distance.name}', which is fitted on {REFERENCES}"

        def build(full_batch: Batch) -> np.ndarray:
            with self.noting(key, text):
                matrices = distance.matrices(full_batch, self)
            matrices = np.ascontiguousarray(matrices, dtype=np.float64)
            check_distances(distance.name, matrices, full_batch)
            return matrices

        matrices = self.per_batch(key, batch, build)
        self._note(key)
        return matrices

    def memo(self, key: Hashable, build: Callable[[], T]) -> T:
        """Return ``build()``, called once per key: corpus-level state that metrics
        share.
        """
        if key not in self._memo:
            with self.noting(("memo", key), REFERENCES):
                self._memo[key] = build()
        self._note(("memo", key))
        return self._memo[key]

    def next_shard(self) -> None:
        """Drop all texts and what depends on them,
        so that memory does not grow with the number of examples.

        Corpus state stays: fitted embeddings, and values of :meth:`memo` that are
        marked by :meth:`keep` or have a method ``forget_texts``
        (:class:`~harness.contracts.ForgetsTexts`), which is called.
        """
        self.texts = []
        self._ids = {}
        for cache in (self._per_text, self._vectors, self._per_batch):
            cache.clear()
        self._memo = self.corpus_state()

    def keep(self, key: Hashable, value: Any) -> None:
        """Store corpus state under a key of :meth:`memo`;
        it survives :meth:`next_shard`.
        """
        self._memo[key] = value
        self._kept.add(key)

    def corpus_state(self) -> dict[Hashable, Any]:
        """Return the values of :meth:`memo` that do not depend on texts."""
        state: dict[Hashable, Any] = {}
        for key, value in self._memo.items():
            if key in self._kept or isinstance(value, ForgetsTexts):
                _forget_texts(value)
                state[key] = value
        return state

    def __getstate__(self) -> Values:
        """Return the corpus state, for another process: no texts,
        and references that cannot be read there.
        """
        return {
            "examples": self.examples,
            "memo": self.corpus_state(),
            "kept": self._kept,
            "embeddings": self._embeddings,
            "from_corpus": self._from_corpus,
        }

    def __setstate__(self, state: Values) -> None:
        self.__init__(NoReferences(state["examples"]))
        self._memo = state["memo"]
        self._kept = state["kept"]
        self._embeddings = state["embeddings"]
        self._from_corpus = state["from_corpus"]

    def forget(self, batch: Batch) -> None:
        """Drop the values kept for a batch and for the batches cut from it (bounds
        memory).
        """
        for cache in self._per_batch.values():
            # a list: the cache changes while it is read
            for cached in list(cache):
                if cached is batch or cached.parent is batch:
                    del cache[cached]


def _forget_texts(value: object) -> None:
    """Call ``forget_texts`` of a value,
    or of the parts of a composed metric's state.
    """
    if isinstance(value, ForgetsTexts):
        value.forget_texts()
    elif isinstance(value, (list, tuple)):
        for element in cast("Sequence[object]", value):
            _forget_texts(element)


def _read_only(value: np.ndarray) -> np.ndarray:
    """Return the array, C-contiguous and write-protected."""
    value = np.ascontiguousarray(value)
    value.setflags(write=False)
    return value


def _cut_pairs(full_matrices: np.ndarray, batch: Batch) -> np.ndarray:
    """Return the rows and columns (axes 1 and 2) of a batch from the array of its
    parent.
    """
    assert batch.columns is not None
    return full_matrices[:, batch.columns[:, None], batch.columns]
