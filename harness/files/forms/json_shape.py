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
    """``list`` of texts, ``json`` list of records, ``mapping`` of ids,
    or ``jsonl``: one record.
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
    if not _is_record(value, names):
        for key in WRAPPERS[role]:
            inner = value.get(key)
            if isinstance(inner, list) or (key in value and key == "annotations"):
                return _shape_of_list(inner, f"{location}: {key}", key)
            if isinstance(inner, dict) and (
                below := next(
                    (
                        name
                        for name in WRAPPERS[role]
                        if _holds_records(inner.get(name))
                    ),
                    "",
                )
            ):
                return _shape_of_list(
                    inner[below], f"{location}: {key}: {below}", below
                )
            if isinstance(inner, dict) and is_mapping(inner, names):
                return Shape("mapping", inner, f"{location}: {key}", key)
        if is_mapping(value, names):
            return Shape("mapping", value, location)
    return Shape("jsonl", value, location)


def _shape_of_list(value: YamlValue, location: str, key: str = "") -> Shape:
    texts = (
        isinstance(value, list)
        and bool(value)
        and all(_is_texts(item) for item in value)
    )
    return Shape("list" if texts else "json", value, location, key)


def _is_texts(item: YamlValue) -> bool:
    return isinstance(item, str) or (
        isinstance(item, list) and bool(item) and all(isinstance(x, str) for x in item)
    )


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
    captions = (*CANDIDATE_COLUMNS, *REFERENCE_COLUMNS)
    identified = any(
        isinstance(value.get(name), (str, int)) for name in FILE_ID_COLUMNS
    )
    return any(name in value for name in names) or (
        identified and any(name in value for name in captions)
    )


def is_mapping(value: Parameters, names: Sequence[str] = ()) -> bool:
    """Return True for an object of ids with captions: texts, lists, null,
    or objects with captions.
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
    """Yield one record per id of an object ``{id: captions}``;
    objects with several columns keep them.
    """
    for name, item in value.items():
        content = isinstance(item, dict) and not {"caption", "raw"} & set(item)
        yield Record(
            f"{location}: '{name}'",
            {**item, "id": name} if content else {"id": name, "captions": item},
        )
