"""JSON of users' files, read strictly: UTF-8, finite numbers, and no key twice.

Every error is an :class:`~harness.errors.InputError` with the place of the mistake.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from harness.contracts import Values
from harness.errors import InputError
from harness.files.encodings import encoding_hint
from harness.files.user_files import open_binary
from harness.files.yaml_source import YamlValue

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]|NaN|-?Infinity')
"""A string, a bracket, a comma or a constant of a JSON text; numbers and the other
words lie between them.
"""


def load_json(path: Path, *, constants: bool = False) -> YamlValue:
    """Return the value of a JSON file, gzipped or not; raise :class:`InputError` with
    the byte offset of invalid JSON.

    ``constants`` accepts NaN and Infinity.
    """
    with open_binary(path) as file:
        data = file.read()
    return decode_json(data, str(path), complete=True, constants=constants)


class ConstantError(InputError):
    """NaN or Infinity in JSON, which the logs of some programs hold."""


class _Constant(Exception):
    """NaN or Infinity in place of a number."""


def _refuse_constant(name: str) -> YamlValue:
    raise _Constant(name)


_DECODERS = {
    False: json.JSONDecoder(parse_constant=_refuse_constant),
    True: json.JSONDecoder(),
}
"""Acceptance of NaN and Infinity -> the decoder of a line.

They are made once: a decoder for each line of a file takes as long as reading the line.
"""


def decode_json(
    data: bytes,
    location: str,
    *,
    offset: int = 0,
    complete: bool = False,
    constants: bool = False,
) -> YamlValue:
    """Return the JSON value in ``data``.

    Parameters
    ----------
    data : bytes
        UTF-8 text of one JSON value.
    location : str
        Place of the data for messages.
    offset : int, default 0
        Byte offset of ``data`` in its file.
    complete : bool, default False
        Treat ``data`` as a whole file: messages speak of the file in place of the line,
        and objects must not repeat a key.
    constants : bool, default False
        Accept NaN and Infinity, which are not JSON.

    Raises
    ------
    InputError
        For bytes that are not UTF-8, text that is not JSON, and NaN or Infinity.
    """
    if data.startswith(b"\xef\xbb\xbf"):  # a byte order mark
        data = data[3:]
        offset = offset + 3
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = encoding_hint(re.sub(r":\d+$", "", location))
        raise InputError(
            f"not UTF-8 at byte {offset + error.start}: {error.reason}{hint}", location
        ) from error

    def unique_keys(pairs: list[tuple[str, Any]]) -> Values:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"the key '{twice}' occurs twice in one object", location)
        return mapping

    # A line of JSON Lines goes through one decoder that is made once; a whole file is
    # read once, and can afford to look at its keys: of a repeated key json keeps the
    # last value, which would lose captions without a word.
    try:
        if not complete and not text.startswith("\ufeff"):
            return _DECODERS[constants].decode(text)
        return json.loads(
            text,
            parse_constant=None if constants else _refuse_constant,
            object_pairs_hook=unique_keys if complete else None,
        )
    except _Constant as constant:
        raise ConstantError(
            f"found {constant}; JSON numbers are finite",
            location + _path_to_constant(text),
        ) from None
    except json.JSONDecodeError as error:
        # The error counts characters; editors and `head -c` count bytes. Behind the
        # end, the last byte of the content is the place.
        at = offset + len(text.rstrip()[: error.pos].encode("utf-8"))
        raise InputError(
            f"not JSON at byte {at}: {error.msg}{_cut_off(text, error, complete)}",
            location,
        ) from error
    except (ValueError, RecursionError) as error:
        # Numbers of thousands of digits, lists nested thousands deep.
        raise InputError(f"not readable as JSON: {error}", location) from error


def _path_to_constant(text: str) -> str:
    """Return the keys and list items that lead to the first NaN or Infinity of a JSON
    text, such as ``: record 3: 'score'``.

    >>> _path_to_constant('{"annotations": [{"id": 1}, {"id": "NaN", "caption": NaN}]}')
    ": 'annotations': record 2: 'caption'"
    """
    # json.loads does not say where a constant was. Only a file that is refused is
    # scanned again, by its tokens: they need no stack of values, and strings are one
    # token each, so that brackets inside captions count for nothing.
    path: list[int | str] = []
    """Of an open list the number of the item, of an open object the last string."""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "[{":
            path.append(1 if token == "[" else "")
        elif token in "]}":
            path.pop()
        elif token == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else ""
        elif not token.startswith('"'):
            break
        elif path and path[-1] == "":
            path[-1] = token[1:-1]

    return "".join(
        f": record {step}" if isinstance(step, int) else f": '{step}'" for step in path
    )


def _cut_off(text: str, error: json.JSONDecodeError, complete: bool) -> str:
    """Return a remark for the message of an error at the end of the text; empty for
    errors before the end.
    """
    noun = "file" if complete else "line"
    content = text.rstrip()
    if not content:
        return f" (the {noun} is empty)"
    if error.pos < len(content) and not error.msg.startswith("Unterminated string"):
        return ""
    return f" (the {noun} breaks off after {len(content.encode('utf-8'))} bytes)"
