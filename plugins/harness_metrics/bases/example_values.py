"""Features of texts and scores of candidates, example by example."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

from harness.contracts import Batch, Features

T = TypeVar("T")


def features_by_example(
    features: Features,
    batch: Batch,
    key: Hashable,
    compute: Callable[[list[str]], Sequence[T]],
) -> list[tuple[list[T], list[T]]]:
    """Return a feature of the candidates and of the references of each example,
    computed once for each distinct text of a run.

    Parameters
    ----------
    features : Features
        Feature cache of the run.
    batch : Batch
        B examples.
    key : hashable
        Key of the feature in the cache.
    compute : callable
        Maps texts that have no value under the key yet to their values.
    """
    values = features.per_text(key, batch.text_ids.ravel(), compute)
    size = batch.n + batch.m
    starts = range(0, len(values), size)
    return [(values[i : i + batch.n], values[i + batch.n : i + size]) for i in starts]


def mean_of_defined(values: Sequence[float] | np.ndarray) -> float:
    """Return the mean of the values that are not NaN, shape (n,); NaN without any.

    >>> mean_of_defined([0.5, float("nan"), 1.0]), mean_of_defined([float("nan")])
    (0.75, nan)
    """
    numbers = np.asarray(values, dtype=np.float64)
    defined = numbers[~np.isnan(numbers)]
    return float(defined.mean()) if len(defined) else float("nan")
