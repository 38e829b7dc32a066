"""Columns of the table of ``harness score`` and of its CSV: what stands in a cell, when
a column is shown, and the remarks that belong to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.analysis.comparisons import LEVEL, Comparison
from harness.errors import counted
from harness.reporting.result_groups import full_row
from harness.reporting.table import (
    interval_text,
    number,
    p_text,
    record_heading,
    signed_text,
    size_text,
)
from harness.rundir.records import ResultRecord

ALL = "all"
"""Name of all examples beside slices."""
SLICE_NOTE = (
    "slices: numbers of their examples alone, as are sums over the corpus (BLEU); "
    "what is fitted on references, such as the document "
    "frequencies of CIDEr, is fitted on those of all examples"
)
"""Remark on the numbers of slices."""


@dataclass(frozen=True)
class Result:
    """A result record, that of the baseline, and their comparison."""

    record: ResultRecord
    baseline: ResultRecord | None
    """Record of the baseline; None for the baseline itself,
    and where there is one system.
    """
    row: Comparison | None
    """The comparison; None without a baseline,
    and where no example has scores of both systems.
    """

    @property
    def key(self) -> tuple[str, str, str]:
        """Metric, slice and system."""
        return self.record.metric, self.record.slice or "", self.record.model

    @property
    def sizes_differ(self) -> bool:
        """True for a metric of sets whose sizes are not those of the baseline."""
        if self.row is not None:
            return self.row.better == "sizes differ"
        return (
            self.baseline is not None
            and self.record.level == "set"
            and self.baseline.sizes != self.record.sizes
        )

    @property
    def difference(self) -> float | None:
        """Difference to the baseline on the common examples;
        None where the values are not comparable.
        """
        if self.baseline is None or self.sizes_differ:
            return None
        if self.row is not None and self.row.difference is not None:
            return self.row.difference

        # without a test the values compare where both have all examples
        if self.record.skipped or self.baseline.skipped:
            return None
        if self.record.n != self.baseline.n:
            return None
        return self.record.value - self.baseline.value

    @property
    def significant(self) -> bool:
        """True when the adjusted p-value of the comparison is at most the level and the
        sizes are equal.
        """
        p = None if self.row is None else self.row.p_holm
        return p is not None and p <= LEVEL and not self.sizes_differ


@dataclass(frozen=True)
class PrintedRow:
    """A result as a row of the printed table."""

    result: Result
    remarks: Sequence[int]
    """Numbers of its remarks, which stand below the table."""

    @property
    def record(self) -> ResultRecord:
        """The result record."""
        return self.result.record


@dataclass(frozen=True)
class PrintedRows:
    """All rows of the printed table, metric by metric."""

    lines: Sequence[PrintedRow]
    baseline: str
    draws: int
    """Draws of the comparisons."""
    sliced: bool
    """True where some results are of slices."""
    adjusted: bool
    """True where a metric has several comparisons, for which p is adjusted."""

    @property
    def compared(self) -> list[Result]:
        """Results with a comparison."""
        return [line.result for line in self.lines if line.result.row is not None]

    @property
    def sizes(self) -> set[str]:
        """Sizes of the caption sets of all examples."""
        whole = [line.record for line in self.lines if line.record.slice is None]
        return {size_text(record.sizes) for record in whole}


def _no_notes(lines: PrintedRows) -> list[str]:
    return []


def _always(lines: PrintedRows) -> bool:
    return True


@dataclass(frozen=True)
class PrintedColumn:
    """A column of the printed table."""

    header: str
    alignment: str
    text: Callable[[PrintedRow], str]
    """Text of a cell; a column whose cells are all empty is not shown."""
    shown: Callable[[PrintedRows], bool] = _always
    """True for a table that has the column."""
    notes: Callable[[PrintedRows], list[str]] = _no_notes
    """Remarks below the table on what the column holds."""
    repeated: bool = True
    """False for a column whose cell is empty where the row above has the same text in
    it and in all such columns.
    """
    secondary: bool = False
    """True for a column that a narrow terminal leaves out."""


@dataclass(frozen=True)
class DataColumn:
    """A column of the CSV."""

    name: str
    value: Callable[[Result, str], object]
    """Value for a result and the label of the baseline; None is an empty cell."""


def list_remarks(result: Result) -> list[str]:
    """Return the remarks on a row: reasons for missing tests, examples left out,
    sizes that differ.
    """
    record = result.record
    row = result.row
    baseline_record = result.baseline
    remarks: list[str] = []
    if baseline_record is not None:
        if result.sizes_differ:
            note = row.note if row is not None else ""
            remarks.append(str(note or "sizes differ: not comparable"))
        elif row is None:
            remarks.append("no test: no common scores")
        elif row.note:
            remarks.append(str(row.note))
        elif row.n == 1:
            remarks.append("no test: one example")
        elif row.n < max(record.n, baseline_record.n):
            remarks.append(f"difference on {row.n} common examples")
    if record.skipped:
        remarks.append(
            f"{record.skipped} of {record.n + record.skipped} without a score"
        )
    return remarks


def _slice_notes(lines: PrintedRows) -> list[str]:
    return [SLICE_NOTE] if lines.sliced else []


def _difference_notes(lines: PrintedRows) -> list[str]:
    """Return the remark on differences and how they are tested."""
    systems = {result.record.model for result in lines.compared}
    if not systems:
        return []
    adjusted = ""
    if len(systems) > 1:
        adjusted = (
            f"; p (Holm): adjusted for the {len(systems)} comparisons of a metric"
        )
    return [
        f"difference: to {lines.baseline}; p: approximate randomisation of the "
        f"reported number, {lines.draws} draws{adjusted}"
    ]


def _adjusted_notes(lines: PrintedRows) -> list[str]:
    """Return the remarks on adjusted p-values: those of slices, and stars."""
    notes: list[str] = []
    systems = {result.record.model for result in lines.compared}
    slices = {result.record.slice for result in lines.compared if result.record.slice}
    if slices:
        tests = (
            f"{len(slices) * len(systems)} comparisons of a metric in all "
            f"{counted(len(slices), 'slice')}"
        )
        notes.append(f"p (Holm) of slices: adjusted for the {tests} together")
    if any(result.significant for result in lines.compared):
        starred = "p (Holm)" if lines.adjusted else "p"
        notes.append(f"*: {starred} of at most {LEVEL:g}")
    return notes


def _difference_text(line: PrintedRow) -> str:
    """Return the difference to the baseline; nothing for the baseline itself."""
    if line.result.difference is not None:
        return signed_text(line.result.difference)
    return "" if line.result.baseline is None else "–"


def has_shown_p(result: Result) -> bool:
    """Return True for a result whose comparison has a p-value to show."""
    row = result.row
    return (
        row is not None
        and row.p_value is not None
        and row.n > 1
        and not result.sizes_differ
    )


def _p_text(line: PrintedRow) -> str:
    """Return the p-value of a comparison before its adjustment."""
    row = line.result.row
    if row is not None and has_shown_p(line.result):
        return p_text(row.p_value)
    return "" if line.result.baseline is None else "–"


def _adjusted_text(line: PrintedRow) -> str:
    """Return the adjusted p-value of a comparison, with a star where it is small."""
    row = line.result.row
    if row is not None and has_shown_p(line.result):
        return p_text(row.p_holm) + ("*" if line.result.significant else "")
    return "" if line.result.baseline is None else "–"


def _is_adjusted(lines: PrintedRows) -> bool:
    return lines.adjusted


COLUMNS = (
    PrintedColumn(
        "metric", "l", lambda line: record_heading(line.record), repeated=False
    ),
    PrintedColumn(
        "slice",
        "l",
        lambda line: line.record.slice or ALL,
        shown=lambda lines: lines.sliced,
        notes=_slice_notes,
        repeated=False,
    ),
    PrintedColumn("system", "l", lambda line: line.record.model),
    # a size that all rows have stands in the title
    PrintedColumn(
        "set",
        "r",
        lambda line: size_text(line.record.sizes),
        shown=lambda lines: len(lines.sizes) > 1,
        secondary=True,
    ),
    PrintedColumn(
        "n", "r", lambda line: f"{line.record.n:,}", shown=lambda lines: lines.sliced
    ),
    PrintedColumn("value", "r", lambda line: number(line.record.value)),
    PrintedColumn("95 % interval", "r", lambda line: interval_text(line.record.ci95)),
    PrintedColumn(
        "permutation p",
        "r",
        lambda line: "" if line.record.p_value is None else p_text(line.record.p_value),
    ),
    PrintedColumn(
        "harmonic p",
        "r",
        lambda line: (
            "" if line.record.harmonic_p is None else number(line.record.harmonic_p)
        ),
        secondary=True,
    ),
    PrintedColumn("difference", "r", _difference_text, notes=_difference_notes),
    PrintedColumn("p", "r", _p_text, shown=_is_adjusted, secondary=True),
    PrintedColumn(
        "p (Holm)", "r", _adjusted_text, shown=_is_adjusted, notes=_adjusted_notes
    ),
    # of one comparison of a metric, both would have the same numbers
    PrintedColumn(
        "p",
        "r",
        _adjusted_text,
        shown=lambda lines: not lines.adjusted,
        notes=_adjusted_notes,
    ),
    PrintedColumn("note", "l", lambda line: ", ".join(f"({k})" for k in line.remarks)),
)
"""Columns of the printed table, from left to right."""


def _end(result: Result, place: int) -> object:
    """Return an end of the interval of a difference."""
    row = result.row
    return row.ci95[place] if row is not None and row.ci95 else None


SLICE_COLUMN = DataColumn("slice", lambda result, _: result.record.slice or ALL)
DATA_COLUMNS = (
    *(
        DataColumn(name, lambda result, _, name=name: full_row(result.record)[name])
        for name in ("metric", "higher_is_better")
    ),
    DataColumn("system", lambda result, _: result.record.model),
    *(
        DataColumn(name, lambda result, _, name=name: full_row(result.record)[name])
        for name in (
            "value",
            "ci_low",
            "ci_high",
            "n",
            "skipped",
            "candidates",
            "references",
        )
    ),
    DataColumn("permutation_p", lambda result, _: result.record.p_value),
    DataColumn("harmonic_p", lambda result, _: result.record.harmonic_p),
    DataColumn("baseline", lambda _, baseline: baseline),
    DataColumn("difference", lambda result, _: result.difference),
    DataColumn("difference_ci_low", lambda result, _: _end(result, 0)),
    DataColumn("difference_ci_high", lambda result, _: _end(result, 1)),
    DataColumn("p_value", lambda result, _: result.row and result.row.p_value),
    DataColumn("p_holm", lambda result, _: result.row and result.row.p_holm),
    DataColumn("n_compared", lambda result, _: result.row and result.row.n),
    DataColumn("note", lambda result, _: "; ".join(list_remarks(result))),
)
"""Columns of the CSV."""
