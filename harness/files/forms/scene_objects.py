"""Form of captions of the objects of scenes with their boxes: descriptions in the
records of ScanRefer with a box each, and predictions of Scan2Cap and Vote2Cap-DETR.

Layouts: https://github.com/daveredrum/ScanRefer (descriptions),
https://github.com/ch3cook-fdu/Vote2Cap-DETR (predictions). A box is its eight corners.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.captions import identity
from harness.files.event_sets import REGION_BOXES
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.record_forms import has, items, mapping
from harness.files.forms.sample import HEAD, Sample
from harness.files.records import Record

_NAME = "scene-objects"
_CORNERS = [[x, y, z] for z in (0, 1) for x, y in ((0, 0), (0, 1), (1, 1), (1, 0))]
"""Corners of the unit cube, for the example of the form."""


def _is_described(fields: Parameters) -> bool:
    """Return True for a description of an object with its box."""
    has_text = "description" in fields or "token" in fields
    return has_text and has(fields, "scene_id", "object_id", "bbox")


def _is_scene(value: object) -> bool:
    """Return True for a list of predictions of a scene."""
    return any(has(mapping(item), "caption", "box") for item in items(value)[:1])


def _predicted_scenes(document: object) -> Parameters:
    """Return the object of scenes of a document; empty for another file."""
    scenes = mapping(document)
    # a scene may have no predictions
    filled = [value for value in list(scenes.values())[:HEAD] if value]
    return scenes if filled and all(map(_is_scene, filled)) else {}


def _recognise(sample: Sample) -> bool:
    if sample.records and all(map(_is_described, sample.records)):
        return True
    return bool(_predicted_scenes(sample.document))


def _read(sample: Sample) -> Form:
    scenes = _predicted_scenes(sample.document)
    rows = _predictions(scenes, sample) if scenes else _descriptions(sample)
    return Form(_NAME, rows, ids=("id",))


def _descriptions(sample: Sample) -> Iterator[Record]:
    """Yield a record of each scene: its descriptions in the order of the file."""
    scenes: dict[str, list[Mapping[str, Any]]] = {}
    places: dict[str, str] = {}
    for row in sample.rows():
        if not _is_described(row.fields):
            raise InputError(
                "expected 'scene_id', 'object_id', 'description' or 'token', and "
                "'bbox', the eight corners of the object's box",
                row.where,
            )
        name = identity(row.fields["scene_id"], row.where, "scene_id")
        places.setdefault(name, row.where)
        scenes.setdefault(name, []).append(row.fields)
    for name, objects in scenes.items():
        fields: Values = {
            "captions": [_description(item) for item in objects],
            REGION_BOXES: [item["bbox"] for item in objects],
            "labels": [item["object_id"] for item in objects],
        }
        yield Record(places[name], {"id": name, **fields})


def _description(fields: Mapping[str, Any]) -> object:
    """Return the tokens of a description, which the evaluators compare; else its
    text.
    """
    tokens = fields.get("token")
    if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens):
        return " ".join(tokens)
    return fields.get("description")


def _predictions(scenes: Parameters, sample: Sample) -> Iterator[Record]:
    """Yield a record of each scene of a file of predictions."""
    for name, value in scenes.items():
        where = f"{sample.location}: '{name}'"
        objects: list[Mapping[str, Any]] = [mapping(item) for item in items(value)]
        for number, item in enumerate(objects, 1):
            if not has(item, "caption", "box"):
                raise InputError(
                    f"object {number} is {item!r:.60}; expected an object with "
                    "caption and box",
                    where,
                )
        fields: Values = {
            "captions": [_without_marks(item["caption"]) for item in objects] or None,
            REGION_BOXES: [item["box"] for item in objects],
        }
        for column, key in (("scores", "conf"), ("labels", "cls")):
            has_key = [key in item for item in objects]
            if any(has_key) and not all(has_key):
                raise InputError(
                    f"object {has_key.index(False) + 1} has no '{key}', which others "
                    "have; expected it of each object, or of none",
                    where,
                )
            if any(has_key):
                fields[column] = [item[key] for item in objects]
        yield Record(where, {"id": name, **fields})


def _without_marks(caption: object) -> object:
    """Return a caption without the marks ``sos`` and ``eos`` of the files, which the
    protocols that count them as words put around it again.
    """
    if not isinstance(caption, str):
        return caption
    words = caption.split(" ")
    if words[0] == "sos":
        words = words[1:]
    return " ".join(words[:-1] if words[-1:] == ["eos"] else words)


SCENE_OBJECTS = FormKind(
    _NAME,
    "objects of scenes with the corners of their boxes: descriptions as ScanRefer's "
    "with `bbox`",
    _recognise,
    _read,
    [
        FormExample.of_json(
            [
                {
                    "scene_id": key,
                    "object_id": "0",
                    "ann_id": "0",
                    "token": text.split(),
                    "bbox": _CORNERS,
                }
                for key, text in (("42", "a dog"), ("73", "a cat"))
            ],
            "`scene_id`",
        ),
        FormExample.of_json(
            {
                key: [{"caption": text, "box": _CORNERS, "cls": 3, "conf": 0.9}]
                for key, text in (("42", "a dog"), ("73", "a cat"))
            },
            "the keys",
            "predictions of Scan2Cap and Vote2Cap-DETR",
        ),
    ],
    reading="the captions of a scene, their boxes in `region_boxes`, `object_id` or "
    "`cls` as labels, `conf` as scores; of a description its tokens, of a prediction "
    "what stands between `sos` and `eos`",
)
