"""Strata of a data set by a score per item: ascending scores, equal sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.errors import InputError


def strata(per_image_scores: Sequence[float] | np.ndarray, k: int) -> list[list[int]]:
    """Return k lists of item indices by ascending score, for scores (N,).

    Stratum s holds the positions [N//k * s, N//k * (s + 1)) of a stable sort. The N mod k items with the highest scores belong to
    no stratum (Tanti et al. 2018); with k > N every stratum is empty.

    Raises
    ------
    InputError
        k is not an integer of at least 1, or a score is NaN.

    Examples
    --------

    >>> strata([0.3, 0.1, 0.2, 0.9, 0.5], 2)
    [[1, 2], [0, 4]]
    """
    scores = np.asarray(per_image_scores, dtype=np.float64)
    if scores.ndim != 1:
        raise InputError(f"strata need one score per item; found an array of shape {scores.shape}")
    if isinstance(k, bool) or int(k) != k or k < 1:
        raise InputError(f"the number of strata is {k!r}; expected an integer of at least 1", value=k)
    if np.isnan(scores).any():
        raise InputError(
            "a score is NaN; strata need a number for every item", f"item {int(np.argmax(np.isnan(scores)))}"
        )
    order, size = np.argsort(scores, kind="stable"), len(scores) // int(k)
    return [order[size * s : size * (s + 1)].tolist() for s in range(int(k))]
