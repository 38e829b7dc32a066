"""Form of the exports of Label Studio.

Layout: https://labelstud.io/guide/export.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from harness.contracts import Parameters, Values
from harness.files.forms.field_choice import choose_field, list_or_none
from harness.files.forms.form_kind import FormExample
from harness.files.forms.record_forms import Conversion, items, mapping, record_kind
from harness.files.records import Record

CANCELLED = "cancelled annotations"
WITHOUT_ANNOTATION = "tasks without an annotation"


def _is_label_studio(fields: Parameters) -> bool:
    lists = [
        fields[name]
        for name in ("annotations", "completions", "predictions")
        if isinstance(fields.get(name), list)
    ]
    if not lists or not isinstance(fields.get("data"), Mapping):
        return False
    return all(isinstance(mapping(item).get("result"), list) for item in chain(*lists))


def _texts_by_field(annotation: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return field (``from_name``) -> the texts that an annotation has in it."""
    out: dict[str, list[str]] = {}
    for region in map(mapping, items(annotation.get("result"))):
        texts = mapping(region.get("value")).get("text")
        if isinstance(texts, str):
            texts = [texts]
        if isinstance(texts, list) and region.get("type", "textarea") == "textarea":
            name = str(region.get("from_name", "caption"))
            out.setdefault(name, [])
            out[name] += [str(text) for text in texts if text is not None]
    return out


def _convert_label_studio(row: Record, conversion: Conversion) -> Values:
    # Exports of early versions name the annotations completions.
    fields = row.fields
    annotations = [
        mapping(item)
        for item in items(fields.get("annotations", fields.get("completions")))
    ]
    valid = [
        item
        for item in annotations
        if not (item.get("was_cancelled") or item.get("skipped"))
    ]
    if len(valid) < len(annotations):
        conversion.left_out[CANCELLED] += len(annotations) - len(valid)

    # The captions of a model lie beside those of people, and are what candidates are
    # sought for.
    by_field: dict[str, list[str]] = {}
    if conversion.role == "candidates":
        by_field = _collect(map(mapping, items(fields.get("predictions"))))
    by_field = by_field or _collect(valid)
    texts = choose_field(by_field, row, conversion)
    if not texts:
        conversion.left_out[WITHOUT_ANNOTATION] += 1
    return {
        **mapping(fields.get("data")),
        **fields,
        **by_field,
        **conversion.captions(list_or_none(texts)),
    }


def _collect(annotations: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return field -> the texts that some annotations have in it."""
    by_field: dict[str, list[str]] = {}
    for annotation in annotations:
        for name, texts in _texts_by_field(annotation).items():
            by_field.setdefault(name, []).extend(texts)
    return by_field


LABEL_STUDIO = record_kind(
    "label-studio",
    "Label Studio, export as JSON: the texts of all annotations of a task",
    _is_label_studio,
    _convert_label_studio,
    [
        FormExample.of_json(
            [
                {
                    "id": 42,
                    "data": {"image": "/data/upload/1/a.jpg"},
                    "annotations": [
                        {
                            "id": 1,
                            "was_cancelled": False,
                            "result": [
                                {
                                    "type": "textarea",
                                    "from_name": "caption",
                                    "value": {"text": ["a dog"]},
                                }
                            ],
                        }
                    ],
                },
                {
                    "id": 73,
                    "data": {"image": "/data/upload/1/b.jpg"},
                    "annotations": [
                        {
                            "id": 2,
                            "was_cancelled": False,
                            "result": [
                                {
                                    "type": "textarea",
                                    "from_name": "caption",
                                    "value": {"text": ["a cat"]},
                                }
                            ],
                        }
                    ],
                },
            ],
            "`id` of the task, as in JSON-MIN; also the columns of `data`",
        )
    ],
    options="of several fields with texts the one of a usual name, "
    "or that the column names (`--column`, `--reference-column`)",
    reading="the texts of all annotations but cancelled ones, which are counted; "
    "as candidates those of `predictions` where there are some",
)
