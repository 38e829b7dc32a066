"""Tables of runs as files: the main table and the views, as CSV for programs, Markdown
for people, LaTeX and Typst for papers.

Views of verdicts are paired tests of every model against a baseline on the numbers that
the result table reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from harness.analysis.compare import DRAWS, adjusted, compare_pairs
from harness.analysis.comparisons import LEVEL, NOT_TESTED, SIZES_DIFFER, Comparison
from harness.analysis.pairs import ComparedRun, pairs_against
from harness.errors import HarnessError
from harness.files.outputs import write_outputs
from harness.reporting.captions import system_heads, texts_table
from harness.reporting.formats import file_suffixes, render
from harness.reporting.formats.markdown import markdown_page
from harness.reporting.main_table import clusters_of_run, main_table
from harness.reporting.percent import percent_run, with_note
from harness.reporting.slice_table import slice_table
from harness.reporting.table import Table, number, p_text, shown_names
from harness.reporting.views import number_table, shown_view, view_table
from harness.run.finished import Run, by_kind
from harness.spec.models import ViewSpec
from harness.spec.task_kinds import load_kind

METHOD_NOTE = (
    "difference of the numbers of the table; approximate randomisation, "
    f"{DRAWS:,} draws, p adjusted by Holm over the rows of a metric, "
    f"level {LEVEL}"
)
NamedTables: TypeAlias = dict[tuple[str, str], Table]
"""(name of the file without its suffix, plot of the view or "") -> table."""


def write_tables(
    paths: Sequence[str | Path],
    folder: Path,
    *,
    percent: bool = False,
    overwrite: bool = False,
) -> list[Path]:
    """Write the main table and every view of ``plot: table``, ``texts`` and
    ``verdicts`` of finished runs; return the files.

    The main table is ``results.csv``, ``.md``, ``.tex`` and ``.typ``, the results by
    slice are ``slices``, views are ``NN-TITLE``; texts have no LaTeX. ``percent``
    prints values times 100 in results and slices (:mod:`harness.reporting.percent`).
    With several runs the names begin with the number and the task of the run. Runs of
    judgments have ``league``, metrics by sets, and a table of each set; the CSV of
    ``league`` has the headlines of all sets. ``overwrite`` as for
    :func:`harness.files.outputs.write_output`.
    """
    runs = [Run.open(path) for path in paths]
    tables: NamedTables = {}
    of_models: list[Run] = []
    for kind, runs_of_kind in by_kind(runs).items():
        if kind:
            tables |= _tables_of_kind(kind, runs_of_kind)
        else:
            of_models = runs_of_kind
    for number_of_run, run in enumerate(of_models, start=1):
        prefix = f"{number_of_run}-{_slug(run.provenance.task)}-"
        tables |= _tables_of_run(run, prefix if len(paths) > 1 else "", percent=percent)
    return write_outputs(_files(tables, folder), overwrite=overwrite)


def _tables_of_kind(name: str, runs: Sequence[Run]) -> NamedTables:
    """Return the table of all runs of a kind of task, and one of each."""
    kind = load_kind(name)
    tables: NamedTables = {("league", ""): kind.table_of_runs(runs)}
    for number_of_run, run in enumerate(runs, start=1):
        prefix = f"{number_of_run}-" if len(runs) > 1 else ""
        tables[prefix + _slug(run.provenance.task), ""] = kind.table_of_run(run)
    return tables


def _tables_of_run(run: Run, prefix: str, *, percent: bool) -> NamedTables:
    """Return the main table, the results by slice and the views of a run of models."""
    tables: NamedTables = {}
    display_run = percent_run(run) if percent else run
    if run.records:
        tables[f"{prefix}results", ""] = main_table(display_run, clusters_of_run(run))
    if run.slices:
        tables[f"{prefix}slices", ""] = slice_table(display_run)
    if percent:
        tables = {key: with_note(table, run.records) for key, table in tables.items()}

    for index, view in enumerate(run.provenance.views, start=1):
        if view.plot in ("table", "texts", "verdicts"):
            stem = f"{prefix}{index:02d}-{_slug(view.heading)}"
            tables[stem, view.plot] = table_of_view(view, run)
    return tables


def _files(tables: NamedTables, folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield path and content of each table in each format; texts have no LaTeX."""
    for (stem, plot), table in tables.items():
        for form, suffix in file_suffixes().items():
            if (plot, form) == ("texts", "latex"):
                continue
            # a view has a page of its own, with its title and remark
            page = bool(plot) and form == "markdown"
            text = markdown_page(table) if page else render(table, form)
            yield folder / f"{stem}.{suffix}", text.encode("utf-8")


def table_of_view(view: ViewSpec, run: Run) -> Table:
    """Return the table of a view of ``plot: table``, ``texts`` or ``verdicts``."""
    if view.plot == "texts":
        return texts_table(view, run.samples, run.records)
    if view.plot == "table":
        return view_table(view, run.records)
    return verdict_table(view, run)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "view"


def verdict_table(view: ViewSpec, run: Run) -> Table:
    """Return a row per model (and decoding) and a column per metric: ``better``,
    ``worse`` or ``=`` with the difference.

    The baseline is the model ``view.against``. For ``y: "*"`` metrics without a
    direction or without a test are left out. Raises :class:`HarnessError` for an
    unknown baseline or metric.
    """
    compared = pairs_against([ComparedRun.open(run)], str(view.against))
    directions = {record.metric: record.higher_is_better for record in run.records}
    names_of_pairs = dict.fromkeys(name for pair in compared for name in pair.metrics)
    directed = [name for name in names_of_pairs if directions[name] is not None]
    metrics = directed if view.metrics == ["*"] else view.metrics
    for name in metrics:
        if name not in directed:
            text = "a view of verdicts asks for"
            raise HarnessError.of_name(
                text, name, directed, "metrics of captions with a direction are"
            )

    rows = adjusted(compare_pairs(compared, metrics=metrics)) if metrics else []
    cells = {(row.system_a, row.metric): _cell(row) for row in rows}
    if view.metrics == ["*"]:
        # metrics without a test are left out, unless the view names them
        metrics = [
            name
            for name in metrics
            if any(cells[pair.labels[0], name] != "–" for pair in compared)
        ]

    systems = run.samples.systems
    heads = dict(zip((system.label for system in systems), system_heads(systems)))
    body = tuple(
        (heads[pair.a.label], tuple(cells[pair.labels[0], name] for name in metrics))
        for pair in compared
    )
    table = number_table(view, f"against {view.against}", metrics, body)
    names = shown_names(run.records)
    return replace(
        table,
        title=shown_view(view, run.records).heading,
        headers=[table.headers[0], *(names[name] for name in metrics)],
        notes=[f"{view.remark} ({METHOD_NOTE})".strip()],
    )


def _cell(row: Comparison) -> str:
    if row.better == SIZES_DIFFER:
        return SIZES_DIFFER
    if row.better == NOT_TESTED or row.difference is None:
        return "–"
    sign = "+" if row.difference > 0 else ""
    difference = f"{sign}{number(row.difference)}"
    word = {"A": "better", "B": "worse"}.get(row.better)
    if word:
        return f"{word} {difference}"
    return f"= {difference} (p {p_text(row.p_holm)})"
