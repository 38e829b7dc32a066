"""Tables of runs as files: the main table and the views, as CSV for programs, Markdown for people, LaTeX and Typst for papers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from harness.reporting.captions import texts_table
from harness.reporting.formats import file_suffixes, render
from harness.reporting.formats.markdown import markdown_page
from harness.reporting.league import League, LeagueSet
from harness.reporting.league_tables import league_table, set_table
from harness.reporting.main_table import main_table
from harness.reporting.table import Table
from harness.reporting.verdicts import verdict_table
from harness.reporting.views import view_table
from harness.run.finished import Run
from harness.rundir.format import write_files
from harness.spec.models import ViewSpec


def write_tables(paths: Sequence[str | Path], folder: Path) -> list[Path]:
    """Write the main table and every view of ``plot: table``, ``texts`` and ``verdicts`` of finished runs; return the files.

    The main table is ``results.csv``, ``.md``, ``.tex`` and ``.typ``, views are ``NN-TITLE``; texts have no LaTeX. With several runs the
    names begin with the number and the task of the run. Runs of judgments have ``league``, metrics by sets, and a table of each set; the
    CSV of ``league`` has the headlines of all sets.
    """
    runs = [Run.open(path) for path in paths]
    sets = [LeagueSet(run) for run in runs if run.provenance.kind]
    tables = {("league", ""): league_table(League(tuple(sets)))} if sets else {}
    for number_of_run, judged in enumerate(sets, start=1):
        prefix = f"{number_of_run}-" if len(sets) > 1 else ""
        tables[prefix + _slug(judged.run.provenance.task), ""] = set_table(judged)
    for number_of_run, run in enumerate((run for run in runs if not run.provenance.kind), start=1):
        prefix = f"{number_of_run}-{_slug(run.provenance.task)}-" if len(paths) > 1 else ""
        tables |= {(f"{prefix}results", ""): main_table(run)} if run.records else {}
        for index, view in enumerate(run.provenance.views, start=1):
            if view.plot in ("table", "texts", "verdicts"):
                tables[f"{prefix}{index:02d}-{_slug(view.heading)}", view.plot] = table_of_view(view, run)
    return write_files(
        (folder / f"{stem}.{suffix}", (markdown_page(table) if plot and form == "markdown" else render(table, form)).encode("utf-8"))
        for (stem, plot), table in tables.items()
        for form, suffix in file_suffixes().items()
        if (plot, form) != ("texts", "latex")
    )


def table_of_view(view: ViewSpec, run: Run) -> Table:
    """Return the table of a view of ``plot: table``, ``texts`` or ``verdicts``."""
    if view.plot == "texts":
        return texts_table(view, run.samples, run.records)
    return view_table(view, run.records) if view.plot == "table" else verdict_table(view, run)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "view"
