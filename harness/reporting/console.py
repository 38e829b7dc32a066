"""Tables in the terminal: metric by metric, best model first."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from harness.files.secrets import redact
from harness.reporting.interval_notes import interval_notes
from harness.reporting.numbers import ARROWS, number, p_text, size_text
from harness.reporting.tables import Sheet, least_width, render, terminal_table
from harness.reporting.verdicts import METHOD_NOTE, verdict_table
from harness.reporting.views import view_table
from harness.rundir.records import ResultRecord, decoding_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from harness.run.finished import Run
    from harness.spec.models import ViewSpec

MAX_WIDTH = 110
"""Width in characters beyond which a view's table is transposed."""
MAX_FAILURES = 5
"""Maximum number of failed examples printed."""
SIZE_NOTE = "the value depends on the set size (candidates + references): rows compare within one size only"
"""Remark on a metric of level ``set`` whose rows have several set sizes."""
Sizes: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


def sort_key(record: ResultRecord) -> float:
    """Return a key that sorts the best value first and undefined values last."""
    if math.isnan(record.value):
        return math.inf
    return -record.value if record.higher_is_better else record.value


def grouped(records: Sequence[ResultRecord]) -> list[list[ResultRecord]]:
    """Return the records by metric, best first within a metric that has a direction.

    The records of a metric of level ``set`` are also divided by set size, since its values compare within one size only.
    Groups are in the order of first appearance; those of one metric follow each other.
    """
    metrics: dict[str, dict[Sizes, list[ResultRecord]]] = {}
    for record in records:
        metrics.setdefault(record.metric, {}).setdefault(_compared_sizes(record), []).append(record)
    return [
        sorted(group, key=sort_key) if group[0].higher_is_better is not None else group
        for groups in metrics.values()
        for group in groups.values()
    ]


def _compared_sizes(record: ResultRecord) -> Sizes:
    """Return the set sizes within which values compare: those of a metric of level ``set``, else an empty tuple."""
    if record.level != "set":
        return ()
    return tuple((name, tuple(sizes)) for name, sizes in (record.sizes or {}).items())


def divided_metrics(groups: Sequence[Sequence[ResultRecord]]) -> list[str]:
    """Return the names of the metrics that have several groups, in order."""
    counts = Counter(group[0].metric for group in groups)
    return [name for name, count in counts.items() if count > 1]


def p_notes(records: Sequence[ResultRecord]) -> dict[str, list[str]]:
    """Return reason -> metrics, for the records without a requested p-value, in the order of first appearance."""
    notes: dict[str, list[str]] = {}
    for record in records:
        if record.p_note is not None and record.metric not in notes.setdefault(record.p_note, []):
            notes[record.p_note].append(record.metric)
    return notes


def console_for_tables(width: int = 160) -> Console:
    """Return a console on stdout: as wide as the terminal, or ``width`` characters when stdout is no terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=width)


def print_sheet(sheet: Sheet, form: str = "table") -> None:
    """Print a table on stdout in a format of :data:`harness.reporting.tables.FORMATS` other than ``json``."""
    from rich.markup import escape

    if form != "table":
        sys.stdout.write(render(sheet, form))
        return
    console = console_for_tables()
    if sheet.title:
        console.print(f"[dim]{escape(sheet.title)}[/dim]", soft_wrap=True)
    console.width = max(console.width, least_width(sheet))
    console.print(terminal_table(sheet))
    for note in sheet.notes:
        console.print(f"[dim]{escape(note)}[/dim]", soft_wrap=True)


def print_table(run: Run) -> None:
    """Print the results of a run, its failures, views and notes, and its directory."""
    from rich.markup import escape

    console = console_for_tables()
    console.print(_results(run))
    for line in _footnotes(run.records):
        console.print(f"[dim]{escape(line)}[/dim]", soft_wrap=True)
    for name, reason in list(run.failed.items())[:MAX_FAILURES]:
        console.print(f"[red]failed[/red] {escape(name)}: {escape(redact(reason))}")
    if len(run.failed) > MAX_FAILURES:
        console.print(f"[red]... and {len(run.failed) - MAX_FAILURES} more failed[/red]")
    for line in interval_notes(run.records):
        console.print(f"[dim]{escape(line)}[/dim]", soft_wrap=True)
    for view in run.provenance.views:
        if view.plot in ("table", "verdicts"):
            _print_view(console, view, run)
    for note in run.notes:
        console.print(f"[yellow]note[/yellow] {escape(note)}", soft_wrap=True)
    if run.provenance.variant:
        console.print(f"data: [bold]{run.provenance.variant}[/bold], {run.provenance.data.get('examples')} examples")
    if run.path:
        console.print(f"run: {run.path}  (harness report {run.path} makes a page of it)", soft_wrap=True)


def _results(run: Run) -> Table:
    """Return all records as one table; columns that are empty in this run are left out."""
    from rich.markup import escape
    from rich.table import Table

    decodings = {decoding_text(record.decoding) for record in run.records}
    same = f"  {escape(next(iter(decodings)))}" if len(decodings) == 1 else ""
    title = f"{run.provenance.task or 'suite'}  [dim]{run.provenance.signature}[/dim]{same}"
    table = Table(title=title, title_justify="left", header_style="bold", show_edge=False, pad_edge=False)
    several = ["decoding"] if len(decodings) > 1 else []
    marks = {reason: number for number, reason in enumerate(p_notes(run.records), start=1)}
    any_p = any(record.p_value is not None for record in run.records)
    tested = [*(["p"] if marks or any_p else []), *(["harmonic p"] if any_p else [])]
    words = ["metric", "model", "set", *several]
    for header in (*words, "value", "95 % interval", *tested, "n", "skipped"):
        table.add_column(header, justify="left" if header in words else "right", no_wrap=True)
    for group in grouped(run.records):
        for index, record in enumerate(group):
            ci = record.ci95
            cells = [
                escape(f"{record.metric} {ARROWS[record.higher_is_better]}") if index == 0 else "",
                escape(record.model),
                size_text(record.sizes),
                *(escape(decoding_text(record.decoding)) for _ in several),
                number(record.value),
                f"{number(ci[0])} … {number(ci[1])}" if ci else "–",
                *[_p_cell(record, marks), number(record.harmonic_p)][: len(tested)],
                str(record.n),
                str(record.skipped or ""),
            ]
            best = "bold" if index == 0 and len(group) > 1 else None
            table.add_row(*cells, style=best, end_section=index == len(group) - 1)
    return table


def _p_cell(record: ResultRecord, marks: Mapping[str, int]) -> str:
    """Return the p-value of a record, or a dash with the number of its footnote, escaped for rich."""
    from rich.markup import escape

    if record.p_value is None and record.p_note is not None:
        return escape(f"– [{marks[record.p_note]}]")
    return p_text(record.p_value)


def _footnotes(records: Sequence[ResultRecord]) -> list[str]:
    """Return the lines below the table: metrics whose rows have several set sizes, and reasons for missing p-values."""
    divided = divided_metrics(grouped(records))
    lines = [f"{', '.join(divided)}: {SIZE_NOTE}"] if divided else []
    for index, (reason, metrics) in enumerate(p_notes(records).items(), start=1):
        lines.append(f"[{index}] no p-value for {', '.join(metrics)}, which {reason}")
    return lines


def _print_view(console: Console, view: ViewSpec, run: Run) -> None:
    """Print a table view with published values below, or a view of verdicts; one line for a view without values."""
    from rich.markup import escape
    from rich.table import Table

    is_verdict = view.plot == "verdicts"
    content = verdict_table(view, run) if is_verdict else view_table(view, run.records)
    if not content.heads:
        console.print(f"{escape(view.heading)}: no values in this run")
        return
    caption = " ".join([*view.remark.split(), *([f"({METHOD_NOTE})"] if is_verdict else [])])
    table = Table(
        title=escape(view.heading),
        title_justify="left",
        caption=escape(caption),
        caption_justify="left",
        show_edge=False,
    )
    rows: list[tuple[str, tuple[object, ...]]] = list(content.rows)
    if content.published:
        rows.append(("published", tuple("" if value is None else value for value in content.published)))
    table.add_column(escape(content.x), no_wrap=True)
    transposed = (
        sum(max(len(head), 8) + 3 for head in content.heads) > MAX_WIDTH
    )  # long heads are more readable as rows
    for head in [label for label, _ in rows] if transposed else content.heads:
        table.add_column(escape(head), justify="right")
    if transposed:
        for row, head in enumerate(content.heads):
            table.add_row(escape(head), *(number(values[row]) for _, values in rows))
    else:
        for label, values in rows:
            table.add_row(escape(label), *map(number, values), style="bold" if label == "published" else None)
    console.print(table)
