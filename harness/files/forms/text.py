"""Forms of text: lines, tables with a header, and lines that begin with an id."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import InputError
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS, REFERENCE_COLUMNS
from harness.files.delimited import unquoted
from harness.files.delimited_tables import (
    delimited_rows,
    delimiter_of,
    header_cells,
    is_table_file,
)
from harness.files.encodings import encoding_hint
from harness.files.records import Record
from harness.files.streams import lines_of
from harness.files.user_files import open_binary

VIDEO_LINE = re.compile(r"([\w-]+_\d+_\d+) +(\S.*)")
"""A line of the files of captions of MSVD: the id of a video with the start and end of
the clip, a blank, the caption.
"""
_FLICKR = re.compile(r"([^\t]+)#(\d+)\t(.*)")


def text_form(path: Path, names: Sequence[str] = ()) -> tuple[str, Iterator[Record]]:
    """Return the name and the records of a text file: ``flickr``, ``tsv``, ``csv``,
    ``pairs`` (id TAB caption) or ``txt``.

    Parameters
    ----------
    path : Path
        File of UTF-8 text, gzipped or not.
    names : sequence of str
        Names of columns in parameters of the user; a first line with one of them is a
        header.

    Raises
    ------
    InputError
        For text that is not UTF-8.
    """
    # The first line alone decides, in the order of how little can be mistaken for the
    # form: `image#0 TAB caption` is nothing else; two columns without a known name are
    # an id and a caption; a header must name captions and something more; all else is
    # captions.
    lines = (line for _, line in read_lines(path))
    first = next(lines, "")
    if re.fullmatch("sep=.", first):  # a line for Excel, before the header
        return ("tsv" if first[-1] == "\t" else "csv"), table_rows(path)
    if _FLICKR.fullmatch(first):
        return "flickr", flickr_rows(path)

    cells = header_cells(first, path)
    is_header = _is_header(cells, names)
    has_name = is_header or any(cell in names for cell in cells)
    if "\t" in first and len(cells) == 2 and not has_name:
        return "pairs", two_column_rows(path)
    if is_table_file(path) or is_header:
        return "tsv" if delimiter_of(first, path) == "\t" else "csv", table_rows(path)
    return "txt", line_rows(path)


def _is_header(cells: Sequence[str], names: Sequence[str]) -> bool:
    """Return True for cells that name a column of captions, and a column of ids or
    another one; ``Image ID`` is ``image_id``.
    """
    # Mechanical Turk
    if any(cell.startswith("Answer.") for cell in cells) and "HITId" in cells:
        return True
    if len(cells) < 2:
        return False
    plain = {plain_column(cell) for cell in cells}
    captions = (*names, *CANDIDATE_COLUMNS, *REFERENCE_COLUMNS)
    ids = (*names, *FILE_ID_COLUMNS)
    has_captions = not plain.isdisjoint(map(plain_column, captions))
    return has_captions and not plain.isdisjoint(map(plain_column, ids))


def plain_column(name: str) -> str:
    """Return the name of a column in small letters, without blanks, hyphens and
    underscores.
    """
    return re.sub(r"[\s_-]", "", name.casefold())


def table_rows(path: Path) -> Iterator[Record]:
    """Yield the rows of a table with a header line; an empty cell is an empty text."""
    for row in delimited_rows(path):
        fields = {name: cell or "" for name, cell in row.fields.items()}
        yield Record(row.where, fields)


def line_rows(path: Path) -> Iterator[Record]:
    """Yield one record per line, with the column ``caption``; an empty line is an empty
    caption.
    """
    for number, line in read_lines(path):
        yield Record(f"{path}:{number}", {"caption": line})


def two_column_rows(path: Path) -> Iterator[Record]:
    """Yield the records ``id`` and ``caption`` of lines ``id TAB caption``; raise
    :class:`InputError` for a line without a tab.
    """
    for number, line in read_lines(path):
        name, tab, text = line.partition("\t")
        if not tab and line.strip():
            raise InputError(
                "the line has no tab; expected an id, a tab and a caption",
                f"{path}:{number}",
            )
        if tab:
            fields = {"id": unquoted(name), "caption": unquoted(text)}
            yield Record(f"{path}:{number}", fields)


def flickr_rows(path: Path) -> Iterator[Record]:
    """Yield the records ``id`` and ``caption`` of lines ``image.jpg#0 TAB caption``;
    raise :class:`InputError` for another line.
    """
    return _matching_rows(path, _FLICKR, "image#number, a tab and a caption")


def video_line_rows(path: Path) -> Iterator[Record]:
    """Yield the records ``id`` and ``caption`` of lines ``VIDEO_START_END caption``;
    raise :class:`InputError` for another line.
    """
    return _matching_rows(
        path, VIDEO_LINE, "an id such as vid_1_5, a blank and a caption"
    )


def _matching_rows(
    path: Path, form: re.Pattern[str], expected: str
) -> Iterator[Record]:
    """Yield the records of lines of a form, whose first group is the id and whose last
    one is the caption.
    """
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        match = form.fullmatch(line)
        if match is not None:
            yield Record(where, {"id": match[1], "caption": match[form.groups]})
        elif line.strip():
            raise InputError(f"found {line!r:.60}; expected {expected}", where)


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file from 1, without line ends; the last line may lack
    one.
    """
    with (
        open_binary(path) as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text,
    ):
        try:
            for number, line in lines_of(text, str(path)):
                yield number, line.removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise InputError(
                f"not UTF-8 at byte {error.start}: {error.reason}{encoding_hint(path)}",
                str(path),
            ) from error
