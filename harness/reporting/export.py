"""Tables of runs as files: the main table and the views, as CSV for programs, Markdown for people and LaTeX for papers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from harness.reporting.captions import Texts, TextsTable, texts_table
from harness.reporting.main_table import main_sheet
from harness.reporting.numbers import number
from harness.reporting.tables import Sheet, escape_markdown, latex_table, markdown_line, render, to_csv
from harness.reporting.verdicts import verdict_table
from harness.reporting.views import ViewTable, view_table
from harness.run.finished import Run
from harness.rundir.format import write_atomically
from harness.spec.models import ViewSpec

Line = Sequence[object]
SUFFIXES = {"csv": "csv", "md": "markdown", "tex": "latex"}
"""Suffix of a file -> format of :data:`harness.reporting.tables.FORMATS`."""


def write_tables(paths: Sequence[str | Path], folder: Path) -> list[Path]:
    """Write the main table and every view of ``plot: table``, ``texts`` and ``verdicts`` of finished runs; return the files.

    The main table is ``results.csv``, ``.md`` and ``.tex``, views are ``NN-TITLE``; texts have no LaTeX. With several runs the names begin
    with the number and the task of the run.
    """
    files: dict[Path, str] = {}
    for number_of_run, path in enumerate(paths, start=1):
        run = Run.open(path)
        prefix = f"{number_of_run}-{_slug(run.provenance.task)}-" if len(paths) > 1 else ""
        if run.records:
            sheet = main_sheet(run)
            for suffix, form in SUFFIXES.items():
                files[folder / f"{prefix}results.{suffix}"] = render(sheet, form)
        for index, view in enumerate(run.provenance.views, start=1):
            if view.plot in ("table", "texts", "verdicts"):
                stem = f"{prefix}{index:02d}-{_slug(view.heading)}"
                files |= {folder / f"{stem}.{suffix}": text for suffix, text in _files(view, run).items()}
    for file, text in files.items():
        write_atomically(file, text.encode("utf-8"))
    return list(files)


def _files(view: ViewSpec, run: Run) -> dict[str, str]:
    """Return suffix -> content of the files of a view."""
    head, rows, cells = _content(view, run)
    files = {"csv": to_csv(rows), "md": to_markdown(head, cells)}
    if view.plot == "texts":
        return files
    names, *body = [[str(cell) for cell in row] for row in cells]
    sheet = Sheet(names, body, "l" + "r" * (len(names) - 1), head, [view.note] if view.note else [])
    return {**files, "tex": latex_table(sheet)}


def _content(view: ViewSpec, run: Run) -> tuple[str, list[Line], list[Line]]:
    """Return the title of a view, its rows in full for CSV, and its rows rounded for Markdown."""
    if view.plot == "texts":
        texts = texts_table(view, run.samples)
        return f"{view.heading}: {texts.choice}", texts_rows(texts), texts_cells(texts)
    if view.plot == "table":
        table = view_table(view, run.records)
    else:
        table = verdict_table(view, run)
    return view.heading, numbers_rows(table), numbers_rows(table, rounded=True)


def numbers_rows(table: ViewTable, *, rounded: bool = False) -> list[Line]:
    """Return heads, a row per series, and the published numbers; an empty cell where there is none."""

    def cell(value: object) -> object:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return ""
        return number(value) if rounded else value

    rows: list[Line] = [[table.x, *table.heads]]
    rows += [[label, *map(cell, values)] for label, values in table.rows]
    if table.published:
        rows.append(["published", *map(cell, table.published)])
    return rows


def texts_rows(table: TextsTable) -> list[Line]:
    """Return a row per distinct text: example, source, score of the set, number of occurrences, text."""
    rows: list[Line] = [["example", "source", table.metric or "score", "times", "text"]]
    for row in table.rows:
        for head, cell in zip(("references", *table.heads), (row.references, *row.cells)):
            if cell is not None:
                score = "" if cell.score is None else cell.score
                rows += [[row.example, head, score, times, text] for text, times in cell.counted]
    return rows


def texts_cells(table: TextsTable) -> list[Line]:
    """Return a row per example and a cell per set, its texts as a list of lines."""

    def lines(cell: Texts | None) -> list[str]:
        if cell is None:
            return []
        score = [] if cell.score is None else [f"{table.metric} {number(cell.score)}"]
        return [*score, *(text if times == 1 else f"{text} (x {times})" for text, times in cell.counted)]

    rows: list[Line] = [["example", "references", *table.heads]]
    rows += [[row.example, lines(row.references), *map(lines, row.cells)] for row in table.rows]
    return rows


def to_markdown(title: str, rows: Sequence[Line]) -> str:
    """Return a title and a pipe table; markup in texts is escaped."""
    head, *body = [[_cell(cell) for cell in row] for row in rows]
    lines = [
        f"# {escape_markdown(title)}",
        "",
        markdown_line(head),
        markdown_line(["---"] * len(head)),
        *map(markdown_line, body),
    ]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    return "<br>".join(map(escape_markdown, value)) if isinstance(value, list) else escape_markdown(str(value))


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "view"
