"""Metric ``mmdagg``: the smallest permutation p-value of the MMDs with many kernels,
and its own permutation p-value.

For each kernel the permutation p-value of the observed labels is the share of
relabelings whose MMD is at least as large. The statistic is the smallest of them. The
same statistic is defined for every relabeling, so that its own permutation test is
exact: no correction for the number of kernels is needed. It is MMDAgg with uniform
weights (Schrab et al. 2023, algorithm 1) as a p-value, with the quantiles of all
relabelings in place of those of two samples of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, Cost, Features
from harness.contracts.parameters import Count, Index, check_arguments
from harness.stats import forms, permutation, ties
from harness_metrics.bases.embedding_metric import EmbeddingMetric, EmbeddingSpec
from harness_metrics.bases.relabeled_metric import RelabeledMetric, observed_labels
from harness_metrics.kernel import geometry

Shape = Literal["gaussian", "laplace", "both"]

ORBIT = 20_000
"""Largest number of relabelings that are enumerated;
beyond it this many random ones are drawn.
"""
DRAWS = 2_000
_BYTES = 64 << 20
"""Size of the values of all kernels under all relabelings that are held at once."""


def kernels(inner: np.ndarray, shape: Shape = "both", number: int = 10) -> np.ndarray:
    """Return Gaussian exp(-(d / w)^2 / 2) and Laplace kernels exp(-d / w) of the
    Euclidean distances d.

    The widths w lie evenly between half the 5 % quantile and twice the 95 % quantile of
    the distances of an example; distances of 0 count as the median (Schrab et al. 2023,
    section 5.2 and program).

    Parameters
    ----------
    inner : ndarray, shape (B, N, N)
        Gram matrices.
    shape : {'both', 'gaussian', 'laplace'}
        Kernels.
    number : int
        Widths of each kernel.

    Returns
    -------
    ndarray, shape (B, K, N, N)
        K kernels; 1 everywhere for an example of equal vectors.
    """
    distances = np.sqrt(geometry.squared_distances(inner))
    upper = geometry.upper(distances)
    median = np.median(upper, axis=1)[:, None]
    ranked = np.sort(np.where(upper == 0, median, upper), axis=1)
    low, high = (ranked[:, int(share * ranked.shape[1])] for share in (0.05, 0.95))
    widths = np.linspace(low / 2, high * 2, number).T
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = distances[:, None] / widths[:, :, None, None]
    # 0 / 0: more than half of the distances are 0, and so is the width
    scaled[np.isnan(scaled)] = 0.0

    blocks: list[np.ndarray] = []
    if shape != "laplace":
        blocks.append(np.exp(-0.5 * scaled**2))
    if shape != "gaussian":
        blocks.append(np.exp(-scaled))
    return np.concatenate(blocks, axis=1)


def relabelings(n: int, m: int, seed: int) -> np.ndarray:
    """Return all relabelings of n + m texts, or the observed one and random ones where
    there are too many; shape (P, N), bool.
    """
    if permutation.count(n, m) <= ORBIT:
        return permutation.relabelings(n, m)
    return np.concatenate([observed_labels(n, m), permutation.draws(n, m, DRAWS, seed)])


def smallest_p(
    kernel: np.ndarray, n: int, labels: np.ndarray, orbit: np.ndarray
) -> np.ndarray:
    """Return the smallest p-value over the kernels under labels.

    Parameters
    ----------
    kernel : ndarray, shape (B, K, N, N)
        Kernels.
    n : int
        Number of candidates, at least 2 as is that of references.
    labels : ndarray, shape (P, N)
        Labels, bool.
    orbit : ndarray, shape (Q, N)
        Relabelings with which the MMD of a kernel is compared.

    Returns
    -------
    ndarray, shape (B, P)
        In (0, 1]; lower is more extreme.
    """
    batch, number, size, _ = kernel.shape
    out = np.empty((batch, len(labels)))
    step = max(1, _BYTES // (16 * number * max(len(orbit), len(labels))))
    for start in range(0, batch, step):
        block = kernel[start : start + step]

        # The U-statistic, as Schrab et al. use it.
        form = geometry.two_sample_form(block.reshape(-1, size, size), n, "unbiased")
        null = np.sort(forms.evaluate(form, orbit), axis=1)
        values = forms.evaluate(form, labels)

        # The identity is one of the relabelings: without a tolerance its own value
        # could miss itself by a rounding error.
        largest = np.maximum(ties.magnitude(null), ties.magnitude(values))
        tolerance = ties.tolerance(largest, ties.FLOAT32)

        above = np.empty(values.shape)
        for row in range(len(values)):
            # The null is sorted once: the number of relabelings at least as extreme is
            # its length minus the position.
            below = null[row].searchsorted(values[row] - tolerance[row], side="left")
            above[row] = 1.0 - np.minimum(below, len(orbit) - 1) / len(orbit)
        out[start : start + step] = above.reshape(len(block), number, -1).min(axis=1)
    return out


class MmdAgg(EmbeddingMetric, RelabeledMetric):
    """Smallest permutation p-value of an example over MMDs with many kernels,
    in (0, 1]; higher is better.

    The score alone is not a p-value, because it is the smallest of many; the p-value of
    the metric is, by the permutation test of the smallest one.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    kernel : {'both', 'gaussian', 'laplace'}
        Kernels.
    bandwidths : int, default 10
        Number of widths of each kernel.
    seed : int, default 0
        Seed of the relabelings with which the MMD is compared, where there are too many
        to enumerate.

    Raises
    ------
    HarnessError
        For an unknown kernel, or numbers out of range.

    References
    ----------
    Schrab et al. 2023, *MMD Aggregated Two-Sample Test*. Formula:
    :mod:`harness_metrics.twosample.mmdagg`.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        kernel: Shape = "both",
        bandwidths: Count = 10,
        seed: Index = 0,
    ) -> None:
        self.kernel: Shape = kernel
        self.bandwidths = bandwidths
        self.seed = seed

        super().__init__(
            "mmdagg",
            embedding,
            True,
            *([] if kernel == "both" else [kernel]),
            min_candidates=2,
            min_references=2,
            bounds=(0.0, 1.0),
            settings=(kernel, f"bandwidths:{bandwidths}", f"seed:{seed}"),
        )

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the vectors, of the kernels, and of the relabelings with
        which they are compared, in blocks.
        """
        return replace(super().cost(n, m, tokens), fixed=min(17e3 * (n + m) ** 2, 3e8))

    def _kernels(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the kernels of each example, shape (B, K, N, N)."""
        inner = geometry.gram(features.set_vectors(self.embedding, batch.text_ids))
        return kernels(inner, self.kernel, self.bandwidths)

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the smallest p-value of each example under labels (P, N),
        shape (B, P).
        """
        orbit = relabelings(batch.n, batch.m, self.seed)
        return smallest_p(self._kernels(batch, features), batch.n, labels, orbit)
