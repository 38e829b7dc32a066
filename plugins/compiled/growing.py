"""Arrays that grow at their end."""

from __future__ import annotations

import numpy as np


def grown(array: np.ndarray, size: int, fill: int = 0) -> np.ndarray:
    """``array`` or a copy at least twice as long that holds ``size`` rows; the new ones are ``fill``."""
    if len(array) >= size:
        return array
    new = np.full((max(size, 2 * len(array)), *array.shape[1:]), fill, dtype=array.dtype)
    new[: len(array)] = array
    return new
