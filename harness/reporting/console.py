"""Tables in the terminal: metric by metric, best model first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.errors import counted
from harness.files.secrets import redact
from harness.reporting.formats.terminal import (
    console_for_tables,
    escape,
    least_width,
    print_line,
    print_table,
)
from harness.reporting.result_groups import (
    SIZE_NOTE,
    decoding_labels,
    divided_metrics,
    group_records,
    interval_notes,
    p_notes,
    system_names,
    usage_notes,
)
from harness.reporting.sections import sections_of
from harness.reporting.table import (
    Table,
    interval_text,
    number,
    p_text,
    record_heading,
    shown_names,
    size_text,
)
from harness.run.finished import by_kind
from harness.rundir.records import ResultRecord, decoding_text, varying_fields
from harness.spec.task_kinds import load_kind

if TYPE_CHECKING:
    from rich.console import Console

    from harness.reporting.main_table import RunClusters
    from harness.run.finished import Run

MOST_RESULTS = 40
SHORT_ROWS = 20
"""Number of results beyond which a run is printed as this many rows of its main table,
unless all is asked for.
"""
MOST_RESULTS_OF_RUNS = 100
LEAST_ROWS = 4
"""Number of results of several runs beyond which they share :data:`SHORT_ROWS`, each
with at least so many.
"""
BOLD_BUDGET = 1.0
"""Largest estimated seconds of the tests that decide which values are bold."""
BOLD_EXAMPLES = 16_000
"""Largest number of examples for which these tests are made: more take longer to read
and to draw weights for than the budget.
"""
P_NOTE = (
    "p: permutation tests of candidates against references, "
    "combined over the examples (harmonic p: by the harmonic mean); "
    "a small p tells them apart, and does not compare systems"
)
"""Line below a table with p-values of single systems,
which in other tables are those of comparisons.
"""
MAX_FAILURES = 5
"""Maximum number of failed examples printed."""


def print_runs(runs: Sequence[Run], *, all_results: bool) -> None:
    """Print the results of runs one after the other,
    and metrics by sets for several runs of judgments.
    """
    many = sum(len(run.records) for run in runs) > MOST_RESULTS_OF_RUNS
    rows = None
    if many and not all_results:
        rows = max(LEAST_ROWS, SHORT_ROWS // len(runs))
    for run in runs:
        print_run(run, all_results=all_results, rows=rows)
    for kind, runs_of_kind in by_kind(runs).items():
        if kind and len(runs_of_kind) > 1:
            print_table(load_kind(kind).table_of_runs(runs_of_kind))


def print_run(
    run: Run,
    *,
    all_results: bool = False,
    console: Console | None = None,
    rows: int | None = None,
) -> None:
    """Print the results of a run, its failures, views and notes, and its directory, on
    a console (default: stdout); many results in short, unless all are asked for.
    ``rows`` is the number of rows of a run among several.
    """
    console = console or console_for_tables()
    short = not all_results and (rows is not None or len(run.records) > MOST_RESULTS)
    table = short_table(run, rows or SHORT_ROWS) if short else table_of_run(run)
    print_table(table, console)
    if run.slices:
        print_table(table_of_slices(run, all_results=all_results), console)

    for name, reason in list(run.failed.items())[:MAX_FAILURES]:
        console.print(f"[red]failed[/red] {escape(name)}: {escape(redact(reason))}")
    if len(run.failed) > MAX_FAILURES:
        more = len(run.failed) - MAX_FAILURES
        console.print(f"[red]... and {more} more failed[/red]")

    _print_views(run, console, short=short)
    for section in sections_of(run).values():
        for line in section.lines(run):
            print_line(console, line, style="")

    for note in run.notes:
        text = f"[yellow]note[/yellow] {escape(note)}"
        console.print(text, soft_wrap=not console.is_terminal)
    if run.provenance.variant:
        variant = escape(run.provenance.variant)
        examples = counted(int(run.provenance.data.get("examples") or 0), "example")
        console.print(f"data: [bold]{variant}[/bold], {examples}")
    if run.path:
        path = escape(str(run.path))
        # soft wrapping leaves the path on one line, to be copied
        console.print(
            f"run: {path}  (harness report {path} makes a page of it)", soft_wrap=True
        )


def _print_views(run: Run, console: Console, *, short: bool) -> None:
    """Print the tables and verdicts among the views of a run; in short their names
    alone.
    """
    views = [
        view for view in run.provenance.views if view.plot in ("table", "verdicts")
    ]
    if not views:
        return
    if short:
        names = "; ".join(view.heading for view in views)
        hint = f"--all prints {counted(len(views), 'view')} too: {names}"
        print_line(console, hint, style="")
        return

    # loads the paired tests, which other runs do not need
    from harness.reporting.export import table_of_view

    for view in views:
        table = table_of_view(view, run)
        if len(table.headers) <= 1:
            console.print(f"{escape(view.heading)}: no values in this run")
            continue
        if least_width(table) > console.width:
            table = transpose(table)
        print_table(table, console)


def table_of_run(run: Run) -> Table:
    """Return the table of all records of a run: of models, or of judgments."""
    kind = run.provenance.kind
    return load_kind(kind).table_of_run(run) if kind else results_table(run)


def short_table(run: Run, rows: int) -> Table:
    """Return the first rows of the main table of a run of many results: values alone,
    metrics by systems or systems by metrics.
    """
    from harness.reporting.main_table import main_table

    if run.provenance.kind:
        table = table_of_run(run)
    else:
        table = main_table(run, quick_clusters(run))
    return _first_rows(table, f"{len(run.records)} results", rows)


def _first_rows(table: Table, results: str, count: int = SHORT_ROWS) -> Table:
    """Return the first rows of a table, with a note on how to see all results."""
    cut = len(table.rows) > count
    rows = f"{count} of {len(table.rows)} rows; " if cut else ""
    hint = f"{rows}--all prints all {results}, with intervals"
    return replace(table, rows=table.rows[:count], notes=[*table.notes, hint])


def table_of_slices(run: Run, *, all_results: bool) -> Table:
    """Return the results by slice with intervals, or of many the first rows of values
    alone, unless all are asked for.
    """
    # loads the paired tests, which other runs do not need
    from harness.reporting.slice_table import TITLE, slice_table

    if len(run.slices) <= MOST_RESULTS or all_results:
        return slice_table(run)
    from harness.reporting.main_table import RunClusters, wide_table

    table = replace(wide_table(run, RunClusters()), title=TITLE)
    return _first_rows(table, f"{len(run.slices)} results of slices")


def transpose(table: Table) -> Table:
    """Return a table with its rows as columns, for long heads,
    which are more readable one below the other.
    """
    columns = list(zip(table.headers, *table.rows))
    return Table(
        [table.headers[0], *columns[0][1:]],
        columns[1:],
        "l" + "r" * len(table.rows),
        table.title,
        table.notes,
    )


def results_table(run: Run) -> Table:
    """Return all records of a run, metric by metric and best first; columns that are
    empty in this run are left out.
    """
    labels = decoding_labels(run.records)
    varying = varying_fields(record.decoding for record in run.records)
    marks = {
        reason: number for number, reason in enumerate(p_notes(run.records), start=1)
    }
    any_p = any(record.p_value is not None for record in run.records)
    alignment = {
        "metric": "l",
        "model": "l",
        "set": "l",
        **({"decoding": "l"} if varying else {}),
        "value": "r",
        "95 % interval": "r",
        **({"p": "r"} if marks or any_p else {}),
        **({"harmonic p": "r"} if any_p else {}),
        "n": "r",
        "skipped": "r",
    }

    rows: list[list[str]] = []
    starts: list[int] = []
    clusters = quick_clusters(run)
    leading = clusters.leading if clusters else ()
    bold: set[int] = set()
    for group in group_records(run.records):
        starts.append(len(rows))
        for index, record in enumerate(group):
            # the name of a metric stands once, in the first row of its group
            cells = {
                "metric": "" if index else record_heading(record),
                "model": record.model,
                "set": size_text(record.sizes),
                "decoding": labels[record.decoding_key],
                "value": number(record.value),
                "95 % interval": interval_text(record.ci95),
                "p": _p_cell(record, marks),
                "harmonic p": number(record.harmonic_p),
                "n": str(record.n),
                "skipped": str(record.skipped or ""),
            }
            if (record.metric, record.model, record.decoding_key) in leading:
                bold.add(len(rows))
            rows.append([cells[header] for header in alignment])

    # what all decodings have in common stands in the title
    shared = {
        name: value
        for name, value in (run.records[0].decoding if run.records else {}).items()
        if name not in varying
    }
    same = decoding_text(shared) if run.records else ""
    titles = (run.provenance.task or "suite", run.provenance.signature, same)
    return Table(
        headers=list(alignment),
        rows=rows,
        alignment="".join(alignment.values()),
        title="  ".join(filter(None, titles)),
        notes=[
            *_footnotes(run.records),
            *([P_NOTE] if any_p else []),
            *interval_notes(run.records),
            *usage_notes(run.records),
            *(clusters.bold_notes if clusters else ()),
        ],
        bold=frozenset((row, list(alignment).index("value")) for row in bold),
        groups=frozenset(starts),
        secondary=("n", "harmonic p", "skipped"),
    )


def quick_clusters(run: Run) -> RunClusters | None:
    """Return the clusters of the systems from tests of about a second at most;
    None for one system.
    """
    if len(system_names(run.records)) < 2:
        return None

    # loads the paired tests, which a run of one system does not need
    from harness.reporting.main_table import RunClusters, clusters_of_run

    if max(record.n for record in run.records) > BOLD_EXAMPLES:
        notes = (
            "no value is bold: the systems are not compared; harness compare does",
        )
        return RunClusters(notes=notes, bold_notes=notes)
    return clusters_of_run(run, BOLD_BUDGET)


def _p_cell(record: ResultRecord, marks: Mapping[str, int]) -> str:
    """Return the p-value of a record, or a dash with the number of its footnote."""
    if record.p_value is None and record.p_note is not None:
        return f"– [{marks[record.p_note]}]"
    return p_text(record.p_value)


def _footnotes(records: Sequence[ResultRecord]) -> list[str]:
    """Return the lines below the table: metrics whose rows have several set sizes, and
    reasons for missing p-values.
    """
    divided = divided_metrics(group_records(records))
    names = shown_names(records)
    lines: list[str] = []
    if divided:
        lines.append(f"{', '.join(names[metric] for metric in divided)}: {SIZE_NOTE}")
    for index, (reason, metrics) in enumerate(p_notes(records).items(), start=1):
        lines.append(f"[{index}] no p-value for {', '.join(metrics)}, which {reason}")
    return lines
