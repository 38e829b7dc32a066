"""Tables in the terminal: metric by metric, best model first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.reporting.interval_notes import interval_notes
from harness.reporting.numbers import ARROWS, number, p_text, size_text
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


def sort_key(record: ResultRecord) -> float:
    """Return a key that sorts the best value first and undefined values last."""
    if math.isnan(record.value):
        return math.inf
    return -record.value if record.higher_is_better else record.value


def grouped(records: Sequence[ResultRecord]) -> list[list[ResultRecord]]:
    """Return the records by metric, in the order of first appearance, best first within a metric that has a direction."""
    groups: dict[str, list[ResultRecord]] = {}
    for record in records:
        groups.setdefault(record.metric, []).append(record)
    return [
        sorted(group, key=sort_key) if group[0].higher_is_better is not None else group for group in groups.values()
    ]


def console_for_tables(width: int = 160) -> Console:
    """Return a console on stdout: as wide as the terminal, or ``width`` characters when stdout is no terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=width)


def print_table(run: Run) -> None:
    """Print the results of a run, its failures, views and notes, and its directory."""
    from rich.markup import escape

    console = console_for_tables()
    console.print(_results(run))
    for name, reason in list(run.failed.items())[:MAX_FAILURES]:
        console.print(f"[red]failed[/red] {escape(name)}: {escape(reason)}")
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
    tested = ["p", "harmonic p"] if any(record.p_value is not None for record in run.records) else []
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
                *([p_text(record.p_value), number(record.harmonic_p)] if tested else []),
                str(record.n),
                str(record.skipped or ""),
            ]
            best = "bold" if index == 0 and len(group) > 1 else None
            table.add_row(*cells, style=best, end_section=index == len(group) - 1)
    return table


def _print_view(console: Console, view: ViewSpec, run: Run) -> None:
    """Print a table view with published values below, or a view of verdicts; one line for a view without values."""
    from rich.markup import escape
    from rich.table import Table

    is_verdict = view.plot == "verdicts"
    content = verdict_table(view, run.records, run.samples) if is_verdict else view_table(view, run.records)
    if not content.heads:
        console.print(f"{escape(view.heading)}: no values in this run")
        return
    caption = " ".join([*view.note.split(), *([f"({METHOD_NOTE})"] if is_verdict else [])])
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
