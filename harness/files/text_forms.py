"""Plain text files of captions: tables with a header line, ``id TAB caption``, Flickr's ``image#k TAB caption``, one caption per line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import InputError
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS, REFERENCE_COLUMNS
from harness.files.delimited import delimited_rows, delimiter_of, header_cells, is_table_file
from harness.files.records import Record, open_binary, utf16_hint

_FLICKR = re.compile(r"([^\t]+)#(\d+)\t(.*)")


def text_form(path: Path, names: Sequence[str] = ()) -> tuple[str, Iterator[Record]]:
    """Return the name and the records of a text file: ``flickr``, ``tsv``, ``csv``, ``pairs`` (id TAB caption) or ``txt``.

    Parameters
    ----------
    path : Path
        File of UTF-8 text, gzipped or not.
    names : sequence of str
        Names of columns in parameters of the user; a first line with one of them is a header.

    Raises
    ------
    InputError
        For text that is not UTF-8.
    """
    # The first line alone decides, in the order of how little can be mistaken for the form: `image#0 TAB caption` is nothing else; two
    # columns without a known name are an id and a caption; a header must name captions and something more; all else is captions.
    first = next((line for _, line in _lines(path)), "")
    if _FLICKR.fullmatch(first):
        return "flickr", flickr_rows(path)
    cells = header_cells(first, path)
    tabs = "\t" in first
    header = _is_header(cells, names)
    if tabs and len(cells) == 2 and not header and not any(cell in names for cell in cells):
        return "pairs", two_column_rows(path)
    if is_table_file(path) or header:
        return "tsv" if delimiter_of(first, path) == "\t" else "csv", table_rows(path)
    return "txt", line_rows(path)


def _is_header(cells: Sequence[str], names: Sequence[str]) -> bool:
    """Return True for cells that name a column of captions, and a column of ids or another one."""
    captions = any(cell in (*names, *CANDIDATE_COLUMNS, *REFERENCE_COLUMNS) for cell in cells)
    return len(cells) > 1 and captions and any(cell in (*names, *FILE_ID_COLUMNS) for cell in cells)


def table_rows(path: Path) -> Iterator[Record]:
    """Yield the rows of a table with a header line; an empty cell is an empty text."""
    for row in delimited_rows(path):
        yield Record(row.where, {name: "" if cell is None else cell for name, cell in row.fields.items()})


def line_rows(path: Path) -> Iterator[Record]:
    """Yield one record per line, with the column ``caption``; an empty line is an empty caption."""
    for number, line in _lines(path):
        yield Record(f"{path}:{number}", {"caption": line})


def two_column_rows(path: Path) -> Iterator[Record]:
    """Yield the records ``id`` and ``caption`` of lines ``id TAB caption``; raise :class:`InputError` for a line without a tab."""
    for number, line in _lines(path):
        name, tab, text = line.partition("\t")
        if not tab and line.strip():
            raise InputError("the line has no tab; expected an id, a tab and a caption", f"{path}:{number}")
        if tab:
            yield Record(f"{path}:{number}", {"id": name, "caption": text})


def flickr_rows(path: Path) -> Iterator[Record]:
    """Yield the records ``id`` and ``caption`` of lines ``image.jpg#0 TAB caption``; raise :class:`InputError` for another line."""
    for number, line in _lines(path):
        match = _FLICKR.fullmatch(line)
        if match is None and line.strip():
            raise InputError(f"found {line!r:.60}; expected image#number, a tab and a caption", f"{path}:{number}")
        if match is not None:
            yield Record(f"{path}:{number}", {"id": match[1], "caption": match[3]})


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file from 1, without line ends; the last line may lack one."""
    with open_binary(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text:
        try:
            for number, line in enumerate(text, 1):
                yield number, line.removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            hint = utf16_hint(error.object, str(path))
            raise InputError(f"not UTF-8 at byte {error.start}: {error.reason}{hint}", str(path)) from error
