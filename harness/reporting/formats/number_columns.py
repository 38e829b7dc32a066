"""Columns of numbers, for formats that align decimal points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from harness.reporting.table import Table

_NUMBER = re.compile(r"(?P<sign>[-+]?)(?P<whole>\d+)(?:\.(?P<decimals>\d+))?(?:e\+?(?P<power>-?\d+))?(?P<star>\*?)")
MINUS = re.compile(r"(?<![\w.\-])-(?=\d)")
"""A hyphen that is the sign of a number: no letter, digit, point or other minus precedes it, so gpt-2 and 1e-05 keep theirs."""
Numbers = Sequence[re.Match[str] | None]
"""A match per row with the groups ``sign``, ``whole``, ``decimals``, ``power`` and ``star``; None for a cell that is no number."""


def number_columns(table: Table) -> Mapping[int, Numbers]:
    """Return column -> its numbers for each right-aligned column of numbers; other cells of it are empty, dashes, words or bounds of p.

    >>> number_columns(Table(["a", "b"], [["1.5", "2 to 3"], ["–", "4"]], "rr")).keys()
    dict_keys([0])
    """
    columns = {k: [_NUMBER.fullmatch(row[k]) for row in table.rows] for k, letter in enumerate(table.alignment) if letter == "r"}
    others = {k: " ".join(row[k].partition("< ")[0] for row, found in zip(table.rows, columns[k]) if not found) for k in columns}
    return {k: numbers for k, numbers in columns.items() if any(numbers) and not re.search(r"\d", others[k])}


def longest(numbers: Numbers, group: str) -> int:
    """Return the largest number of characters of a group."""
    return max(len(found[group] or "") for found in numbers if found)


def longest_mark(table: Table, column: int) -> str:
    """Return the longest mark of a column; empty for a column without marks."""
    return max((mark for (_, k), mark in table.marks.items() if k == column), key=len, default="")
