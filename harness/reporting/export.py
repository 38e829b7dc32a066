"""Table and text views as files: CSV for programs, Markdown for people. One pair of files per view."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.reporting.captions import Texts, TextsTable, read_samples, texts_table
from harness.reporting.console import number
from harness.reporting.verdicts import verdict_table
from harness.reporting.views import ViewTable, view_table, view_title
from harness.rundir.store import read_run, write_atomically

Line = Sequence[Any]


def write_tables(paths: Sequence[str | Path], folder: Path) -> list[Path]:
    """Write every view of ``plot: table``, ``texts`` and ``verdicts`` of finished runs into ``folder``; returns the files."""
    written = []
    for path in map(Path, paths):
        manifest, file = read_run(path)
        for index, view in enumerate(manifest["spec"].get("views", ()), start=1):
            if view["plot"] not in ("table", "texts", "verdicts"):
                continue
            title = view_title(view)
            stem = f"{manifest['task']}-{index:02d}-{_slug(title)}" if len(paths) > 1 else f"{index:02d}-{_slug(title)}"
            if view["plot"] != "texts":
                made = _table(view, file["results"], path)
                rows, shown = numbers_rows(made), numbers_rows(made, show=True)
            else:
                texts = texts_table(view, read_samples(path))
                rows, shown = texts_rows(texts), texts_cells(texts)
            head = f"{title}: {texts.choice}" if view["plot"] == "texts" else title
            for name, data in ((f"{stem}.csv", to_csv(rows)), (f"{stem}.md", to_markdown(head, shown))):
                write_atomically(folder / name, data.encode("utf-8"))
                written.append(folder / name)
    return written


def _table(view: Mapping[str, Any], results: Sequence[Mapping[str, Any]], path: Path) -> ViewTable:
    return view_table(view, results) if view["plot"] == "table" else verdict_table(view, results, read_samples(path))


def numbers_rows(table: ViewTable, *, show: bool = False) -> list[Line]:
    """Heads, then a row per series, then the published numbers; empty where there is none. ``show``: rounded for people."""

    def cell(value: Any) -> Any:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return ""
        return number(value) if show else value

    rows: list[Line] = [[table.x, *table.heads]]
    rows += [[label, *map(cell, values)] for label, values in table.rows]
    if table.published:
        rows.append(["published", *map(cell, table.published)])
    return rows


def texts_rows(table: TextsTable) -> list[Line]:
    """A row per distinct text: example, whose it is, the set's score, how often it occurs, the text."""
    rows: list[Line] = [["example", "source", table.metric or "score", "times", "text"]]
    for row in table.rows:
        for head, cell in zip(("references", *table.heads), (row.references, *row.cells)):
            if cell is not None:
                score = "" if cell.score is None else cell.score
                rows += [[row.example, head, score, times, text] for text, times in cell.counted]
    return rows


def texts_cells(table: TextsTable) -> list[Line]:
    """A row per example, a cell per set, its texts as a list of lines."""

    def lines(cell: Texts | None) -> list[str]:
        if cell is None:
            return []
        told = [] if cell.score is None else [f"{table.metric} {number(cell.score)}"]
        return [*told, *(text if times == 1 else f"{text} (x {times})" for text, times in cell.counted)]

    rows: list[Line] = [["example", "references", *table.heads]]
    rows += [[row.example, lines(row.references), *map(lines, row.cells)] for row in table.rows]
    return rows


def to_csv(rows: Sequence[Line]) -> str:
    """RFC 4180, numbers in full."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def to_markdown(title: str, rows: Sequence[Line]) -> str:
    """A title and a pipe table; texts are shown as they are, whatever signs they hold."""
    head, *body = [[_cell(cell) for cell in row] for row in rows]
    lines = [f"# {_plain(title)}", "", _line(head), _line(["---"] * len(head)), *map(_line, body)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(value: Any) -> str:
    return "<br>".join(map(_plain, value)) if isinstance(value, list) else _plain(str(value))


def _plain(text: str) -> str:
    """No markup of Markdown or HTML left in it, on one line."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", text)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "view"
