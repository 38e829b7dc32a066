"""JSON of files and replies from outside of the harness: values of few levels, rows
with a checksum.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

MAX_LEVELS = 100
"""Largest number of levels of a value."""
encode_row = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
"""Return the JSON text of a stored row in one line of ASCII."""
_TOO_DEEP = f"nested more than {MAX_LEVELS} levels deep"


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Parameters
    ----------
    text : str or bytes
        The text; bytes in UTF-8, UTF-16 or UTF-32.

    Raises
    ------
    ValueError
        The text is not JSON, not in its encoding, or nested more than
        :data:`MAX_LEVELS` levels deep. Functions that descend into the value need no
        bound of their own.

    Examples
    --------
    >>> parse_json('{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> parse_json("[" * 101 + "]" * 101)
    Traceback (most recent call last):
    ...
    ValueError: nested more than 100 levels deep
    """
    # Python's own limit of recursion is too high for functions that descend into the
    # value with several frames per level. Few texts have that many brackets at all:
    # counting them costs less than walking through every value.
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if isinstance(text, str):
        brackets = text.count("[") + text.count("{")
    else:
        brackets = text.count(b"[") + text.count(b"{")
    if brackets > MAX_LEVELS and _is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def parse_row(text: object, checksum: object) -> Mapping[str, Any] | None:
    """Return the JSON object of a stored row; None where it is damaged: another
    checksum, or no JSON object.
    """
    if isinstance(text, bytes) and zlib.crc32(text) == checksum:
        with suppress(ValueError):
            row = parse_json(text)
            return row if isinstance(row, dict) else None
    return None


def _is_deep(value: object) -> bool:
    """Return True for lists and objects in more than :data:`MAX_LEVELS` levels."""
    # Level by level instead of by recursion, which is what the bound protects from.
    level: list[Any] = [value]
    for _ in range(MAX_LEVELS):
        level = [item for outer in level for item in _items(outer)]
    return any(isinstance(item, (list, dict)) for item in level)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
