"""Table and text views as files: CSV for programs, Markdown for people. One pair of files per view."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path

from harness.reporting.captions import Texts, TextsTable, texts_table
from harness.reporting.numbers import number
from harness.reporting.verdicts import verdict_table
from harness.reporting.views import ViewTable, view_table
from harness.rundir.format import write_atomically
from harness.rundir.rundir import RunDir
from harness.spec.models import ViewSpec

Line = Sequence[object]


def write_tables(paths: Sequence[str | Path], folder: Path) -> list[Path]:
    """Write every view of ``plot: table``, ``texts`` and ``verdicts`` of finished runs into ``folder``; return the files."""
    written: list[Path] = []
    for path in paths:
        run = RunDir.open(path)
        for index, view in enumerate(run.provenance.views, start=1):
            if view.plot not in ("table", "texts", "verdicts"):
                continue
            stem = f"{index:02d}-{_slug(view.heading)}"
            stem = f"{run.provenance.task}-{stem}" if len(paths) > 1 else stem
            head, rows, cells = _content(view, run)
            for name, data in ((f"{stem}.csv", to_csv(rows)), (f"{stem}.md", to_markdown(head, cells))):
                write_atomically(folder / name, data.encode("utf-8"))
                written.append(folder / name)
    return written


def _content(view: ViewSpec, run: RunDir) -> tuple[str, list[Line], list[Line]]:
    """Return the title of a view, its rows in full for CSV, and its rows rounded for Markdown."""
    if view.plot == "texts":
        texts = texts_table(view, run.samples)
        return f"{view.heading}: {texts.choice}", texts_rows(texts), texts_cells(texts)
    if view.plot == "table":
        table = view_table(view, run.records)
    else:
        table = verdict_table(view, run.records, run.samples)
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


def to_csv(rows: Sequence[Line], delimiter: str = ",") -> str:
    """Return rows as CSV (RFC 4180), numbers in full."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


def to_markdown(title: str, rows: Sequence[Line]) -> str:
    """Return a title and a pipe table; markup in texts is escaped."""
    head, *body = [[_cell(cell) for cell in row] for row in rows]
    lines = [f"# {_plain(title)}", "", _line(head), _line(["---"] * len(head)), *map(_line, body)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(value: object) -> str:
    return "<br>".join(map(_plain, value)) if isinstance(value, list) else _plain(str(value))


def _plain(text: str) -> str:
    """Return the text on one line with the markup of Markdown and HTML escaped."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", text)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "view"
