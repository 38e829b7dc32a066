"""Bootstrap over examples: weights as counts, so that a metric's ``reduce`` resamples by a matrix product."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np


def weights(n_examples: int, samples: int, seed: int, chunk: int = 256) -> Iterator[np.ndarray]:
    """Chunks (<= chunk, B) float64 of multinomial counts, ``samples`` rows in all; the same for the same seed and B.

    Two models scored on the same examples see the same resamples, so their difference is paired.
    """
    rng = np.random.default_rng([seed, n_examples])
    share = np.full(n_examples, 1.0 / n_examples)
    for start in range(0, samples, chunk):
        yield rng.multinomial(n_examples, share, size=min(chunk, samples - start)).astype(np.float64)


def distribution(reduce: Callable[[np.ndarray], np.ndarray], n_examples: int, samples: int, seed: int) -> np.ndarray:
    """(samples,) values of ``reduce(weights)`` under resampling of the examples (Efron 1979, percentile method)."""
    return np.concatenate([np.asarray(reduce(w), dtype=np.float64) for w in weights(n_examples, samples, seed)])


def interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of a bootstrap distribution."""
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)
