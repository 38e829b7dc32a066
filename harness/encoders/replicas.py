"""Copies of a model on several devices: each encodes its share of the items at the
same time.

The shares depend on the items and the number of copies alone, so that a second run has
the bits of the first. A vector does not depend on its share beyond the 1e-6 by which it
depends on its batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from harness.encoders.precision import Precision, computing

T = TypeVar("T")
R = TypeVar("R")


def divide_shares(sizes: Sequence[int], copies: int) -> list[list[int]]:
    """Return the item numbers of each copy, shares of nearly equal work: items in the
    order of their sizes are dealt like cards.

    >>> divide_shares([9, 1, 8, 2], 2)
    [[1, 2], [3, 0]]
    """
    order = sorted(range(len(sizes)), key=lambda item: sizes[item])
    return [order[copy::copies] for copy in range(copies)]


def spread(
    items: Sequence[T],
    sizes: Sequence[int],
    copies: Sequence[Callable[[list[T]], Iterable[R]]],
    precision: Precision,
) -> list[R]:
    """Return the results of items, in their order; each copy of a model works in a
    thread of its own.

    Parameters
    ----------
    items : sequence
        Items to encode.
    sizes : sequence of int
        Size of each item, such as the length of a text.
    copies : sequence of callable
        Function of each copy, from items to one result per item. Its errors are raised
        after the other copies have ended.
    precision : str
        Number format of the forward passes.
    """
    if len(copies) == 1:
        return list(copies[0](list(items)))

    shares = divide_shares(sizes, len(copies))
    results: dict[int, R] = {}
    # The settings of products are those of the process: set before the threads begin,
    # they hold until the last one ends.
    with computing(precision), ThreadPoolExecutor(len(copies)) as pool:
        futures = [
            pool.submit(encode, [items[k] for k in share])
            for encode, share in zip(copies, shares)
            if share
        ]
    for share, future in zip(shares, futures):
        results.update(zip(share, future.result(), strict=True))
    return [results[k] for k in range(len(items))]


def spread_vectors(
    items: Sequence[T],
    sizes: Sequence[int],
    copies: Sequence[Callable[[list[T]], np.ndarray]],
    precision: Precision,
) -> np.ndarray:
    """Return the vectors of items, float32, shape (T, d); see :func:`spread`."""
    if len(copies) == 1 or not items:
        return copies[0](list(items))
    vectors: list[np.ndarray] = spread(items, sizes, copies, precision)
    return np.stack(vectors)
