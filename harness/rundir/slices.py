"""Slices: examples that share a value of a metadata column, such as nocaps' domains.

A slice is called ``COLUMN=VALUE`` in results, tables and gates. Columns have the names
of the metadata: a name that is there wins, and a path such as ``meta.domain`` reaches
into nested objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from harness.contracts import Parameters
from harness.errors import InputError, counted, did_you_mean

NO_VALUE = "(none)"
"""Value of the slice of examples whose metadata lack the column,
or have null or an empty text there.
"""
MOST_SLICES = 100
"""Largest number of slices of a column: each has a number and an interval for every
system and metric.
"""
MAX_VALUE = 80
"""Largest number of characters of a value, which stands in tables and in the samples.
"""


def value_of(meta: Parameters, column: str) -> object:
    """Return the value of a metadata column, by its name or by a path into nested
    objects; None where there is none.

    >>> (
    ...     value_of({"image": {"domain": "near"}}, "image.domain"),
    ...     value_of({"image.domain": 1}, "image.domain"),
    ... )
    ('near', 1)
    """
    if column in meta:
        return meta[column]
    here: object = meta
    for step in column.split("."):
        if not isinstance(here, Mapping) or step not in here:
            return None
        here = cast("Mapping[str, object]", here)[step]
    return here


def slice_values(
    metas: Iterable[Parameters], column: str, *, limited: bool = False
) -> list[str]:
    """Return the value of a column of every example as text,
    :data:`NO_VALUE` where it has none.

    ``limited``: the examples are the first ones of more, which may all differ where
    those do not.

    Raises
    ------
    InputError
        No example has the column; a value is a list, an object or a long text; no two
        examples share a value; there are more than :data:`MOST_SLICES` values.
    """
    values: list[str] = []
    columns: dict[str, None] = {}
    for meta in metas:
        columns |= dict.fromkeys(meta)
        values.append(_text(value_of(meta, column), column))

    # A column without values and an unknown one are told apart by the names that are
    # there.
    if all(value == NO_VALUE for value in values):
        if column in columns:
            raise InputError(
                f"slices: '{column}' has a value for no example", value=column
            )
        present = ", ".join(columns) or "none"
        hint = did_you_mean(column, list(columns))
        raise InputError(
            f"slices: no example has '{column}' in its metadata{hint}; "
            f"it has {present}",
            value=column,
        )

    distinct = len(set(values))
    if distinct == len(values) > 1 and not limited:
        raise InputError(
            f"slices: '{column}' has another value for each of "
            f"{counted(len(values), 'example')}; expected a column whose values "
            "several examples share",
            value=column,
        )
    if distinct > MOST_SLICES:
        raise InputError(
            f"slices: '{column}' has {distinct:,} values; "
            f"expected at most {MOST_SLICES} slices",
            value=column,
        )
    return values


def _text(value: object, column: str) -> str:
    if value is None or value == "":
        return NO_VALUE
    if not isinstance(value, (str, int, float)):
        raise InputError(
            f"slices: '{column}' holds {type(value).__name__} {value!r:.60}; "
            "expected a text, a number or a flag",
            value=column,
        )
    text = " ".join(str(value).split())
    if len(text) > MAX_VALUE:
        raise InputError(
            f"slices: '{column}' holds a text of {len(text)} characters; "
            f"expected at most {MAX_VALUE}",
            value=column,
        )
    return text


def slice_masks(column: str, values: Sequence[str]) -> dict[str, np.ndarray]:
    """Return name of a slice -> mask (B,) of its examples, in the order of their first
    example; examples without a value come last.

    >>> {
    ...     name: mask.tolist()
    ...     for name, mask in slice_masks("domain", ["near", "in", "near"]).items()
    ... }
    {'domain=near': [True, False, True], 'domain=in': [False, True, False]}
    """
    texts = np.array(values, dtype=object)
    ordered = sorted(dict.fromkeys(values), key=lambda value: value == NO_VALUE)
    return {
        f"{column}={value}": np.asarray(texts == value, dtype=bool) for value in ordered
    }


@dataclass(frozen=True, eq=False)
class Slice:
    """Some of B examples."""

    name: str
    """``COLUMN=VALUE``."""
    mask: np.ndarray
    """Mask of the examples, bool, shape (B,)."""


def find_slices(
    metas: Callable[[], Iterable[Parameters]],
    columns: Sequence[str],
    *,
    limited: bool = False,
) -> list[Slice]:
    """Return the slices of several columns, one column after the other; parameters and
    errors are those of :func:`slice_values`.

    ``metas`` returns the metadata of the examples, once for each column, so that those
    of a large run need not be in memory.
    """
    slices: list[Slice] = []
    for column in dict.fromkeys(columns):
        values = slice_values(metas(), column, limited=limited)
        slices += [
            Slice(name, mask) for name, mask in slice_masks(column, values).items()
        ]
    return slices
