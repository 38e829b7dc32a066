"""The parameter ``split`` of readers: one split, several, or all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.errors import InputError


def split_names(split: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the selected splits; empty for all.

    >>> split_names("test"), split_names(["train", "restval"]), split_names(None)
    (('test',), ('train', 'restval'), ())
    """
    if split is None:
        return ()
    return (split,) if isinstance(split, str) else tuple(split)


def check_splits(names: Sequence[str], present: Iterable[Any], location: str) -> None:
    """Raise :class:`InputError` for the first of ``names`` that is not among the splits of the records."""
    splits = list(dict.fromkeys(str(name) for name in present if name is not None))
    for name in names:
        if name not in splits:
            raise InputError.of_name("no split", name, splits, "found", location, parameter="split")
