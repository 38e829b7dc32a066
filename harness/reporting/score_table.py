"""The table of ``harness score``: a row per metric and system,
with its difference to a baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.analysis.comparisons import LEVEL, Comparison
from harness.analysis.rankings import BOLD_NOTE, rankings
from harness.errors import counted
from harness.reporting.result_groups import full_row, usage_notes
from harness.reporting.table import (
    Table,
    interval_text,
    number,
    p_text,
    record_heading,
    signed_text,
    size_text,
)
from harness.rundir.records import ResultRecord

if TYPE_CHECKING:  # charts take a while to import
    from harness.reporting.compared_systems import Compared

Comparisons = Mapping[tuple[str, str, str], Comparison]
"""(metric, slice, system) -> comparison of the system (``system_a``) with the baseline
(``system_b``).
"""
HEADERS = {
    "metric": "l",
    "slice": "l",
    "system": "l",
    "set": "r",
    "n": "r",
    "value": "r",
    "95 % interval": "r",
    "permutation p": "r",
    "harmonic p": "r",
    "difference": "r",
    "p": "r",
    "p (Holm)": "r",
    "note": "l",
}
"""Columns of the table and their alignment; columns without content are left out."""
DATA = (
    "metric",
    "higher_is_better",
    "system",
    "value",
    "ci_low",
    "ci_high",
    "n",
    "skipped",
    "candidates",
    "references",
    "permutation_p",
    "harmonic_p",
    "baseline",
    "difference",
    "difference_ci_low",
    "difference_ci_high",
    "p_value",
    "p_holm",
    "n_compared",
    "note",
)
"""Columns of the CSV, with ``slice`` in front where there are slices."""
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
    sliced = any(record.slice for record in records)
    comparisons = {(row.metric, row.slice, row.system_a): row for row in rows}
    groups = _group_results(records, comparisons, baseline)
    ordered = [result for group in groups for result in group]
    starts = [sum(map(len, groups[:index])) for index in range(len(groups))]

    remarks = list(
        dict.fromkeys(remark for result in ordered for remark in _remarks(result))
    )
    compared_with = {row.system_a for row in rows}
    adjusted = len(compared_with) > 1 or any(row.slice for row in rows)
    lines = [_line(result, remarks, sliced) for result in ordered]
    # of one comparison of a metric, both columns would have the same numbers
    if not adjusted:
        for line in lines:
            line["p"] = line["p (Holm)"]
            line["p (Holm)"] = ""
    _clear_repetitions(lines, ordered, starts)

    # a size that all rows have stands in the title
    whole = [result.record for result in ordered if result.record.slice is None]
    sizes = {size_text(record.sizes) for record in whole}
    used = [
        name
        for name in HEADERS
        if any(line[name] for line in lines) and (name != "set" or len(sizes) > 1)
    ]

    notes = _notes(ordered, baseline, draws, "p (Holm)" if adjusted else "p")
    notes += usage_notes([record for record in records if not record.slice])
    if leading:
        notes.append(BOLD_NOTE)
    if compared and compared.note:
        notes.append(f"not in bold: {compared.note}")
    notes += [f"({k}) {text}" for k, text in enumerate(remarks, 1)]

    value_column = used.index("value") if lines else 0
    return Table(
        headers=used,
        rows=[[line[name] for name in used] for line in lines],
        alignment="".join(HEADERS[name] for name in used),
        title=_title({record.n + record.skipped for record in whole}, sizes),
        notes=notes,
        bold=frozenset(
            (index, value_column)
            for index, result in enumerate(ordered)
            if result.key in leading
        ),
        groups=frozenset(starts) if len(ordered) > len(starts) else frozenset(),
        data=_csv(ordered, baseline, sliced),
        secondary=(*(["p"] if adjusted else []), "harmonic p", "set"),
    )


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


def _line(result: Result, remarks: Sequence[str], sliced: bool) -> dict[str, str]:
    """Return the cells of a result by column;
    ``note`` has the numbers of its remarks.
    """
    record = result.record
    row = result.row
    no_number = "" if result.baseline is None else "–"
    numbers = [remarks.index(remark) + 1 for remark in _remarks(result)]
    cells = {
        "metric": record_heading(record),
        "slice": (record.slice or ALL) if sliced else "",
        "n": f"{record.n:,}" if sliced else "",
        "system": record.model,
        "set": size_text(record.sizes),
        "value": number(record.value),
        "95 % interval": interval_text(record.ci95),
        "permutation p": "" if record.p_value is None else p_text(record.p_value),
        "harmonic p": "" if record.harmonic_p is None else number(record.harmonic_p),
        "difference": no_number,
        "p": no_number,
        "p (Holm)": no_number,
        "note": ", ".join(f"({number_of_remark})" for number_of_remark in numbers),
    }
    if result.difference is not None:
        cells["difference"] = signed_text(result.difference)
    if (
        row is not None
        and row.p_value is not None
        and row.n > 1
        and not result.sizes_differ
    ):
        cells["p"] = p_text(row.p_value)
        cells["p (Holm)"] = p_text(row.p_holm) + ("*" if result.significant else "")
    return cells


def _clear_repetitions(
    lines: Sequence[dict[str, str]], results: Sequence[Result], starts: Sequence[int]
) -> None:
    """Empty the cells of metric and slice in all rows but the first that has them;
    ``starts`` are the first rows of the metrics.
    """
    for index in set(range(len(lines))) - set(starts):
        lines[index]["metric"] = ""
        if lines[index]["slice"] == (results[index - 1].record.slice or ALL):
            lines[index]["slice"] = ""


def _remarks(result: Result) -> list[str]:
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


def _notes(
    results: Sequence[Result], baseline: str, draws: int, starred: str
) -> list[str]:
    """Return the remarks on differences and their p-values; ``starred`` is the header
    of the column with stars.
    """
    notes: list[str] = []
    if any(result.record.slice for result in results):
        notes.append(SLICE_NOTE)
    systems = {result.record.model for result in results if result.row is not None}
    if not systems:
        return notes

    adjusted = ""
    if len(systems) > 1:
        adjusted = (
            f"; p (Holm): adjusted for the {len(systems)} comparisons of a metric"
        )
    notes.append(
        f"difference: to {baseline}; p: approximate randomisation of the reported "
        f"number, {draws} draws{adjusted}"
    )

    slices = {
        result.record.slice
        for result in results
        if result.record.slice and result.row is not None
    }
    if slices:
        tests = (
            f"{len(slices) * len(systems)} comparisons of a metric in all "
            f"{counted(len(slices), 'slice')}"
        )
        notes.append(f"p (Holm) of slices: adjusted for the {tests} together")
    if any(result.significant for result in results):
        notes.append(f"*: {starred} of at most {LEVEL:g}")
    return notes


def _csv(results: Sequence[Result], baseline: str, sliced: bool) -> list[list[object]]:
    """Return the header and the rows of the CSV."""
    rows: list[list[object]] = [
        list(DATA),
        *(_data(result, baseline) for result in results),
    ]
    if not sliced:
        return rows
    names = ["slice", *(result.record.slice or ALL for result in results)]
    return [[name, *row] for name, row in zip(names, rows)]


def _data(result: Result, baseline: str) -> list[object]:
    """Return the values of a result in the order of :data:`DATA`;
    None becomes an empty cell.
    """
    row = result.row
    low, high = (row and row.ci95) or (None, None)
    values = full_row(result.record) | {
        "system": result.record.model,
        "permutation_p": result.record.p_value,
        "baseline": baseline,
        "difference": result.difference,
        "difference_ci_low": low,
        "difference_ci_high": high,
        "p_value": row and row.p_value,
        "p_holm": row and row.p_holm,
        "n_compared": row and row.n,
        "note": "; ".join(_remarks(result)),
    }
    return [values[name] for name in DATA]
