"""Fields of a reference that say that it is not to be scored, such as ``is_rejected``
of VizWiz.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from harness.contracts import Parameters
from harness.files.columns import normalise
from harness.files.yaml_source import YamlValue

_TRUE = frozenset(("isrejected", "rejected", "isprecanned", "precanned"))
"""Normalised names of fields that exclude a reference where they are true."""
_FALSE = frozenset(("isvalid", "valid"))
"""Those that exclude it where they are false."""
_TRUTHS = {
    "true": True,
    "1": True,
    "1.0": True,
    "yes": True,
    "false": False,
    "0": False,
    "0.0": False,
    "no": False,
}
"""Text of a flag, which tables write as a text or a number -> its truth."""


def find_mark(fields: Parameters) -> str | None:
    """Return the field that excludes a reference, as ``NAME`` or ``NAME: false``; None
    for a reference to be scored.

    >>> (
    ...     find_mark({"caption": "a dog", "is_rejected": True}),
    ...     find_mark({"caption": "a dog", "Valid": "false"}),
    ... )
    ('is_rejected', 'Valid: false')
    >>> find_mark({"caption": "a dog", "is_rejected": 0, "rejected": "a cat"}) is None
    True
    """
    for name, of_true in _marks_among(tuple(fields)):
        if mark := _excludes(name, of_true, fields[name]):
            return mark
    return None


def keep_unmarked(
    fields: Parameters, value: YamlValue, left_out: Counter[str]
) -> YamlValue:
    """Return a list of references without those that are marked; any other value as it
    is.

    A mark is a field of a reference that is an object, or stands at its place in a list
    of marks as long as the list of references.

    Parameters
    ----------
    fields : mapping
        Record of the references.
    value : object
        Its references.
    left_out : Counter
        Mark -> number of references, which grows.

    Examples
    --------
    >>> left_out = Counter()
    >>> (
    ...     keep_unmarked(
    ...         {"is_rejected": [False, True]}, ["a dog", "too dark"], left_out
    ...     ),
    ...     dict(left_out),
    ... )
    (['a dog'], {'is_rejected': 1})
    """
    if not isinstance(value, (list, tuple)) or not value:
        return value

    lists: list[tuple[str, bool, list[YamlValue]]] = []
    for name, of_true in _marks_among(tuple(fields)):
        marks = fields[name]
        if isinstance(marks, (list, tuple)) and len(marks) == len(value):
            lists.append((name, of_true, list(marks)))
    if not lists and not isinstance(value[0], Mapping):
        return value

    references: list[YamlValue] = []
    for position, item in enumerate(value):
        mark = find_mark(item) if isinstance(item, Mapping) else None
        for name, of_true, marks in lists:
            mark = mark or _excludes(name, of_true, marks[position])
        if mark is None:
            references.append(item)
        else:
            left_out[mark] += 1
    return references


@lru_cache(maxsize=1024)  # most records of a file have the same names
def _marks_among(names: tuple[str, ...]) -> tuple[tuple[str, bool], ...]:
    """Return the names of marks, and whether true excludes a reference: first those of
    which it does.
    """
    of_true = [(name, True) for name in names if normalise(name) in _TRUE]
    of_false = [(name, False) for name in names if normalise(name) in _FALSE]
    return (*of_true, *of_false)


def _excludes(name: str, of_true: bool, value: YamlValue) -> str | None:
    """Return the text of a mark that excludes a reference; None for any other value."""
    if _truth(value) is not of_true:
        return None
    return name if of_true else f"{name}: false"


def _truth(value: YamlValue) -> bool | None:
    """Return the truth of a flag; None for any other value."""
    if isinstance(value, (list, tuple, Mapping)):
        return None
    return _TRUTHS.get(str(value).strip().lower())
