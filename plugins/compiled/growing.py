"""Arrays that grow by doubling."""

from __future__ import annotations

import numpy as np


def ensure_rows(array: np.ndarray, n_rows: int, fill: int = 0) -> np.ndarray:
    """Return ``array`` if it has ``n_rows`` rows, otherwise a copy with at least twice its rows.

    Parameters
    ----------
    array : ndarray
        Shape (R, ...).
    n_rows : int
        Number of rows needed.
    fill : int
        Value of the new rows.

    Returns
    -------
    ndarray
        Shape (max(n_rows, 2 R), ...) where it is a copy.

    Examples
    --------
    >>> ensure_rows(np.array([1, 2]), 3, fill=-1).tolist()
    [1, 2, -1, -1]
    """
    if len(array) >= n_rows:
        return array
    longer = np.full((max(n_rows, 2 * len(array)), *array.shape[1:]), fill, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
