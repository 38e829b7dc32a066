"""Metrics ``semantic-entropy`` and ``reference-coverage``:
texts grouped by meaning, over any distance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from caption_kernels import log
from harness.contracts import Batch, Features
from harness.contracts.parameters import NonNegative, check_arguments
from harness_metrics.bases.metrics import DistanceMetric, DistanceSpec, RelabeledMetric

# --------------------------------------------------------------------------- meanings
# Texts of one meaning as the connected components of a graph of small distances.


def components(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return the meaning of each text: texts within the threshold in both directions,
    and all that are linked by such texts, share one.

    Parameters
    ----------
    distances : ndarray, shape (B, N, N)
        Distances.
    threshold : float
        Largest distance of two texts of one meaning.

    Returns
    -------
    ndarray, shape (B, N)
        Index of the first text of the same meaning, int64.

    Examples
    --------
    >>> points = np.array([0.0, 1.0, 5.0, 2.0])
    >>> components(abs(points[:, None] - points)[None], 1.0).tolist()
    [[0, 0, 2, 0]]
    """
    batch = len(distances)
    size = int(distances.shape[1])
    linked = np.maximum(distances, distances.transpose(0, 2, 1)) <= threshold
    linked |= np.eye(size, dtype=bool)
    out = np.broadcast_to(np.arange(size), (batch, size)).copy()
    while True:
        smallest = np.where(linked, out[:, None, :], size).min(axis=2)
        smallest = np.take_along_axis(smallest, smallest, axis=1)
        if np.array_equal(smallest, out):
            return out
        out = smallest


def _members(meanings: np.ndarray) -> np.ndarray:
    """Return True where a text has a meaning, shape (B, N, N) over (text, meaning),
    for meanings (B, N).
    """
    size: int = meanings.shape[1]
    return meanings[:, :, None] == np.arange(size)


def entropy(meanings: np.ndarray) -> np.ndarray:
    """Return the entropy, in nats, of the shares of meanings (B, N) among the texts of
    each example, shape (B,).

    >>> entropy(np.array([[0, 0, 0, 0], [0, 1, 2, 3]])).round(4).tolist()
    [0.0, 1.3863]
    """
    shares = _members(meanings).mean(axis=1)
    return -(shares * log(np.where(shares > 0, shares, 1.0))).sum(axis=1) + 0.0


def measure_coverage(meanings: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the share of references whose meaning some candidate has, shape (B, P),
    for meanings (B, N) and labels (P, N).

    >>> measure_coverage(
    ...     np.array([[0, 1, 0, 0, 4]]), np.array([[True, True, False, False, False]])
    ... ).round(4).tolist()
    [[0.6667]]
    """
    labels = np.asarray(labels, dtype=np.float64)
    out = np.empty((len(meanings), len(labels)))
    for row, same in enumerate(_members(meanings)):
        reached = labels @ same > 0
        out[row] = (((1.0 - labels) @ same) * reached).sum(axis=1)
    return out / (1.0 - labels).sum(axis=1)


# --------------------------------------------------------------------------- metrics

THRESHOLD = 0.3
"""Largest distance of two captions of one meaning, for the default distance,
1 - cosine of MiniLM.
"""


class SemanticEntropy(DistanceMetric):
    """Entropy of the meanings of an example's candidates, in nats, in [0, log n];
    it has no direction.

    Candidates within the threshold of each other, in both directions, have one meaning,
    and so have all that such candidates link.

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance: name, ``{name: {parameters}}`` or instance.
    threshold : float, default 0.3
        Largest distance of two texts of one meaning; the default suits the default
        distance.

    Raises
    ------
    HarnessError
        For a negative threshold.

    References
    ----------
    Farquhar et al. 2024, *Detecting hallucinations in large language models using
    semantic entropy* (the discrete estimate); Kuhn et al. 2023, *Semantic Uncertainty*.
    Both decide equality of meaning by entailment in both directions.
    """

    @check_arguments
    def __init__(
        self, *, distance: DistanceSpec = "bert", threshold: NonNegative = THRESHOLD
    ) -> None:
        self.threshold = float(threshold)
        super().__init__(
            "semantic-entropy",
            distance,
            None,
            f"{self.threshold:g}",
            references=False,
            bounds=(0.0, math.inf),
        )

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the entropy of each example, shape (B,)."""
        distances = features.distances(self.distance, batch)[:, : batch.n, : batch.n]
        return entropy(components(distances, self.threshold))


class ReferenceCoverage(RelabeledMetric, DistanceMetric):
    """Share of an example's references whose meaning some candidate has, in [0,
    1]; higher is better.

    The references are a sample of what people say, so that this is the part of the
    human distribution that the set reaches. Meanings are those of
    :class:`SemanticEntropy`, of candidates and references together; they do not depend
    on the labels of the texts.

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance: name, ``{name: {parameters}}`` or instance.
    threshold : float, default 0.3
        Largest distance of two texts of one meaning; the default suits the default
        distance.

    Raises
    ------
    HarnessError
        For a negative threshold.
    """

    @check_arguments
    def __init__(
        self, *, distance: DistanceSpec = "bert", threshold: NonNegative = THRESHOLD
    ) -> None:
        self.threshold = float(threshold)
        super().__init__(
            "reference-coverage",
            distance,
            True,
            f"{self.threshold:g}",
            bounds=(0.0, 1.0),
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the share of each example under labels (P, N), shape (B, P)."""
        return measure_coverage(
            components(features.distances(self.distance, batch), self.threshold), labels
        )
