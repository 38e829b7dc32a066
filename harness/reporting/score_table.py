"""The table of ``harness score``: a row per metric and system,
with its difference to a baseline.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.analysis.comparisons import Comparison
from harness.analysis.rankings import BOLD_NOTE, rankings
from harness.errors import counted
from harness.reporting.result_groups import interval_notes, usage_notes
from harness.reporting.score_columns import (
    COLUMNS,
    DATA_COLUMNS,
    SLICE_COLUMN,
    PrintedColumn,
    PrintedRow,
    PrintedRows,
    Result,
    list_remarks,
)
from harness.reporting.table import Table
from harness.rundir.records import ResultRecord

if TYPE_CHECKING:  # the tests of a run take a while to import
    from harness.reporting.compared_systems import Compared

Comparisons = Mapping[tuple[str, str, str], Comparison]
"""(metric, slice, system) -> comparison of the system (``system_a``) with the baseline
(``system_b``).
"""


def score_table(
    records: Sequence[ResultRecord],
    rows: Sequence[Comparison] = (),
    baseline: str = "",
    draws: int = 0,
    compared: Compared | None = None,
) -> Table:
    """Return the table of the records of one run and of the comparisons of its systems
    with the baseline.

    Parameters
    ----------
    records : sequence of ResultRecord
        Results, one per metric and system, and per slice where there are some.
    rows : sequence of Comparison
        Comparisons as of :func:`harness.compare` with ``baseline``, and of
        :func:`harness.analysis.slices.compare_slices`; empty for one system.
    baseline : str
        Label of the baseline; empty for one system.
    draws : int
        Draws of the comparisons, for the note below the table.
    compared : Compared, optional
        Comparisons of all pairs of systems on all examples, which decide what is bold;
        default: ``rows``, which are all pairs of two systems.
    """
    leading = _leading(rows, compared)
    comparisons = {(row.metric, row.slice, row.system_a): row for row in rows}
    groups = _group_results(records, comparisons, baseline)
    ordered = [result for group in groups for result in group]
    starts = [sum(map(len, groups[:index])) for index in range(len(groups))]

    remarks = list(
        dict.fromkeys(remark for result in ordered for remark in list_remarks(result))
    )
    compared_with = {row.system_a for row in rows}
    lines = PrintedRows(
        [
            PrintedRow(
                result, [remarks.index(text) + 1 for text in list_remarks(result)]
            )
            for result in ordered
        ],
        baseline,
        draws,
        sliced=any(record.slice for record in records),
        adjusted=len(compared_with) > 1 or any(row.slice for row in rows),
    )
    columns = [
        column
        for column in COLUMNS
        if column.shown(lines) and any(map(column.text, lines.lines))
    ]

    notes = [note for column in columns for note in column.notes(lines)]
    of_all = [record for record in records if not record.slice]
    notes += interval_notes(of_all, missing_only=True)
    notes += usage_notes(of_all)
    if leading:
        notes.append(BOLD_NOTE)
    if compared and compared.note:
        notes.append(f"not in bold: {compared.note}")
    notes += [f"({k}) {text}" for k, text in enumerate(remarks, 1)]

    headers = [column.header for column in columns]
    value_column = headers.index("value") if ordered else 0
    return Table(
        headers=headers,
        rows=_rows(columns, lines, starts),
        alignment="".join(column.alignment for column in columns),
        title=_title({record.n + record.skipped for record in of_all}, lines.sizes),
        notes=notes,
        bold=frozenset(
            (index, value_column)
            for index, result in enumerate(ordered)
            if result.key in leading
        ),
        groups=frozenset(starts) if len(ordered) > len(starts) else frozenset(),
        data=_csv(ordered, baseline, lines.sliced),
        secondary=tuple(column.header for column in columns if column.secondary),
    )


def _rows(
    columns: Sequence[PrintedColumn], lines: PrintedRows, starts: Container[int]
) -> list[list[str]]:
    """Return the cells of the table, those that repeat the row above empty; ``starts``
    are the first rows of the metrics.
    """
    rows: list[list[str]] = []
    above: list[str] = []
    for index, line in enumerate(lines.lines):
        cells = [column.text(line) for column in columns]
        is_new = index in starts
        row: list[str] = []
        for place, column in enumerate(columns):
            if not column.repeated:
                is_new = is_new or cells[place] != above[place]
            row.append(cells[place] if column.repeated or is_new else "")
        rows.append(row)
        above = cells
    return rows


def _group_results(
    records: Sequence[ResultRecord], compared: Comparisons, baseline: str
) -> list[list[Result]]:
    """Return the results by metric, in the order of the records, those of all examples
    first and then slice by slice.
    """
    others = {
        (record.metric, record.slice): record
        for record in records
        if record.model == baseline
    }
    slices = list(dict.fromkeys(record.slice for record in records))

    def place(record: ResultRecord) -> tuple[bool, int]:
        return record.slice is not None, slices.index(record.slice)

    groups: dict[str, list[Result]] = {}
    for record in sorted(records, key=place):
        baseline_record = others.get((record.metric, record.slice))
        if record.model == baseline:
            baseline_record = None
        row = compared.get((record.metric, record.slice or "", record.model))
        result = Result(record, baseline_record, row)
        groups.setdefault(record.metric, []).append(result)
    return list(groups.values())


def _leading(
    rows: Sequence[Comparison], compared: Compared | None
) -> set[tuple[str, str, str]]:
    """Return metric, slice and system of the values in bold: the best ones of all
    examples, and of each slice.
    """
    leading: set[tuple[str, str, str]] = set()
    for part in dict.fromkeys(["", *(row.slice for row in rows)]):
        tested = (
            [row for row in rows if row.slice == part]
            if part or compared is None
            else compared.rows
        )
        ranked = rankings(tested)
        leading |= {
            (metric, part, item.system)
            for metric, systems in ranked.items()
            for item in systems
            if item.leads
        }
    return leading


def _title(counts: set[int], sizes: set[str]) -> str:
    examples = ", ".join(counted(count, "example") for count in sorted(counts))
    if len(sizes) != 1 or "" in sizes:
        return examples
    (size,) = sizes
    return f"{examples}, {size} captions (candidates + references)"


def _csv(results: Sequence[Result], baseline: str, sliced: bool) -> list[list[object]]:
    """Return the header and the rows of the CSV, with ``slice`` in front where there
    are slices.
    """
    columns = [*([SLICE_COLUMN] if sliced else []), *DATA_COLUMNS]
    header: list[object] = [column.name for column in columns]
    rows = [
        [column.value(result, baseline) for column in columns] for result in results
    ]
    return [header, *rows]
