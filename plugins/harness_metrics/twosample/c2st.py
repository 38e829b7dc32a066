"""Metric ``c2st``: leave-one-out accuracy of a linear classifier of candidates and
references, for all relabelings at once.

Ridge regression of the labels on the vectors, with an intercept, is a linear
smoother: its predictions are H y, where H depends on the vectors alone. The
prediction for a text without that text is y_i - (y_i - (H y)_i) / (1 - H_ii), so that
no classifier is fitted twice. The targets are N / n for candidates and -N / m for
references, which weighs both samples equally.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from harness.contracts import Batch, Features
from harness.contracts.parameters import Ge, check_arguments
from harness_metrics.bases.embedding_metric import EmbeddingMetric, EmbeddingSpec
from harness_metrics.bases.relabeled_metric import RelabeledMetric
from harness_metrics.kernel import geometry

_TIE = 1e-9
"""Predictions below this fraction of the targets count as undecided."""


def smoother(inner: np.ndarray, ridge: float) -> np.ndarray:
    """Return the matrices H of ridge regression with an intercept, shape (B, N, N).

    Parameters
    ----------
    inner : ndarray, shape (B, N, N)
        Gram matrices.
    ridge : float
        Penalty, above 0, relative to the mean squared length of the centred vectors.
    """
    size = inner.shape[-1]
    inner = geometry.centre(inner)
    scale = np.einsum("bii->b", inner) / size
    # Relative to the mean squared length, so that the metric does not depend on the
    # unit of the embedding.
    penalty = ridge * np.where(scale > 0, scale, 1.0)
    smooth = np.linalg.solve(inner + penalty[:, None, None] * np.eye(size), inner)
    # (G + aI)^-1 G is symmetric up to rounding, which the mean with its transpose
    # removes. 1 / N is the intercept: the vectors are centred, so that the constant is
    # orthogonal to them.
    return 0.5 * (smooth + smooth.transpose(0, 2, 1)) + 1.0 / size


def accuracy(smooth: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the balanced leave-one-out accuracy of smoothers (B, N, N) under labels
    (P, N), shape (B, P), in [0, 1].

    It is the mean of the shares of candidates and of references that are predicted;
    undecided predictions count one half.

    >>> points = np.array([[-1.0], [-0.9], [0.9], [1.0]])
    >>> accuracy(
    ...     smoother((points @ points.T)[None], 0.1),
    ...     np.array([[True, True, False, False]]),
    ... ).tolist()
    [[1.0]]
    """
    labels = np.asarray(labels, dtype=bool)
    size: int = labels.shape[1]
    n: np.ndarray = labels.sum(axis=1, keepdims=True)
    targets = np.where(labels, size / n, -size / (size - n))  # (P, N)
    shares = np.where(labels, 0.5 / n, 0.5 / (size - n))

    out = np.empty((len(smooth), len(labels)))
    for row, matrix in enumerate(smooth):
        # The shortcut of linear smoothers: leaving text i out changes its residual by
        # the factor 1 / (1 - H_ii).
        left_out = targets - (targets - targets @ matrix) / (1.0 - np.diagonal(matrix))
        right = np.sign(left_out * targets)
        # Equal vectors in both samples give predictions of 0 up to rounding, whose sign
        # would be chance.
        right[np.abs(left_out) <= _TIE * np.abs(targets)] = 0.0
        out[row] = ((0.5 + 0.5 * right) * shares).sum(axis=1)
    return out


class ClassifierTest(EmbeddingMetric, RelabeledMetric):
    """Leave-one-out accuracy with which a linear classifier tells an example's
    candidates from its references; lower is better.

    In [0, 1]; the mean of the accuracies on both samples. One half or less means that
    they are not told apart.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    ridge : float, default 1
        Penalty of the classifier, above 0, relative to the mean squared length of the
        centred vectors.

    Raises
    ------
    HarnessError
        For a ridge that is not above 0.

    References
    ----------
    Lopez-Paz & Oquab 2017, *Revisiting Classifier Two-Sample Tests*. Formula:
    :mod:`harness_metrics.twosample.c2st`.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        ridge: Annotated[float, Ge(1e-6)] = 1.0,
    ) -> None:
        self.ridge = float(ridge)
        super().__init__(
            "c2st",
            embedding,
            False,
            settings=[f"ridge:{ridge:g}"],
            min_texts=3,
            bounds=(0.0, 1.0),
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the accuracy of each example under labels (P, N), shape (B, P)."""
        inner = geometry.gram(features.set_vectors(self.embedding, batch.text_ids))
        return accuracy(smoother(inner, self.ridge), labels)
