"""Values of the fields of a record, by dotted paths; values that can be captions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from harness.contracts import Parameters
from harness.files.yaml_source import YamlValue

_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*%?\s*", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*[A-Za-z][\w+.-]*://\S+\s*")
_MEDIA_ENDINGS = (
    "jpe?g|png|webp|gif|bmp|tiff?|mp4|webm|mkv|avi|mov|wav|flac|mp3|ogg|npy|npz|pt|json"
)
_PATH = re.compile(rf"\s*\S*[^\s/\\]+\.({_MEDIA_ENDINGS})\s*", re.IGNORECASE)


def get_field(fields: Parameters, column: str) -> YamlValue:
    """Return the value of a column or, where no column has that name, of a dotted path;
    None where there is none.

    A number in a path selects an item of a list; a name below a list takes that field
    of each item.

    >>> get_field(
    ...     {"response": {"choices": [{"text": "a dog"}]}}, "response.choices.0.text"
    ... )
    'a dog'
    >>> get_field(
    ...     {"sentences": [{"raw": "a dog"}, {"raw": "the dog"}]}, "sentences.raw"
    ... )
    ['a dog', 'the dog']
    """
    if column in fields or "." not in column:
        return fields.get(column)

    # A column of a log may have a dot itself, as doc.image has in doc.image.id: the
    # longest name comes first.
    names = column.split(".")
    for length in range(len(names) - 1, 0, -1):
        head = ".".join(names[:length])
        if head in fields:
            return _follow(fields[head], names[length:])
    return None


def _follow(value: YamlValue, steps: Sequence[str]) -> YamlValue:
    """Return the value at the end of a path below a value."""
    for position, step in enumerate(steps):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, (list, tuple)) and step.isdigit():
            value = value[int(step)] if int(step) < len(value) else None
        elif isinstance(value, (list, tuple)):
            return [_follow(item, steps[position:]) for item in value]
        else:
            return None
    return value


def has_field(fields: Parameters, column: str) -> bool:
    """Return True for a column of a record, and for a dotted path that leads to a
    value.
    """
    return column in fields or get_field(fields, column) is not None


def is_number(text: str) -> bool:
    """Return True for a number written as a text.

    >>> is_number("27"), is_number("1e-3"), is_number("27 dogs")
    (True, True, False)
    """
    return _NUMBER.fullmatch(text) is not None


def is_media_name(text: str) -> bool:
    """Return True for the address, name or path of a file.

    >>> is_media_name("images/1.jpg"), is_media_name("a dog")
    (True, False)
    """
    return any(form.fullmatch(text) for form in (_ADDRESS, _PATH))


def may_be_captions(value: YamlValue) -> bool:
    """Return True for a value that can be a caption or captions: no number, address or
    path of a file, and no list of them.

    >>> [
    ...     may_be_captions(value)
    ...     for value in ("a dog", ["a dog"], None, 27, "27", "images/1.jpg")
    ... ]
    [True, True, True, False, False, False]
    """
    if isinstance(value, (list, tuple)):
        return not value or may_be_captions(value[0])
    if isinstance(value, str):
        return not is_number(value) and not is_media_name(value)
    return value is None or isinstance(value, Mapping)
