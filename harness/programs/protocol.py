"""Messages of the protocol: one JSON object a line, ASCII from the harness.

A program reads requests on standard input and writes answers on standard output
(docs/protocol.md; ``protocol.schema.json`` has the schema).
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from harness.contracts import Parameters, Values
from harness.errors import HarnessError

VERSION = 1
"""Version of the protocol."""
METRIC_NEEDS = ("candidate", "candidates", "references", "image", "source")
"""Fields that a metric may ask for in its requests."""
END = b'{"end":true}\n'
"""Last message to a program."""
MAX_SHOWN = 60
"""Characters of a program's line in a message."""
_GROUP_BYTES = 1 << 15
"""Bytes of answers that are parsed at once, few enough that their objects stay in the
processor's cache until they are read.
"""
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


class ProgramFault(HarnessError):
    """A program that does not keep to the protocol, or ends too early."""


@dataclass(frozen=True)
class Greeting:
    """Statement of a program about itself in its first line."""

    name: str
    version: str
    signature: str = ""
    """Text that changes with its numbers: models, settings."""
    needs: tuple[str, ...] | None = None
    """Fields of the requests of a metric; None: not said."""
    direction: bool | None = None
    """``higher_is_better`` of a metric."""
    says_direction: bool = False
    bounds: tuple[float, float] | None = None
    symmetric: bool = False
    """True for a distance that does not depend on the order of its texts."""


def greet(kind: str, parameters: Parameters) -> bytes:
    """Return the first line of the harness."""
    message = {"protocol": VERSION, "kind": kind, "parameters": dict(parameters)}
    return _encode(message).encode("ascii") + b"\n"


def announce_batch(number: int, size: int) -> str:
    """Return the line before the requests of a batch."""
    return f'{{"batch":{number},"size":{size}}}\n'


def encode_fields(fields: Parameters) -> str:
    """Return the fields of a request as JSON, to which :func:`request_line` adds the
    id.
    """
    texts: list[str] = []
    for key, value in fields.items():
        # The encoder is set up anew for whatever is no text.
        is_list = type(value) in (list, tuple) and set(map(type, value)) == {str}
        text = f"[{','.join(map(_encode, value))}]" if is_list else _encode(value)
        texts.append(f"{_encode(key)}:{text}")
    return f"{{{','.join(texts)}}}"


def request_line(identity: int, fields: str) -> str:
    """Return the line of a request."""
    return f'{{"id":{identity},{fields[1:]}\n'


def parse_greeting(line: bytes, label: str, kind: str) -> Greeting:
    """Return the greeting of a program; raise :class:`ProgramFault` for anything
    else.
    """
    message = _parse_line(line, label, "before its greeting")
    if "error" in message:
        raise ProgramFault(f"{label}: the program refuses: {message['error']!s:.300}")
    if message.get("protocol") != VERSION:
        raise ProgramFault(
            f"{label}: the program's first line has protocol "
            f"{message.get('protocol')!r:.40}; expected {VERSION} (docs/protocol.md)"
        )
    for key in ("name", "version"):
        if not isinstance(message.get(key), str) or not message[key]:
            raise ProgramFault(
                f"{label}: '{key}' of the program's greeting is "
                f"{message.get(key)!r:.40}; expected a text"
            )
    direction = message.get("higher_is_better")
    if direction is not None and not isinstance(direction, bool):
        raise ProgramFault(
            f"{label}: higher_is_better of the program's greeting is "
            f"{direction!r:.40}; expected true, false or null"
        )
    needs = message.get("needs")
    return Greeting(
        name=message["name"],
        version=message["version"],
        signature=str(message.get("signature", "")),
        needs=None if needs is None or kind != "metric" else check_needs(needs, label),
        direction=direction,
        says_direction="higher_is_better" in message,
        bounds=check_bounds(message.get("bounds"), label),
        symmetric=message.get("symmetric") is True,
    )


def check_needs(needs: object, label: str) -> tuple[str, ...]:
    """Return what a metric needs, checked; raise :class:`HarnessError` for a name that
    requests do not have.
    """
    names = cast("list[object]", needs) if isinstance(needs, list) else [needs]
    for name in names:
        if name not in METRIC_NEEDS:
            raise HarnessError.of_name(
                f"{label}: needs has", name, METRIC_NEEDS, "a metric may need"
            )
    texts = [str(name) for name in names]
    if ("candidate" in texts) == ("candidates" in texts):
        raise HarnessError(
            f"{label}: needs is {', '.join(texts) or 'empty'}; expected 'candidate' "
            "(a request for each candidate) or 'candidates' (one for each example)"
        )
    return tuple(texts)


def check_bounds(bounds: object, label: str) -> tuple[float, float] | None:
    """Return the smallest and the largest value, infinite for null; None where there
    are none. Raise :class:`HarnessError` for anything else.
    """
    if bounds is None:
        return None
    pair = cast("list[object]", bounds) if isinstance(bounds, list) else []
    is_pair = len(pair) == 2 and all(
        end is None or (isinstance(end, (int, float)) and not isinstance(end, bool))
        for end in pair
    )
    if is_pair:
        low = -math.inf if pair[0] is None else float(cast(float, pair[0]))
        high = math.inf if pair[1] is None else float(cast(float, pair[1]))
        if low < high:
            return low, high
    raise HarnessError(
        f"{label}: bounds is {bounds!r:.60}; expected [smallest, largest], "
        "with null for none"
    )


def parse_answers(lines: Sequence[bytes], label: str) -> Iterator[Values]:
    """Yield the answers of some lines of a program; raise :class:`ProgramFault` for a
    line that is no JSON object.
    """
    total = sum(map(len, lines))
    step = max(1, len(lines) * _GROUP_BYTES // max(1, total))
    for start in range(0, len(lines), step):
        yield from _parse_group(lines[start : start + step], label)


def _parse_group(lines: Sequence[bytes], label: str) -> Sequence[Values]:
    # One call for all lines takes half the time of one call each.
    try:
        answers = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        return [_parse_line(line, label, "among its answers") for line in lines]
    if len(answers) != len(lines) or set(map(type, answers)) != {dict}:
        return [_parse_line(line, label, "among its answers") for line in lines]
    return answers


def is_whole(text: bytes | bytearray) -> bool:
    """Return True where a last line without a line feed is JSON to its end."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def pack_vector(answer: dict[str, Any]) -> None:
    """Replace a list of numbers in an answer by the bytes of float32, so that the
    numbers of a batch do not stay as objects; anything else is left as it is.
    """
    value = answer.get("value")
    if isinstance(value, list) and value:
        # Seven times as fast as numpy, and refuses whatever is no number.
        with suppress(struct.error, OverflowError):
            answer["value"] = struct.pack(f"{len(value)}f", *value)


def unpack_vector(packed: bytes) -> list[float]:
    """Return the numbers of :func:`pack_vector`, to the digits that float32 has."""
    return [float(f"{number:.7g}") for (number,) in struct.iter_unpack("f", packed)]


def _parse_line(line: bytes, label: str, place: str) -> Values:
    """Return the object of one line; raise :class:`ProgramFault` for another text."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict):
        return cast("Values", message)
    text = line.decode("utf-8", "replace")
    raise ProgramFault(
        f"{label}: the program printed {text!r:.{MAX_SHOWN}} {place}, which is no JSON "
        "object; whatever is no answer, also what libraries print, belongs on "
        "standard error"
    )
