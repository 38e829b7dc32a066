"""The table that all formats show: texts of cells, with what is bold, marked and set apart, and the numbers in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Bar(NamedTuple):
    """An interval and its number on a common scale from 0 to 1."""

    low: float
    high: float
    value: float


class TableCell(NamedTuple):
    """The text of a cell with its look."""

    text: str
    bold: bool
    mark: str
    """Letters set high behind the text; empty for none."""
    bar: Bar | None = None
    """Drawn below the text by formats that can."""


@dataclass(frozen=True)
class Table:
    """Headers, rows of texts, marks and notes; :mod:`harness.reporting.formats` has a function for each format."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    """Texts of the cells; a text may have several lines."""
    alignment: str
    """One letter per column: ``l`` or ``r``."""
    title: str = ""
    notes: Sequence[str] = ()
    """Lines below the table."""
    bold: frozenset[tuple[int, int]] = frozenset()
    """Cells in bold, as (row, column)."""
    groups: frozenset[int] = frozenset()
    """Rows that begin a group; a rule or a space precedes them."""
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    """Letters set high behind the text of cells, by (row, column)."""
    bars: Mapping[tuple[int, int], Bar] = field(default_factory=dict[tuple[int, int], Bar])
    """Interval bars of cells, by (row, column)."""
    data: Sequence[Sequence[object]] = ()
    """Header and rows of the CSV, numbers in full; empty: ``headers`` and ``rows``."""

    def cells(self) -> Iterator[list[TableCell]]:
        """Yield the cells of each row."""
        for i, row in enumerate(self.rows):
            yield [
                TableCell(text, (i, k) in self.bold, self.marks.get((i, k), ""), self.bars.get((i, k)))
                for k, text in enumerate(row)
            ]
