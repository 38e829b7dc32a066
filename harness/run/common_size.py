"""The smallest common size of the caption sets of a run, and sizes beyond the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True, slots=True)
class CommonSize:
    """Largest numbers of candidates and references that every caption set of a run
    has.
    """

    n: int
    """Number of candidates."""
    m: int
    """Number of references."""
    note: str = ""
    """Description of the cut with the models that determine it;
    empty where all sets have this size.
    """


def common_size(counts: Iterable[tuple[str, np.ndarray, np.ndarray]]) -> CommonSize:
    """Return the common size of caption sets.

    Parameters
    ----------
    counts : iterable of (str, array, array)
        Label of a model, and the numbers of candidates and of references of its
        examples, shapes (B,). A model may occur several times; entries without examples
        do not count.

    Raises
    ------
    ValueError
        No entry has examples.

    Examples
    --------
    >>> one, two = np.array([1]), np.array([2])
    >>> size = common_size([("a", two, one), ("b", one, two)])
    >>> size.n, size.m
    (1, 1)
    >>> of_candidates, of_references = size.note.split(" and ")
    >>> of_candidates
    'sizes: equal cuts all sets to 1 candidate (the fewest, of b)'
    >>> of_references
    '1 reference (the fewest, of a)'
    """
    entries = [(label, sizes) for label, *sizes in counts if len(sizes[0])]
    phrases: list[str] = []
    smallest_sizes: list[int] = []
    for axis, noun in enumerate(("candidate", "reference")):
        smallest: dict[str, int] = {}
        for label, sizes in entries:
            of_entry = int(sizes[axis].min())
            smallest[label] = min(smallest.get(label, of_entry), of_entry)
        label = min(smallest, key=lambda name: smallest[name])
        size = smallest[label]
        smallest_sizes.append(size)

        # Sets that all have this size are not cut.
        if any((sizes[axis] > size).any() for _, sizes in entries):
            text = f"{size} {noun}" if size == 1 else f"{size} {noun}s"
            phrases.append(f"{text} (the fewest, of {label})")

    note = f"sizes: equal cuts all sets to {' and '.join(phrases)}" if phrases else ""
    n, m = smallest_sizes
    return CommonSize(n, m, note)


class SizeNote(NamedTuple):
    """Remark on one size of the grid."""

    text: str
    covered: bool
    """True when a smaller size of the grid already uses all the data,
    so that this size is left out.
    """


def size_note(
    model: str, noun: str, size: int | None, largest: int, grid: Sequence[int | None]
) -> SizeNote | None:
    """Return a note for a size beyond the data, None for a size within it.

    Parameters
    ----------
    model : str
        Label of the model.
    noun : str
        ``candidates`` or ``references``.
    size : int, optional
        Size of the grid; None: all.
    largest : int
        Largest number in the data.
    grid : sequence of int or None
        All sizes of the grid.
    """
    if size is None or size <= largest:
        return None
    smaller = [other for other in grid if other is not None and other < size]
    covered = any(largest <= other for other in smaller)
    effect = "scored with what there is"
    if covered:
        effect = "left out, a smaller size shows all of them"
    text = f"{model} has at most {largest} {noun}, not {size}: {effect}"
    return SizeNote(text, covered)
