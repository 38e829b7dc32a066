"""Bootstrap over examples: weights as counts, so that a metric's ``reduce`` resamples by a matrix product."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np


def weights(n_examples: int, samples: int, seed: int, chunk: int = 256) -> Iterator[np.ndarray]:
    """Yield bootstrap weights, float64, in chunks of shape (at most ``chunk``, B).

    Each row holds multinomial counts that sum to B. Seed and B determine the rows, so that two models scored on the same
    examples get the same resamples and their difference is paired.

    Parameters
    ----------
    n_examples : int
        Number of examples B.
    samples : int
        Number of rows in all.
    seed : int
        Seed of the generator.
    chunk : int
        Maximum number of rows per array.
    """
    rng = np.random.default_rng([seed, n_examples])
    share = np.full(n_examples, 1.0 / n_examples)
    for start in range(0, samples, chunk):
        yield rng.multinomial(n_examples, share, size=min(chunk, samples - start)).astype(np.float64)


def distribution(reduce: Callable[[np.ndarray], np.ndarray], n_examples: int, samples: int, seed: int) -> np.ndarray:
    """Return the values of ``reduce(weights)`` under resampling of the examples, float64, shape (samples,).

    ``reduce`` maps weights (W, B) to values (W,). Source: Efron (1979), *Bootstrap Methods: Another Look at the Jackknife*,
    Annals of Statistics 7(1).
    """
    return np.concatenate([np.asarray(reduce(w), dtype=np.float64) for w in weights(n_examples, samples, seed)])


def interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval (low, high) of bootstrap values (samples,).

    >>> interval(np.arange(5.0), level=0.5)
    (1.0, 3.0)
    """
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)
