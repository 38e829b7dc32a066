"""Diversity of a set from the eigenvalues of its matrix of similarities:
the Vendi score and Self-CIDEr.
"""

from __future__ import annotations

import math

import numpy as np

from caption_kernels import eigenvalues, exp, log, power
from harness_metrics.kernel import geometry


def vendi(kernels: np.ndarray, q: float = 1.0) -> np.ndarray:
    """Return the Vendi score: the effective number of different items.

    Parameters
    ----------
    kernels : ndarray, shape (..., n, n)
        Symmetric positive semi-definite similarities with ones on the diagonal.
    q : float
        Order of the Renyi entropy, at least 0: 1 is Shannon's, ``inf`` that of the
        largest eigenvalue. Larger orders weigh rare items less.

    Returns
    -------
    ndarray, shape (...)
        From 1, for equal items, to n, for items without any similarity.

    References
    ----------
    Friedman & Dieng 2023, *The Vendi Score: A Diversity Evaluation Metric for Machine
    Learning*, definition 3.1; Pasarkar & Dieng 2024, *Cousins of the Vendi Score*, for
    other orders.

    Examples
    --------
    >>> vendi(np.array([np.eye(3), np.ones((3, 3))])).round(6).tolist()
    [3.0, 1.0]
    """
    return effective_number(_eigenvalues(kernels) / kernels.shape[-1], q)


def _eigenvalues(matrices: np.ndarray) -> np.ndarray:
    """Return the eigenvalues (..., n), ascending, of symmetric matrices (..., n, n),
    with the same bits on every processor.
    """
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    return eigenvalues(flat).reshape(matrices.shape[:-1])


def effective_number(shares: np.ndarray, q: float = 1.0) -> np.ndarray:
    """Return exp of the Renyi entropy of order q of shares (..., n), which sum to 1;
    negative rounding errors count as 0.
    """
    p = np.maximum(shares, 0.0)
    if q == 1:
        return exp(-(p * log(np.where(p > 0, p, 1.0))).sum(axis=-1))
    if math.isinf(q):
        return 1.0 / p.max(axis=-1)

    # Shares that are rounding errors would count as items of their own for small
    # orders.
    is_item = p > 1e-12
    powers = is_item.astype(np.float64)
    if q > 0:
        powers = power(np.where(is_item, p, 0.0), q)
    return power(powers.sum(axis=-1), 1.0 / (1.0 - q))


def unit_kernels(vectors: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the cosines of vectors (B, n, d), float64, shape (B, n, n); 1 for texts
    with the same id (B, n), also for zero vectors.
    """
    kernels = geometry.cosines(vectors)
    kernels[ids[:, :, None] == ids[:, None, :]] = 1.0
    return kernels


def singular_spread(kernels: np.ndarray) -> np.ndarray:
    """Return -log_n(sqrt(e_1) / sum of sqrt(e_i)) for the eigenvalues e_1 >= e_2 >= ...
    of each matrix: Self-CIDEr.

    Parameters
    ----------
    kernels : ndarray, shape (..., n, n)
        Symmetric similarities, n >= 2. The factor of a matrix does not matter.

    Returns
    -------
    ndarray, shape (...)
        From 0, for equal items, to 1, for items without any similarity; NaN for a
        matrix of zeros.

    References
    ----------
    Wang & Chan 2019, *Describing Like Humans: On Diversity in Image Captioning*,
    equations 4 to 7.

    Examples
    --------
    >>> singular_spread(np.array([np.eye(3), np.ones((3, 3))])).round(6).tolist()
    [1.0, 0.0]
    """
    values = _eigenvalues(kernels)

    # Rounding errors of eigenvalues that are 0 would count with their square roots.
    largest = values[..., -1:]
    roots = np.sqrt(np.where(values > 1e-12 * largest, values, 0.0))
    total = roots.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = -log(roots[..., -1] / total) / log(kernels.shape[-1])
    # + 0.0: no negative zero
    return np.where(total > 0, spread, np.nan) + 0.0
