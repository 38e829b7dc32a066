"""Texts and ids of rows that a program passes: dictionaries, rows of a data set, data frames and labelled series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from harness.contracts import Parameters, Role
from harness.errors import InputError
from harness.files.captions import quote_list
from harness.files.columns import FILE_ID_COLUMNS, MOST_NAMES, find_caption_columns, find_name, id_columns, is_id
from harness.files.table_types import frame_records

HEAD = 20
"""Number of rows whose values decide which columns hold captions."""


def rows_of(value: object) -> list[Parameters] | None:
    """Return the rows of a data frame, or of a sequence of mappings of which one has more than a caption; None for anything else."""
    records = frame_records(value)
    if records is not None:
        return records
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        return None
    items = list(cast("Sequence[Any]", value))
    if not items or not all(isinstance(item, Mapping) for item in items):
        return None
    return None if all(set(item) == {"caption"} for item in items) else items


def texts_of_rows(rows: Sequence[Parameters], role: Role) -> list[object]:
    """Return the captions of each row, from the columns of a role; raise :class:`InputError` where there are none."""
    found = find_caption_columns(rows[:HEAD], role)
    if found is None:
        names = quote_list(rows[0], MOST_NAMES) or "none"
        raise InputError(f"no column of {role}; found {names}; pass the texts: [row['NAME'] for row in rows]", role)
    if len(found.names) == 1:
        return [row.get(found.names[0]) for row in rows]
    return [[row[name] for name in found.names if row.get(name) not in (None, "")] for row in rows]


def shared_ids(candidates: Sequence[Parameters], references: Sequence[Parameters]) -> tuple[list[str], list[str]] | None:
    """Return the ids of both sides by the first column of ids that they share; None where they share none."""
    for name in id_columns(candidates[0], FILE_ID_COLUMNS):
        other = find_name([name], references[0])
        if other is not None and all(is_id(row.get(name)) for row in candidates) and all(is_id(row.get(other)) for row in references):
            return [str(row[name]) for row in candidates], [str(row[other]) for row in references]
    return None


def group_by_id(ids: Sequence[str], texts: Sequence[object]) -> dict[str, object]:
    """Return the texts of each id: the value of its only row, or those of its rows together."""
    out: dict[str, list[object]] = {}
    for key, value in zip(ids, texts, strict=True):
        out.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else _flatten(values) for key, values in out.items()}


def _flatten(values: Sequence[object]) -> list[object]:
    return [text for value in values for text in (cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else [value])]
