"""Sections and splits of annotation files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from harness.errors import InputError
from harness.files import captions as checks
from harness.files.records import Record, kind, list_items
from harness.files.table_columns import MOST_NAMES


def split_names(split: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the selected splits; empty for all.

    >>> split_names("test"), split_names(["train", "restval"]), split_names(None)
    (('test',), ('train', 'restval'), ())
    """
    if split is None:
        return ()
    return (split,) if isinstance(split, str) else tuple(split)


def check_splits(names: Sequence[str], present: Iterable[Any], location: str) -> None:
    """Raise :class:`InputError` for the first of ``names`` that is not among the splits
    of the records.
    """
    splits = list(dict.fromkeys(str(name) for name in present if name is not None))
    for name in names:
        if name not in splits:
            raise InputError.of_name(
                "no split", name, splits, "found", location, parameter="split"
            )


def section(data: Any, name: str, path: str) -> Iterator[Record]:
    """Yield the records of one list of an annotation file; raise :class:`InputError`
    when there is no such list.
    """
    if not isinstance(data, dict):
        raise InputError(
            f"found {kind(data)}; expected an object with the list '{name}'", path
        )
    if name not in data:
        raise InputError(
            f"no list '{name}'; found "
            f"{checks.quote_list(data, MOST_NAMES) or 'nothing'}",
            path,
        )
    return list_items(data[name], f"{path}: {name}")
