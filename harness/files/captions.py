"""Checks of single values in users' records: texts, captions, ids and counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from harness.errors import InputError
from harness.files.records import kind
from harness.files.yaml_source import YamlValue

ID_COLUMNS = (
    "id", "image_id", "video_id", "cocoid", "img_id", "imgid", "youtube_id", "file_name", "filename", "index",
    "videoID", "sample_id", "doc_id", "audio_id", "clip_id", "image_name",
)  # fmt: skip
"""Usual names of the id column, in order of preference."""

_SURROGATE = re.compile("[\ud800-\udfff]")


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

    Raises :class:`InputError` for a value that :func:`caption` refuses.

    >>> captions(["a dog", {"raw": "a cat"}], "here")
    ('a dog', 'a cat')
    """
    items = value if isinstance(value, (list, tuple)) else [value]
    return tuple(caption(_inner(item), location, what=what, allow_empty=allow_empty) for item in items)


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
