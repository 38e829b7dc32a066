"""Bradley-Terry strengths of competitors from the wins of pairs, for many resamples at
once.
"""

from __future__ import annotations

from typing import cast

import numpy as np

_STEPS = 500
"""Maximum number of Newton's steps."""
_TOLERANCE = 1e-10
"""Change of all strengths below which they have converged."""
_LONGEST = 2.0
"""Maximum change of a strength in one step of Newton's method."""


def strengths(wins: np.ndarray, prior: float = 1.0) -> np.ndarray:
    """Return the log-strengths of S competitors, with mean 0.

    The probability that i beats j is 1 / (1 + exp(s_j - s_i)). The maximum of the
    likelihood is found by Newton's method.

    Parameters
    ----------
    wins : array
        ``wins[..., i, j]``: number of wins of i over j, not negative, a tie counting
        one half for both; shape (..., S, S). The diagonal is ignored.
    prior : float, default 1
        Number of ties that are added to each pair, which keeps the strength of a
        competitor that wins or loses always finite.

    Returns
    -------
    array
        Strengths, shape (..., S).

    Raises
    ------
    ValueError
        If no finite strengths maximise the likelihood: some group of competitors has no
        win, or no loss, against the others (only with ``prior`` 0).

    References
    ----------
    Bradley & Terry 1952, *Rank Analysis of Incomplete Block Designs: I*; Hunter 2004,
    *MM Algorithms for Generalized Bradley-Terry Models*, section 2.

    Examples
    --------
    >>> strengths(np.array([[0, 3], [1, 0]]), prior=0.0).round(4)  # log(3) / 2
    array([ 0.5493, -0.5493])
    """
    size: int = wins.shape[-1]
    flat = np.asarray(wins, dtype=np.float64).reshape(-1, size, size)
    # A tie is half a win for both, so that ``prior`` ties add prior / 2 to each side of
    # every pair.
    flat = (flat + prior / 2.0) * (1.0 - np.eye(size))
    _check_finite_strengths(flat)

    games = flat + flat.transpose(0, 2, 1)
    total = flat.sum(axis=2)
    values = np.zeros(total.shape)

    for _ in range(_STEPS):
        expected = games / (1.0 + np.exp(values[:, None, :] - values[:, :, None]))
        slope = total - expected.sum(axis=2)

        # Second derivative: each pair of competitors contributes games * p * (1 - p),
        # with expected = games * p.
        curve = expected * (
            1.0 - np.divide(expected, games, out=np.zeros_like(games), where=games > 0)
        )
        # The likelihood does not change when a constant is added to all strengths,
        # which makes the Hessian singular along (1, ..., 1). Adding 1 / S in that
        # direction makes it regular without moving the step, whose slopes sum to 0: the
        # mean stays 0.
        hessian = np.eye(size) * curve.sum(axis=2)[:, :, None] - curve + 1.0 / size
        solved = cast("np.ndarray", np.linalg.solve(hessian, slope[:, :, None]))
        change = solved[:, :, 0]

        # Far from the maximum the likelihood is nearly flat, and a full step of
        # Newton's method would overshoot.
        largest = np.maximum(np.abs(change).max(axis=1, keepdims=True), 1e-300)
        change *= np.minimum(1.0, _LONGEST / largest)
        values += change
        if np.abs(change).max(initial=0.0) < _TOLERANCE:
            centred = values - values.mean(axis=1, keepdims=True)
            return centred.reshape(wins.shape[:-1])
    raise ValueError(f"the strengths do not converge in {_STEPS} steps")


def _check_finite_strengths(wins: np.ndarray) -> None:
    """Raise ``ValueError`` unless wins (W, S, S) lead from every competitor to every
    other (Ford 1957).
    """
    if not reachable(wins > 0).all():
        raise ValueError(
            "a group of competitors has no win, or no loss, against the others: "
            "no finite strengths (prior: 0)"
        )


def reachable(edges: np.ndarray) -> np.ndarray:
    """Return True where edges (..., S, S), bool, lead from the row to the column, in
    any number of steps.

    >>> reachable(
    ...     np.array(
    ...         [[False, True, False], [True, False, False], [False, False, False]]
    ...     )
    ... )[0]
    array([ True,  True, False])
    """
    reach = edges | np.eye(edges.shape[-1], dtype=bool)
    # Squaring doubles the length of the paths: log2(S) products reach every competitor
    # that any path reaches.
    for _ in range(edges.shape[-1].bit_length()):
        reach = (reach.astype(np.float64) @ reach) > 0
    return reach


def count_wins(
    first: np.ndarray, second: np.ndarray, points: np.ndarray, size: int
) -> np.ndarray:
    """Return the wins of row over column, shape (W, size, size), of compared pairs.

    Parameters
    ----------
    first, second : ndarray
        Competitors of each pair, integers, shape (P,).
    points : ndarray
        Points of the first one and of the second one of each pair, shape (2, W, P).
    size : int
        Number of competitors.
    """
    cells = np.stack([first * size + second, second * size + first]).ravel()
    both = points.transpose(1, 0, 2).reshape(points.shape[1], -1)
    return np.stack(
        [np.bincount(cells, row, minlength=size * size) for row in both]
    ).reshape(-1, size, size)


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of strengths (..., S): 1 for the highest; equal strengths share
    the smaller rank.

    >>> ranks(np.array([0.5, -1.0, 0.5]))
    array([1, 3, 1])
    """
    # Strengths may be equal but for the rounding of a processor.
    values = values.round(9)
    return 1 + (values[..., None, :] > values[..., :, None]).sum(axis=-1)
