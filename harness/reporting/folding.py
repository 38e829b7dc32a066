"""Texts folded to the width of the terminal."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import TextIO

_COLUMN = re.compile(r"^\s+|(?<=\S)\s{2,}(?=\S)")
"""Text before a column of a line: its indentation, or at least two spaces."""


def terminal_width(stream: TextIO | None = None) -> int | None:
    """Return the characters of a line of the terminal;
    None where a stream (default: stdout) is none.
    """
    if not (stream or sys.stdout).isatty():
        return None
    return shutil.get_terminal_size().columns


def print_folded(text: str) -> None:
    """Print a text on stdout, folded in a terminal."""
    print(fold(text, terminal_width()))


def fold(text: str, width: int | None) -> str:
    """Return a text whose lines are broken at spaces to a width, None: as it is; what
    follows stands below the last column of its line.

    >>> print(fold("  bleu  n-gram precision with a brevity penalty", 32))
      bleu  n-gram precision with a
            brevity penalty
    """
    if width is None:
        return text
    return "\n".join(_fold_line(line, width) for line in text.split("\n"))


def _fold_line(line: str, width: int) -> str:
    """Return a line broken at spaces, below its last column in the left half."""
    if len(line) <= width:
        return line
    columns = [gap.end() for gap in _COLUMN.finditer(line)]
    start = max((end for end in columns if end <= width // 2), default=0)
    indent = " " * start
    wrapper = textwrap.TextWrapper(
        width, indent, indent, break_long_words=False, break_on_hyphens=False
    )
    lines = wrapper.wrap(line[start:])
    if not lines:
        return line.rstrip()
    return "\n".join([line[:start] + lines[0][start:], *lines[1:]])
