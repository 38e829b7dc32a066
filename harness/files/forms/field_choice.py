"""The field of captions among those of programs in which people write captions."""

from __future__ import annotations

from collections.abc import Mapping

from harness.errors import InputError
from harness.files.captions import quote_list
from harness.files.columns import CANDIDATE_COLUMNS, REFERENCE_COLUMNS
from harness.files.forms.record_forms import Conversion
from harness.files.records import Record
from harness.files.yaml_source import YamlValue

_USUAL = dict.fromkeys(
    (*REFERENCE_COLUMNS, *CANDIDATE_COLUMNS, "description", "answer")
)
"""Usual names of fields of captions, in order of preference."""


def choose_field(
    texts: Mapping[str, list[str]], row: Record, conversion: Conversion
) -> list[str]:
    """Return the captions of the only field with texts, of the one that the user names,
    or of the one with a usual name.

    Raises
    ------
    InputError
        Several fields have texts, and none of them is named or has a usual name.
    """
    if len(texts) < 2:
        return next(iter(texts.values()), [])
    for name in (*conversion.names, *_USUAL):
        if name in texts:
            return texts[name]
    raise InputError(
        f"has texts in {len(texts)} fields, {quote_list(texts, 5)}; "
        "name one of them as the column of captions",
        row.where,
    )


def list_or_none(texts: list[str]) -> YamlValue:
    """Return texts as a list, None for none: a record has all captions of its item."""
    return list(texts) or None
