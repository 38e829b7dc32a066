"""Character classes of Stanford's tokeniser: letters, marks,
digits and symbols outside ASCII.

The program's tables are those of Unicode 6 and end at U+FFFF; later characters are
untokenisable and removed. Python's own tables differ, and change with every release, so
the ranges are listed in ``characters.json``: facts about the program, read from its
character tables and checked against its output. Each constant is the inside of a
regular expression's character class.
"""

from __future__ import annotations

import json
from pathlib import Path

_RANGES: dict[str, list[str]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="ascii")
)


def _read(name: str) -> str:
    """Return hexadecimal ranges as the inside of a character class."""
    ranges = " ".join(_RANGES[name]).split()
    return "".join("-".join(f"\\u{end}" for end in item.split("-")) for item in ranges)


LETTERS = _read("letters")
"""Letters outside ASCII."""
MARKS = _read("marks")
"""Combining marks and modifiers; they are part of a word but not letters."""
DIGITS = _read("digits")
"""Decimal digits outside ASCII."""
SYMBOLS = _read("symbols")
"""Characters outside ASCII that are single tokens."""
