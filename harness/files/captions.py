"""Checks of single values in users' records: texts, captions, ids and counts."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from harness.errors import InputError
from harness.files.records import kind
from harness.files.yaml_source import YamlValue

ID_COLUMNS = (
    "id", "image_id", "video_id", "cocoid", "img_id", "imgid", "youtube_id", "file_name", "filename", "index",
    "videoID", "sample_id", "doc_id", "audio_id", "clip_id", "image_name",
)  # fmt: skip
"""Usual names of the id column, in order of preference."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_LIST_ENDS = re.compile(r"\s*\[\s*['\"].*['\"\]]\s*,?\s*\]\s*", re.DOTALL)
"""A string that begins and ends as a list of strings."""
_STRING = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_LIST = re.compile(rf"\s*\[\s*{_STRING}(?:\s*,\s*{_STRING})*\s*,?\s*\]\s*", re.DOTALL)


def check_text(value: YamlValue, location: str, *, what: str = "caption") -> str:
    """Return one text unchanged when it is valid; an empty text is valid.

    Parameters
    ----------
    value : object
        Value to check.
    location : str
        Place of the value for the message, such as ``file:line``.
    what : str, default "caption"
        Noun for the value in the message.

    Raises
    ------
    InputError
        When the value is not a string, or contains NUL or an unpaired surrogate.

    Examples
    --------
    >>> check_text("a dog", "captions.json: record 1")
    'a dog'
    """
    if not isinstance(value, str):
        raise InputError(f"the {what} is {kind(value)}; expected text", location)
    if "\0" in value:
        raise InputError(f"the {what} holds the character NUL: {value!r:.80}", location)
    if not value.isascii() and _SURROGATE.search(value):
        raise InputError(f"the {what} holds an unpaired surrogate, half of a character: {value!r:.80}", location)
    return value


def caption(value: YamlValue, location: str, *, what: str = "caption", allow_empty: bool = False) -> str:
    """Return one caption unchanged; raise :class:`InputError` as :func:`check_text`, and for a blank one unless allowed."""
    text = check_text(value, location, what=what)
    if not allow_empty and not text.strip():
        raise InputError(f"empty {what} {text!r} (allow_empty: true keeps it)", location)
    return text


def captions(value: YamlValue, location: str, *, what: str = "caption", allow_empty: bool = False) -> tuple[str, ...]:
    """Return the captions of a string, an object with the key ``caption`` or ``raw``, or a list of these.

    A string that holds a list of texts, as pandas and the csv module write one into a cell, is read as that list. Raises
    :class:`InputError` for a value that :func:`caption` refuses, and for a string that begins and ends as a list and is none.

    >>> captions(["a dog", {"raw": "a cat"}], "here")
    ('a dog', 'a cat')
    >>> captions("['a dog', 'the dog']", "here")
    ('a dog', 'the dog')
    """
    items = value if isinstance(value, (list, tuple)) else [value]
    if isinstance(value, str) and (texts := parse_list(value, location, what=what)):
        items = texts
    return tuple(caption(_inner(item), location, what=what, allow_empty=allow_empty) for item in items)


def parse_list(text: str, location: str, *, what: str = "caption") -> list[str] | None:
    """Return the texts of a list in Python's or JSON's form; None for a text that begins or ends otherwise.

    Raises
    ------
    InputError
        When the text begins and ends as a list of strings and is none.
    """
    if not _LIST_ENDS.fullmatch(text):
        return None
    # Python joins strings without a comma between them, as NumPy prints an array, into one: such a text is refused.
    if _LIST.fullmatch(text):
        for read in (json.loads, ast.literal_eval):
            with suppress(ValueError, SyntaxError):
                return read(text.strip())
    raise InputError(f'the {what} {text!r:.80} is no list of texts; expected ["a dog", "the dog"]', location)


def _inner(item: YamlValue) -> YamlValue:
    if isinstance(item, Mapping):
        for name in ("caption", "raw"):
            if name in item:
                return item[name]
    return item


def identity(value: YamlValue, location: str, column: str) -> str:
    """Return an id as text.

    Accepts text, integers, and floats with integer values (Parquet and JSON tables store integers beside gaps as floats).
    Raises :class:`InputError` that names ``column`` for other values and for an empty id.

    >>> identity(7.0, "here", "image_id")
    '7'
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise InputError(f"'{column}' is {kind(value)}; expected an id (a whole number or text)", location)
    text = str(value)
    if not text:
        raise InputError(f"'{column}' is empty; expected an id", location)
    return caption(text, location, what="id")


def quote_list(ids: Iterable[object], limit: int = 3) -> str:
    """Return the first ``limit`` ids or names, quoted and separated by commas.

    >>> quote_list(["1", "2", "3", "4"])
    "'1', '2', '3', ..."
    """
    names = list(ids)
    return ", ".join(f"'{name}'" for name in names[:limit]) + (", ..." if len(names) > limit else "")
