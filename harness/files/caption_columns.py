"""Columns that hold captions, by their names and the values of the first records."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from harness.contracts import Parameters, Role
from harness.files.columns import CAPTION_COLUMNS, find_name, normalise
from harness.files.fields import may_be_captions
from harness.files.yaml_source import YamlValue

HEAD = 20
"""Number of records whose values decide which columns hold captions."""
_NUMBERED: Mapping[Role, re.Pattern[str]] = {
    "candidates": re.compile(
        r"(candidate|prediction|hypothesis|hyp|caption|generation|response|output)\d+"
    ),
    "references": re.compile(
        r"(caption|captions|reference|references|ref|refs|gt|sentence|comment|answer|description)\.?\d+"
    ),
}
"""Normalised names of columns that hold one caption each of a set; pandas names the
second of two equal columns ``caption.1``.
"""
_RELATED = re.compile(
    r"(.*_)?(captions?|captioned|predictions?|predicted|responses?|outputs?|answers?"
    r"|generated|generations?|descriptions?|candidates?|hypothes[ie]s|references?)(_.*)?"
)
"""Names with a word for captions in them, such as ``model_caption``."""


@dataclass(frozen=True)
class CaptionColumns:
    """Columns of the captions of a file: one, or several with one caption each."""

    names: tuple[str, ...]
    others: tuple[str, ...] = ()
    """Columns with other usual names that could hold captions too."""


def find_caption_columns(
    records: Sequence[Parameters], role: Role
) -> CaptionColumns | None:
    """Return the columns that hold the captions of a role by their names and values;
    None where no column can.

    Parameters
    ----------
    records : sequence of mapping
        The first records of a file.
    role : {"candidates", "references"}
        Captions to find.

    Examples
    --------
    >>> find_caption_columns(
    ...     [
    ...         {
    ...             "id": 1,
    ...             "caption_1": "a dog",
    ...             "caption_2": "the dog",
    ...             "caption_length": 5,
    ...         }
    ...     ],
    ...     "references",
    ... ).names
    ('caption_1', 'caption_2')
    """
    present = list(dict.fromkeys(name for record in records for name in record))
    first_value = {name: _first_value(records, name) for name in present}

    # Columns of usual names, in order of preference, and those of numbered ones.
    usual: dict[str, None] = {}
    for name in CAPTION_COLUMNS[role]:
        column = find_name([name], present)
        if column is not None:
            usual[column] = None
    numbered = [
        name
        for name in present
        if _NUMBERED[role].fullmatch(normalise(name))
        and may_be_captions(first_value[name])
    ]
    possible = [name for name in usual if may_be_captions(first_value[name])]

    # A number or a name of a file as the only caption is odd, and is what the user has.
    if not possible and not numbered:
        texts = [n for n in usual if isinstance(first_value[n], (str, list, tuple))]
        if not usual:
            return None
        return CaptionColumns(((texts or list(usual))[0],), tuple(texts[1:]))

    if not possible:
        return CaptionColumns(tuple(numbered))
    further = ()
    if role == "references":
        further = _continue_columns(possible[0], numbered)
    columns = (possible[0], *further)
    other_role = CAPTION_COLUMNS["references" if role == "candidates" else "candidates"]
    of_other_role = {find_name([name], present) for name in other_role}
    related = [
        name
        for name in present
        if name not in usual
        and name not in of_other_role
        and _RELATED.fullmatch(re.sub(r"[\s-]", "_", name.casefold()))
        and _has_words(first_value[name])
    ]
    others = dict.fromkeys((*possible[1:], *numbered, *related))
    return CaptionColumns(columns, tuple(n for n in others if n not in columns))


def _has_words(value: YamlValue) -> bool:
    """Return True for a text of several words, and for a list that begins with one."""
    if isinstance(value, (list, tuple)):
        return bool(value) and _has_words(value[0])
    return isinstance(value, str) and " " in value.strip() and may_be_captions(value)


def _continue_columns(first: str, numbered: Sequence[str]) -> tuple[str, ...]:
    """Return the numbered columns that continue a column without a number:
    ``reference2``, or ``caption.1`` of pandas.

    >>> (
    ...     _continue_columns("reference", ["reference2", "reference3"]),
    ...     _continue_columns("caption", ["caption_1", "caption_2"]),
    ... )
    (('reference2', 'reference3'), ())
    """
    stem = normalise(first)
    columns = {normalise(column): column for column in numbered}

    # A set that counts from 0 or 1 is one of its own, beside a column that holds
    # something else.
    if f"{stem}0" in columns or f"{stem}1" in columns:
        return ()
    for separator, start in (("", 2), (".", 1)):
        expected = [f"{stem}{separator}{start + k}" for k in range(len(numbered))]
        continuing = list(takewhile(columns.__contains__, expected))
        if continuing:
            return tuple(columns[name] for name in continuing)
    return ()


def _first_value(records: Sequence[Parameters], column: str) -> YamlValue:
    """Return the first value of a column that is neither null nor empty; None where
    there is none.
    """
    for record in records:
        value = record.get(column)
        if value not in (None, "", []):
            return value
    return None
