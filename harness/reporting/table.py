"""The table that all formats show: numbers as texts, cells, what is bold and marked,
the numbers in full; names of metrics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from harness.registry.display_names import display_name
from harness.rundir.records import ResultRecord

ARROWS = {True: "↑", False: "↓", None: " "}
"""Direction of a metric: higher is better, lower is better, no direction."""
Numbers = Sequence[re.Match[str] | None]
"""A match per row with the groups ``sign``, ``whole``, ``decimals``, ``power`` and
``star``; None for a cell that is no number.
"""
_NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?P<whole>\d+)(?:\.(?P<decimals>\d+))?"
    r"(?:e\+?(?P<power>-?\d+))?(?P<star>\*?)"
)
MINUS = re.compile(r"(?<![\w.\-])-(?=\d)")
"""A hyphen that is the sign of a number: no letter, digit, point or other minus
precedes it, so gpt-2 and 1e-05 keep theirs.
"""


def heading(metric: str, higher_is_better: bool | None, signature: str = "") -> str:
    """Return the name of a metric (:func:`~harness.reporting.table.display_name`) with
    the arrow of its direction.
    """
    return f"{display_name(metric, signature)} {ARROWS[higher_is_better]}".strip()


def record_heading(record: ResultRecord) -> str:
    """Return the name of a record's metric with the arrow of its direction."""
    return heading(record.metric, record.higher_is_better, record.signature)


class Percent(float):
    """A value times 100, which has two decimals in tables, as in papers."""

    @classmethod
    def of(cls, value: float) -> Percent:
        """Return a value times 100."""
        return cls(100.0 * value)


def number(value: object) -> str:
    """Return four significant digits, at least three decimals below 10;
    a dash for None and NaN.

    >>> (
    ...     number(0.12345),
    ...     number(1234567.0),
    ...     number(float("nan")),
    ...     number(Percent.of(0.0812)),
    ... )
    ('0.1235', '1.23e+06', '–', '8.12')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, Percent):
        return f"{value:.2f}"
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e6):
        return f"{value:.3g}"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}"


def p_text(value: float | None) -> str:
    """Return a p-value as :func:`number` does, and a bound below 1e-300,
    where floats end.

    >>> p_text(0.012), p_text(1e-305)
    ('0.0120', '< 1e-300')
    """
    return "< 1e-300" if value is not None and value < 1e-300 else number(value)


def signed_text(value: object) -> str:
    """Return a number as :func:`number` does, with its sign.

    >>> signed_text(0.5), signed_text(-0.5), signed_text(0.0)
    ('+0.5000', '-0.5000', '0.0000')
    """
    sign = "+" if isinstance(value, (int, float)) and value > 0 else ""
    return f"{sign}{number(value)}"


def interval_text(interval: Sequence[float] | None) -> str:
    """Return an interval as text; a dash for None.

    >>> interval_text((0.5, 0.75)), interval_text(None)
    ('0.5000 … 0.7500', '–')
    """
    return f"{number(interval[0])} … {number(interval[1])}" if interval else "–"


def size_text(sizes: Mapping[str, Sequence[int]] | None) -> str:
    """Return the set sizes of a record: ``12 + 4``, ``1-3 + 5`` where they differ.

    >>> size_text({"candidates": [1, 3], "references": [5]})
    '1-3 + 5'
    """
    texts: list[str] = []
    for name in ("candidates", "references"):
        values = (sizes or {}).get(name)
        if values:
            texts.append(str(values[0]) + (f"-{values[-1]}" if values[1:] else ""))
    return " + ".join(texts)


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
    """Headers, rows of texts, marks and notes; :mod:`harness.reporting.formats` has a
    function for each format.
    """

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
    marks: Mapping[tuple[int, int], str] = field(
        default_factory=dict[tuple[int, int], str]
    )
    """Letters set high behind the text of cells, by (row, column)."""
    bars: Mapping[tuple[int, int], Bar] = field(
        default_factory=dict[tuple[int, int], Bar]
    )
    """Interval bars of cells, by (row, column)."""
    data: Sequence[Sequence[object]] = ()
    """Header and rows of the CSV, numbers in full; empty: ``headers`` and ``rows``."""
    secondary: Sequence[str] = ()
    """Headers of the columns that a narrow terminal leaves out, the first one first."""

    def cells(self) -> Iterator[list[TableCell]]:
        """Yield the cells of each row."""
        for i, row in enumerate(self.rows):
            yield [
                TableCell(
                    text,
                    (i, k) in self.bold,
                    self.marks.get((i, k), ""),
                    self.bars.get((i, k)),
                )
                for k, text in enumerate(row)
            ]

    def select(self, columns: Sequence[int]) -> Table:
        """Return the table with some of its columns, for a terminal:
        bars and the CSV stay behind.
        """
        places = {column: k for k, column in enumerate(columns)}
        return replace(
            self,
            headers=[self.headers[k] for k in columns],
            rows=[[row[k] for k in columns] for row in self.rows],
            alignment="".join(self.alignment[k] for k in columns),
            bold=frozenset((i, places[k]) for i, k in self.bold if k in places),
            marks={
                (i, places[k]): mark
                for (i, k), mark in self.marks.items()
                if k in places
            },
            bars={},
            data=(),
        )


def number_columns(table: Table) -> Mapping[int, Numbers]:
    """Return column -> its numbers for each right-aligned column of numbers; other
    cells of it are empty, dashes, words or bounds of p.

    >>> number_columns(Table(["a", "b"], [["1.5", "2 to 3"], ["–", "4"]], "rr")).keys()
    dict_keys([0])
    """
    columns: dict[int, Numbers] = {}
    for k, letter in enumerate(table.alignment):
        if letter != "r":
            continue
        texts = [row[k] for row in table.rows]
        numbers = [_NUMBER.fullmatch(text) for text in texts]
        # the digits of a bound of p, such as "< 1e-300", do not count
        others = [
            text.partition("< ")[0]
            for text, match in zip(texts, numbers)
            if match is None
        ]
        if any(numbers) and not re.search(r"\d", " ".join(others)):
            columns[k] = numbers
    return columns


def longest(numbers: Numbers, group: str) -> int:
    """Return the largest number of characters of a group."""
    return max(len(match[group] or "") for match in numbers if match)


def longest_mark(table: Table, column: int) -> str:
    """Return the longest mark of a column; empty for a column without marks."""
    marks = [mark for (_, k), mark in table.marks.items() if k == column]
    return max(marks, key=len, default="")


class Labelled(Protocol):
    """A result, comparison or other row that belongs to a metric."""

    @property
    def metric(self) -> str:
        """Code label."""
        ...

    @property
    def signature(self) -> str:
        """Signature of the metric."""
        ...


def shown_name(row: Labelled) -> str:
    """Return the name of the metric of a record or comparison."""
    return display_name(row.metric, row.signature)


def shown_names(rows: Iterable[Labelled]) -> dict[str, str]:
    """Return label -> name, in the order of the rows; labels that would share a name
    have their code labels behind it.
    """
    names = {row.metric: shown_name(row) for row in rows}
    shared = [name for name in names.values() if list(names.values()).count(name) > 1]
    return {
        label: f"{name} ({label})" if name in shared else name
        for label, name in names.items()
    }


def shown_quantity(text: str, names: Mapping[str, str]) -> str:
    """Return a quantity of a view, such as ``p:cider`` or ``metric:cider``,
    with the name of its metric.

    >>> shown_quantity("log p:cider", {"cider": "CIDEr-D"}), shown_quantity("*", {})
    ('log p:CIDEr-D', '*')
    """
    head, colon, metric = text.rpartition(":")
    return names.get(text) or f"{head}{colon}{names.get(metric, metric)}"
