"""A promise: a sentence that states an error rate or a coverage,
with what measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class Cell:
    """One measured rate: of runs of one case,
    those that did what the promise speaks of.
    """

    case: str
    hits: int
    runs: int

    @property
    def rate(self) -> float:
        """Share of the runs; NaN without any."""
        return self.hits / self.runs if self.runs else float("nan")


@dataclass(frozen=True)
class Promise:
    """A sentence of the documentation that states a rate."""

    name: str
    """Name on the command line."""
    sentence: str
    """The sentence, as a reader of the documentation reads it."""
    places: Sequence[str]
    """Files that state it."""
    goal: float
    """Limit of the rate of every cell."""
    measure: Callable[[bool], Sequence[Cell]]
    """``full`` -> cells. The quick measurement takes about a minute at most."""
    at_least: bool = False
    """The goal is the smallest rate (a coverage); False: the largest (an error rate).
    """
    exact: bool = False
    """The goal is meant without the margin of two standard errors of the simulation."""

    def holds(self, cell: Cell) -> bool:
        """Return whether the rate of a cell keeps the goal,
        within two standard errors of its simulation.
        """
        margin = (
            0.0
            if self.exact
            else 2 * sqrt(self.goal * (1 - self.goal) / max(cell.runs, 1))
        )
        return (
            cell.rate >= self.goal - margin
            if self.at_least
            else cell.rate <= self.goal + margin
        )

    def worst(self, cells: Sequence[Cell]) -> Cell:
        """Return the cell that is farthest on the wrong side."""
        return (min if self.at_least else max)(cells, key=lambda cell: cell.rate)
