"""The order of examples in which resamples are drawn: that of their names, so that no
interval depends on the order of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

_NUMBER = re.compile(r"([0-9]+)")
NameKey = tuple[tuple[str | tuple[int, str], ...], str]
"""Texts and numbers of a name in turn, and the name."""


def name_key(name: str) -> NameKey:
    """Return the key by which a name is sorted: numbers in it by their size, the texts
    between them by their characters.

    >>> sorted(["video10", "video9", "1", "clip"], key=name_key)
    ['1', 'clip', 'video9', 'video10']
    """
    # Texts are at even positions, numbers at odd ones: equal positions compare.
    keys = tuple(
        _number_key(part) if position % 2 else part
        for position, part in enumerate(_NUMBER.split(name))
    )
    return keys, name


def _number_key(digits: str) -> tuple[int, str]:
    """Return the key of a number of any size: Python makes no integers of more than
    4,300 digits.
    """
    significant = digits.lstrip("0")
    return len(significant), significant


def is_in_order(names: Iterable[str]) -> bool:
    """Return True for names in their order."""
    return all(a <= b for a, b in pairwise(map(name_key, names)))


def order_of_names(names: Sequence[str]) -> np.ndarray | None:
    """Return the positions of N names in their order, int64, shape (N,); None where
    that is the order that they have.

    >>> order_of_names(["10", "9", "a"]), order_of_names(["9", "10", "a"])
    (array([1, 0, 2]), None)
    """
    if is_in_order(names):
        return None
    keys = [name_key(name) for name in names]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def ranks_of_names(names: Sequence[str]) -> np.ndarray:
    """Return the rank from 0 of each of N names in their order, int64, shape (N,).

    >>> ranks_of_names(["10", "9", "a"])
    array([1, 0, 2])
    """
    order = order_of_names(names)
    return np.arange(len(names)) if order is None else np.argsort(order)


def restrict_order(order: np.ndarray | None, mask: np.ndarray) -> np.ndarray | None:
    """Return the order of the members of a mask (N,) among themselves, from the order
    (N,) of all; None for the order that they have.

    >>> restrict_order(np.array([3, 1, 0, 2]), np.array([True, False, True, True]))
    array([2, 0, 1])
    """
    if order is None:
        return None
    members = order[mask[order]]
    return (np.cumsum(mask) - 1)[members]
