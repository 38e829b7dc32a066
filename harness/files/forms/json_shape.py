"""Shapes of JSON documents that hold captions: records, lists of texts, objects of ids,
and objects that hold one of these below a key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.contracts import Parameters, Role
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS, REFERENCE_COLUMNS
from harness.files.records import Record
from harness.files.yaml_source import YamlValue

_SHARED = (
    "annotations",
    "results",
    "result",
    "captions",
    "data",
    "samples",
    "items",
    "examples",
    "records",
)
WRAPPERS: Mapping[str, tuple[str, ...]] = {
    "candidates": (
        "predictions",
        "candidates",
        "hypotheses",
        "generations",
        "outputs",
        *_SHARED,
    ),
    "references": ("references", *_SHARED),
}
"""Role -> keys of an object that hold the records of a file, in order of preference."""


class Shape(NamedTuple):
    """A JSON value that holds captions, and where it is in its document."""

    name: str
    """``list`` of texts, ``json`` list of records, ``mapping`` of ids, or ``jsonl``:
    one record.
    """
    value: YamlValue
    location: str
    key: str = ""
    """Key of the object that holds the value; empty for the whole document."""


def shape_of(
    value: YamlValue, role: Role, names: Sequence[str], location: str
) -> Shape:
    """Return the shape of a document; ``names`` are names of columns in parameters of
    the user.
    """
    if not isinstance(value, dict):
        return _shape_of_list(value, location)
    if _is_record(value, names):
        return Shape("jsonl", value, location)

    for key in WRAPPERS[role]:
        inner = value.get(key)

        # Annotations that are no list are a mistake that reading the list names.
        if isinstance(inner, list) or (key in value and key == "annotations"):
            return _shape_of_list(inner, f"{location}: {key}", key)
        if not isinstance(inner, dict):
            continue
        for below in WRAPPERS[role]:
            if _holds_records(inner.get(below)):
                place = f"{location}: {key}: {below}"
                return _shape_of_list(inner[below], place, below)
        if is_mapping(inner, names):
            return Shape("mapping", inner, f"{location}: {key}", key)

    name = "mapping" if is_mapping(value, names) else "jsonl"
    return Shape(name, value, location)


def _shape_of_list(value: YamlValue, location: str, key: str = "") -> Shape:
    """Return the shape of a list: of texts, or of records and anything else."""
    are_texts = isinstance(value, list) and bool(value) and all(map(_is_texts, value))
    return Shape("list" if are_texts else "json", value, location, key)


def _is_texts(item: YamlValue) -> bool:
    """Return True for a text and for a list of texts."""
    texts = [item] if isinstance(item, str) else item
    if not isinstance(texts, list) or not texts:
        return False
    return all(isinstance(text, str) for text in texts)


def _holds_records(value: YamlValue) -> bool:
    """Return True for a list whose first item is an object with a column of ids."""
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], dict)
        and any(name in value[0] for name in FILE_ID_COLUMNS)
    )


def _is_record(value: Parameters, names: Sequence[str]) -> bool:
    """Return True for an object with columns of a record: one of the user's, or those
    of an id and of captions.
    """
    if any(name in value for name in names):
        return True
    if not any(isinstance(value.get(name), (str, int)) for name in FILE_ID_COLUMNS):
        return False
    return any(name in value for name in (*CANDIDATE_COLUMNS, *REFERENCE_COLUMNS))


def is_mapping(value: Parameters, names: Sequence[str] = ()) -> bool:
    """Return True for an object of ids with captions: texts, lists, null, or objects
    with captions.
    """
    return bool(value) and all(
        item is None
        or isinstance(item, (str, list))
        or (isinstance(item, dict) and _has_captions(item, names))
        for item in value.values()
    )


def _has_captions(item: Parameters, names: Sequence[str]) -> bool:
    return any(
        name in item for name in (*names, "raw", *CANDIDATE_COLUMNS, *REFERENCE_COLUMNS)
    )


def mapping_rows(value: Parameters, location: str) -> Iterator[Record]:
    """Yield one record per id of an object ``{id: captions}``; objects with several
    columns keep them.
    """
    for name, item in value.items():
        has_columns = isinstance(item, dict) and not {"caption", "raw"} & set(item)
        fields = {**item, "id": name} if has_columns else {"id": name, "captions": item}
        yield Record(f"{location}: '{name}'", fields)
