"""Notes on grid sizes that exceed the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class SizeNote(NamedTuple):
    """Remark on one size of the grid."""

    text: str
    covered: bool
    """True when a smaller size of the grid already uses all the data, so that this size is left out."""


def size_note(model: str, noun: str, size: int | None, largest: int, grid: Sequence[int | None]) -> SizeNote | None:
    """Return a note for a size beyond the data, None for a size within it.

    Parameters
    ----------
    model : str
        Label of the model.
    what : str
        ``candidates`` or ``references``.
    size : int, optional
        Size of the grid; None: all.
    most : int
        Largest number in the data.
    grid : sequence of int or None
        All sizes of the grid.
    """
    if size is None or size <= largest:
        return None
    covered = any(grid_size is not None and largest <= grid_size < size for grid_size in grid)
    effect = "left out, a smaller size shows all of them" if covered else "scored with what there is"
    return SizeNote(f"{model} has at most {largest} {noun}, not {size}: {effect}", covered)
