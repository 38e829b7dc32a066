"""The parameter ``split`` of readers: one split, several, or all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.errors import InputError, did_you_mean, nearest_name


def split_names(split: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the selected splits; empty for all.

    >>> split_names("test"), split_names(["train", "restval"]), split_names(None)
    (('test',), ('train', 'restval'), ())
    """
    if split is None:
        return ()
    return (split,) if isinstance(split, str) else tuple(split)


def check_splits(names: Sequence[str], present: Iterable[Any], where: str) -> None:
    """Raise :class:`InputError` for the first of ``names`` that is not among the splits of the records."""
    splits = list(dict.fromkeys(str(name) for name in present if name is not None))
    for name in names:
        if name not in splits:
            available = ", ".join(splits[:5]) + (", ..." if len(splits) > 5 else "")
            raise InputError(
                f"no split '{name}'{did_you_mean(name, splits)}; found {available or 'none'}",
                where,
                parameter="split",
                value=name,
                expected=splits,
                nearest=nearest_name(name, splits),
            )
