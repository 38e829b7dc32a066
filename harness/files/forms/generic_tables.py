"""Generic forms of tables and of lines of text: Parquet, spreadsheets, CSV, ids with
captions.

The names of the columns, or the first line, decide how they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness.files.delimited_tables import is_table_file
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.generic_documents import COLUMN, POSITION
from harness.files.forms.line_doubts import (
    check_header,
    check_pairs,
    check_plain_lines,
)
from harness.files.forms.sample import Sample
from harness.files.forms.text import (
    VIDEO_LINE,
    flickr_rows,
    line_rows,
    table_rows,
    two_column_rows,
    video_line_rows,
)
from harness.files.records import Record

PARQUET = FormKind(
    "parquet",
    "Parquet",
    lambda sample: sample.container == "parquet",
    lambda sample: Form("parquet", sample.rows()),
    [FormExample("the same records as rows", COLUMN, is_text=False)],
    generic=True,
    splits="split",
    reading="columns of usual names; an image of `datasets` is its path",
)


def _spreadsheet(name: str, summary: str) -> FormKind:
    return FormKind(
        name,
        summary,
        lambda sample: sample.spreadsheet == name,
        lambda sample: Form(name, sample.rows()),
        [FormExample("the same as a table with a header row", COLUMN, is_text=False)],
        generic=True,
        splits="split",
        reading="columns of usual names, below a header row",
        options="the sheet, of several with content, after `#`: `FILE#SHEET`",
        extra="spreadsheets",
    )


def _text_kind(
    name: str,
    summary: str,
    rows: Callable[[Path], Iterator[Record]],
    examples: Sequence[FormExample],
    *,
    reading: str = "columns of usual names, below a header line",
    numbered: bool = False,
    check: Callable[[Sample], None] | None = None,
) -> FormKind:
    """Return a form of files of text, which the first line decides."""
    return FormKind(
        name,
        summary,
        lambda sample: sample.table == name,
        lambda sample: Form(name, rows(sample.path), numbered=numbered),
        examples,
        generic=True,
        splits="split" if "header" in reading else "",
        reading=reading,
        check=check,
    )


def _is_video_lines(sample: Sample) -> bool:
    lines = [line for line in sample.lines if line.strip()]
    if not lines or is_table_file(sample.path):
        return False
    return all(map(VIDEO_LINE.fullmatch, lines))


XLSX = _spreadsheet("xlsx", "Excel workbook")
ODS = _spreadsheet("ods", "OpenDocument spreadsheet")
CSV = _text_kind(
    "csv",
    "csv",
    table_rows,
    [
        FormExample('image_id,caption\n42,a dog\n73,"a cat, asleep"', COLUMN),
        FormExample(
            "image_id;caption\n42;a dog\n73;a cat",
            COLUMN,
            "csv with semicolons or bars",
        ),
    ],
    check=check_header,
)
TSV = _text_kind(
    "tsv",
    "tsv, cells quoted or not",
    table_rows,
    [FormExample('image\tcaption\n42\ta dog\n73\t"a cat, ""asleep"""', COLUMN)],
    check=check_header,
)
FLICKR = _text_kind(
    "flickr",
    "Flickr tokens",
    flickr_rows,
    [FormExample("42#0\ta dog\n42#1\ta brown dog\n73#0\ta cat", "before `#`")],
    reading="the text behind the tab",
)
PAIRS = _text_kind(
    "pairs",
    "id and caption, no header",
    two_column_rows,
    [FormExample("42\ta dog\n73\ta cat", "before the tab")],
    reading="the text behind the tab",
    check=check_pairs,
)
VIDEO_LINES = FormKind(
    "video-lines",
    "MSVD: the id of a clip, a blank and a caption",
    _is_video_lines,
    lambda sample: Form("video-lines", video_line_rows(sample.path), ids=("id",)),
    [FormExample("vid_4_2 a dog\nvid_7_3 a cat", "before the blank: `vid_4_2`")],
    reading="the text behind the blank; every one of the first lines has such an id",
)
TEXT = _text_kind(
    "txt",
    "plain text",
    line_rows,
    [FormExample("a dog\na cat", POSITION)],
    reading="each line",
    numbered=True,
    check=check_plain_lines,
)
