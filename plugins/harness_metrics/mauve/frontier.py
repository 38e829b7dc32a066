"""MAUVE of two histograms: the area under the divergence frontier.

Pillutla et al. 2021, *MAUVE: Measuring the Gap Between Neural Text and Human Text using
Divergence Frontiers*, section 2. With the mixture r = w p + (1 - w) q, the frontier is
the curve of (exp(-c KL(q | r)), exp(-c KL(p | r))) for w in (0, 1), closed by (1, 0)
and (0, 1). Equal histograms have area 1.
"""

from __future__ import annotations

import numpy as np

from caption_kernels import exp, log

POINTS = 25
"""Number of mixture weights on the curve."""
SCALING = 5.0
"""The constant c."""
_CHUNK = 1 << 20


def area(
    p: np.ndarray, q: np.ndarray, scaling: float = SCALING, points: int = POINTS
) -> np.ndarray:
    """Return the area under the divergence frontier of histograms.

    Parameters
    ----------
    p, q : ndarray, shape (..., k)
        Histograms over k buckets; each sums to 1.
    scaling : float
        The constant c of the paper.
    points : int
        Number of mixture weights on the curve.

    Returns
    -------
    ndarray, shape (...)
        MAUVE in (0, 1]; 1 for equal histograms. Symmetric in p and q up to rounding.

    References
    ----------
    Pillutla et al. 2021, section 2.

    Examples
    --------
    >>> p = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> q = np.array([[0.5, 0.5], [0.0, 1.0]])
    >>> area(p, q).round(4).tolist()
    [1.0, 0.0041]
    """
    p = np.asarray(p, dtype=np.float64)
    q = np.asarray(q, dtype=np.float64)
    shape = p.shape[:-1]
    p = p.reshape(-1, p.shape[-1])
    q = q.reshape(-1, q.shape[-1])

    step = max(1, _CHUNK // (points * p.shape[-1]))
    areas = [
        _area(p[i : i + step], q[i : i + step], scaling, points)
        for i in range(0, len(p), step)
    ]
    return np.concatenate(areas).reshape(shape) if areas else np.empty(shape)


def _area(p: np.ndarray, q: np.ndarray, scaling: float, points: int) -> np.ndarray:
    """Return areas (H,) of histograms (H, k)."""
    weights = mixtures(points)[:, None]
    # The weights stop short of 0 and 1, where one divergence would be infinite; the
    # curve is closed by its known ends instead. [histogram, point, bucket]
    mixture = weights * p[:, None, :] + (1 - weights) * q[:, None, :]
    x = exp(-scaling * _divergence(q[:, None, :], mixture))
    y = exp(-scaling * _divergence(p[:, None, :], mixture))
    return area_of_curve(x, y)


def mixtures(points: int = POINTS) -> np.ndarray:
    """Return the weights of the first histogram in the mixtures of the frontier,
    shape (points,).
    """
    return np.linspace(1e-6, 1 - 1e-6, points)


def area_of_curve(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the area under curves (H, points) that are closed by (1, 0) and (0, 1),
    shape (H,).
    """
    ends = np.ones((len(x), 1))
    # along the curve x falls and y rises
    x = np.concatenate([ends, x, 0 * ends], axis=1)
    y = np.concatenate([0 * ends, y, ends], axis=1)
    # Trapezoids: their sum is the area below the chords, from (1, 0) to (0, 1).
    return 0.5 * ((x[:, :-1] - x[:, 1:]) * (y[:, :-1] + y[:, 1:])).sum(axis=1)


def _divergence(p: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return KL(p | r) over the last axis, natural logarithm; r > 0 wherever p > 0."""
    ratio = np.divide(p, r, out=np.ones_like(r), where=(p > 0) & (r > 0))
    return (p * log(ratio)).sum(axis=-1)
