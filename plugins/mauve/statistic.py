"""MAUVE of two sets of vectors, of many small pairs of sets, and under relabelings; its spread over seeds and buckets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.plugins.mauve import frontier, quantise

MOST_BUCKETS = 500
"""Upper end of the automatic number of buckets: the authors' choice for 5000 texts a side; their n / 10 grows without end."""


class Spread(NamedTuple):
    """How much MAUVE depends on what it should not depend on."""

    seeds: np.ndarray
    """Values for different k-means seeds."""
    by_buckets: dict[int, float]
    """Value for other numbers of buckets, first seed."""

    @property
    def sd(self) -> float:
        """Standard deviation over seeds (n - 1)."""
        return float(self.seeds.std(ddof=1)) if len(self.seeds) > 1 else float("nan")


def automatic_buckets(n: int, m: int) -> int:
    """A tenth of the smaller sample, at least 2, at most 500."""
    return max(2, min(MOST_BUCKETS, round(min(n, m) / 10)))


def mauve(
    x: np.ndarray,
    y: np.ndarray,
    k: int | None = None,
    *,
    seed: int = 25,
    redo: int = 5,
    scaling: float = frontier.SCALING,
) -> float:
    """MAUVE of vectors x (n, d) and y (m, d), in (0, 1]; 1: the same histogram. ``k`` None: :func:`automatic_buckets`."""
    both = np.concatenate([x, y])
    k = automatic_buckets(len(x), len(y)) if k is None else k
    return float(_area(quantise.buckets(both, k, seed=seed, redo=redo), len(x), scaling))


def spread(
    x: np.ndarray, y: np.ndarray, k: int | None = None, *, seeds: Sequence[int] = range(25, 30),
    factors: Sequence[float] = (0.5, 2.0), redo: int = 5, scaling: float = frontier.SCALING,
) -> Spread:  # fmt: skip
    """MAUVE for several seeds, and for other numbers of buckets (``k`` times each factor)."""
    k = automatic_buckets(len(x), len(y)) if k is None else k
    points = quantise.reduced(np.concatenate([x, y]))

    def value(buckets: int, seed: int) -> float:
        return float(_area(quantise.clusters(points, buckets, seed=seed, redo=redo), len(x), scaling))

    others = sorted({max(2, round(k * factor)) for factor in factors} - {k})
    return Spread(np.array([value(k, seed) for seed in seeds]), {other: value(other, seeds[0]) for other in others})


def _area(labels: np.ndarray, n: int, scaling: float) -> np.ndarray:
    width = int(labels.max()) + 1
    p, q = (np.bincount(part, minlength=width) / len(part) for part in (labels[:n], labels[n:]))
    return frontier.area(p, q, scaling)


# --------------------------------------------------------------------------- per example
def per_example(vectors: np.ndarray, n: int, k: int, *, seed: int, redo: int, scaling: float) -> np.ndarray:
    """(B,) MAUVE of each set (B, N, d), n candidates first."""
    observed = (np.arange(vectors.shape[1]) < n)[None]
    return relabeled(vectors, observed, k, seed=seed, redo=redo, scaling=scaling)[:, 0]


def relabeled(
    vectors: np.ndarray, labels: np.ndarray, k: int, *, seed: int, redo: int, scaling: float = frontier.SCALING
) -> np.ndarray:
    """(B, P) under labels (P, N) bool. The buckets do not see the labels, so that only histograms change; relabelings with one
    histogram are computed once."""
    buckets = quantise.many_buckets(vectors, k, seed=seed, redo=redo)
    is_candidate = np.asarray(labels, dtype=np.float64)
    n, size = int(is_candidate[0].sum()), labels.shape[1]
    out = np.empty((len(buckets), len(labels)))
    for row, one_hot in enumerate(buckets[:, :, None] == np.arange(k)):
        first = np.rint(is_candidate @ one_hot).astype(np.int64)  # [P, k]
        codes = first @ (size + 1) ** np.arange(k, dtype=np.int64) if (size + 1.0) ** k < 2**62 else None
        if codes is None:
            kept, back = np.unique(first, axis=0, return_inverse=True)
        else:
            _, where, back = np.unique(codes, return_index=True, return_inverse=True)
            kept = first[where]
        rest = one_hot.sum(axis=0) - kept
        out[row] = frontier.area(kept / n, rest / (size - n), scaling)[back.ravel()]
    return out
