"""Values that a program wrote into a cell as text: lists of captions, and what is no
caption at all.

pandas and the csv module write a list, a tuple or a dictionary as Python prints it; a
cell read as the text itself would be scored with its brackets, and several references
as one.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from contextlib import suppress

from harness.errors import InputError
from harness.files.yaml_source import YamlValue

_STRING = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_STRINGS = rf"{_STRING}(?:\s*,\s*{_STRING})*\s*,?"
_START = re.compile(
    r"[\[({]\s*(?:['\"{]|b['\"]|[\[(]\s*['\"]|np\.str_\(|array\(|(?:None|nan|null)\b)"
    r"|b['\"]|array\(|\s"
)
"""Beginning of all values below; most captions have none of these."""
_GAP = "None|nan|null"
_LIST_ENDS = re.compile(
    rf"\[\s*(?:['\"]|(?:{_GAP})\s*[,\]]).*(?:['\"\]]|{_GAP})\s*,?\s*\]"
    rf"|\[\s*(?:{_GAP})\s*\]",
    re.DOTALL,
)
"""A string that begins and ends as a list of strings, of which some may be absent."""
_LIST = re.compile(rf"\[\s*{_STRINGS}\s*\]", re.DOTALL)
_TUPLE = re.compile(
    rf"\(\s*{_STRING}\s*,(?:\s*{_STRING}\s*,)*(?:\s*{_STRING})?\s*\)", re.DOTALL
)
"""Strings in parentheses with a comma: without one they are a caption."""
_SET = re.compile(rf"\{{\s*{_STRINGS}\s*\}}", re.DOTALL)
_OBJECT_ENDS = re.compile(rf"\{{\s*{_STRING}\s*:.*\}}", re.DOTALL)
_OBJECTS_END = re.compile(rf"\[\s*\{{\s*{_STRING}\s*:.*\}}\s*,?\s*\]", re.DOTALL)
_BYTES = re.compile(r"""b(['"])(?:(?!\1)[^\\]|\\.)*\1""", re.DOTALL)
_NESTED = re.compile(r"\[\s*(?:b|[\[(]\s*)['\"].*['\"\d\])]\s*,?\s*\]", re.DOTALL)
"""A list of bytes, of lists or of pairs."""
_NUMPY = re.compile(r"\[?\s*(?:np\.str_|array)\(.*\)\s*\]?", re.DOTALL)


def parse_written(
    text: str, location: str, *, what: str = "caption"
) -> list[YamlValue] | None:
    """Return the captions of a list, tuple, set or object in Python's or JSON's form;
    None for a text that is none of these.

    An object is a list of one. An empty list is a text: a model may write it.

    Raises
    ------
    InputError
        When the text begins and ends as such a value and is none, and for what holds no
        captions: bytes and NumPy arrays as Python prints them.

    Examples
    --------
    >>> parse_written("['a dog', 'the dog']", "here")
    ['a dog', 'the dog']
    >>> parse_written("[{'caption': 'a dog'}]", "here")
    [{'caption': 'a dog'}]
    >>> parse_written("(a dog)", "here") is None
    True
    """
    if _START.match(text) is None:
        return None
    value = text.strip()
    if _BYTES.fullmatch(value):
        raise _refusal(value, what, "is bytes as Python prints them", location)
    if _NUMPY.fullmatch(value):
        raise _refusal(value, what, "is an array as NumPy prints it", location)
    if value.startswith("("):
        return _read_literal(f"[{value[1:-1]}]") if _TUPLE.fullmatch(value) else None
    if _SET.fullmatch(value):
        return _read_literal(f"[{value[1:-1]}]")  # in the order of the file

    # Python joins strings without a comma between them, as NumPy prints an array, into
    # one: such a text is refused.
    if _LIST_ENDS.fullmatch(value) or _NESTED.fullmatch(value):
        texts = _read_literal(value) if _LIST.fullmatch(value) else None
        if texts is not None:
            return texts
        raise _refusal(value, what, "is no list of texts", location)
    return _parse_objects(value, location, what)


def _parse_objects(value: str, location: str, what: str) -> list[YamlValue] | None:
    """Return the objects of a text that begins and ends as an object or a list of
    objects; None for any other text.
    """
    is_list = _OBJECTS_END.fullmatch(value) is not None
    if not is_list and not _OBJECT_ENDS.fullmatch(value):
        return None
    read = _read_literal(value if is_list else f"[{value}]")
    if read is None or not all(isinstance(item, Mapping) for item in read):
        raise _refusal(value, what, "is no object or list of objects", location)
    return read


def _read_literal(text: str) -> list[YamlValue] | None:
    """Return a list in JSON's or Python's form; None for a text that is none."""
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            value = read(text)
            return value if isinstance(value, list) else None
    return None


def _refusal(value: str, what: str, reason: str, location: str) -> InputError:
    """Return the error for a written value that holds no captions."""
    return InputError(
        f'the {what} {value!r:.80} {reason}; expected text, or ["a dog", "the dog"]',
        location,
    )
