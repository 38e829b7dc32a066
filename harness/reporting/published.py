"""Rows of published values in a table view: theirs below ours, and the difference."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.reporting.table import signed_text
from harness.spec.published import EVERY, PublishedRow, PublishedTable

NOT_PUBLISHED = "not published"
"""Cell without a published value."""
OTHER_DATA = "other data only"
"""Cell of a run whose data are not those of any published row."""
Row = tuple[str, tuple[object, ...]]


def add_published_rows(
    rows: Sequence[tuple[str, Sequence[float]]], heads: Sequence[str], table: PublishedTable, task: str
) -> tuple[Row, ...]:
    """Return the rows of a view, each followed by the published values and by ours minus theirs.

    Parameters
    ----------
    rows : sequence of (label, values)
        Rows of the view, a value per column.
    heads : sequence of str
        Columns of the view.
    table : PublishedTable
        Published rows. Rows of another task are left out; those that name no row of the view follow at the end, without a difference.
    task : str
        Task of the run.
    """
    published = [row for row in table.rows if row.task in (None, task)]
    out: list[Row] = []
    compared: set[int] = set()
    for label, values in rows:
        out.append((label, tuple(values)))
        matches = [(index, row) for index, row in enumerate(published) if row.label in (label, EVERY)]
        compared.update(index for index, _ in matches)
        for _, row in matches:
            out.append((_title(row), _cells(row, heads)))
            differences = tuple(_difference(value, row.values.get(head)) for value, head in zip(values, heads))
            if any(differences):
                out.append(("ours − published", differences))
        if not matches and published:
            out.append(("published", (NOT_PUBLISHED,) * len(heads)))
    out += [(_title(row), _cells(row, heads)) for i, row in enumerate(published) if i not in compared]
    if not published:
        out.append(("published", (OTHER_DATA,) * len(heads)))
    return tuple(out)


def _title(row: PublishedRow) -> str:
    return f"published: {row.title}" if row.title else "published"


def _cells(row: PublishedRow, heads: Sequence[str]) -> tuple[object, ...]:
    return tuple(row.values.get(head, NOT_PUBLISHED) for head in heads)


def _difference(value: float, published_value: float | str | None) -> str:
    return signed_text(value - published_value) if isinstance(published_value, float) and not math.isnan(value) else ""
