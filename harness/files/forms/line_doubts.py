"""Files of text whose first lines may be read in two ways: they are refused, with both
readings, unless the user names the form.
"""

from __future__ import annotations

import re

from harness.errors import InputError
from harness.files.columns import CANDIDATE_COLUMNS, REFERENCE_COLUMNS, find_name
from harness.files.delimited_tables import header_cells
from harness.files.fields import is_media_name, is_number
from harness.files.forms.sample import Sample

FEWEST_LINES = 3
"""Number of lines below which they show no pattern."""
MOST_WORDS = 2
"""Number of words of an id of which every first line has one."""
_NUMBERED = re.compile(r"\s*[\[(#]?(\d+)[\])]?(?:[.:,;|\-]+\s*|\s+)(?=\S)")
_START = re.compile(r"\s*([^\s,;|#]+?)(#\d+)?(\s*[,;|:]\s*|\s+)(?=\S)")
"""Beginning of a line, before a blank or a mark."""
_USUAL = (*CANDIDATE_COLUMNS, *REFERENCE_COLUMNS)


def check_plain_lines(sample: Sample) -> None:
    """Raise :class:`InputError` for lines that begin with running numbers, with names
    of files or with long numbers, and for the name of a column in the first one.
    """
    lines = [line for line in sample.lines if line.strip()]
    if len(lines) < FEWEST_LINES:
        return
    first = lines[0]
    if find_name(_USUAL, [first.strip()]) and any(" " in line for line in lines):
        raise InputError(
            f"its first line is the name of a column ({first!r}); "
            f"'{sample.path}#csv' reads a table, '{sample.path}#txt' captions alone",
            str(sample.path),
        )

    what = ""
    if _has_running_numbers(lines):
        what = "running numbers"
    elif _has_ids(lines):
        what = "ids"
    if what:
        raise InputError(
            f"its lines begin with {what} ({first!r:.60}); expected captions alone, or "
            f"each id, a tab and its caption; '{sample.path}#txt' reads whole lines",
            str(sample.path),
        )


def _has_running_numbers(lines: list[str]) -> bool:
    """Return True for lines that are numbered from 0 or 1."""
    matches = [_NUMBERED.match(line) for line in lines]
    numbers = [int(match[1]) for match in matches if match is not None]
    return numbers in (
        list(range(len(lines))),
        list(range(1, len(lines) + 1)),
    )


def _has_ids(lines: list[str]) -> bool:
    """Return True for lines each of which begins with the name of a file, or with
    another number of three digits or more and a mark.
    """
    starts = [match for line in lines if (match := _START.match(line))]
    if len(starts) < len(lines):
        return False
    if all(is_media_name(match[1]) for match in starts):
        return True
    numbers = {match[1] for match in starts}
    has_numbers = all(
        len(match[1]) > 2 and match[1].isdigit() and match[3].strip()
        for match in starts
    )
    return has_numbers and len(numbers) == len(lines)


def check_pairs(sample: Sample) -> None:
    """Raise :class:`InputError` for lines of two texts each, the first of which is no
    id.
    """
    lines = [line for line in sample.lines if line.strip()]
    names = [line.partition("\t")[0] for line in lines]
    is_text = all(
        len(name.split()) > MOST_WORDS and not is_media_name(name.split()[-1])
        for name in names
    )
    if len(lines) < FEWEST_LINES or not is_text:
        return
    raise InputError(
        f"its lines hold two texts each ({lines[0]!r:.60}); expected an id, a tab and "
        f"a caption: '{sample.path}#pairs' reads the first text as the id; several "
        'references of an item are a list: ["a dog", "the dog"]',
        str(sample.path),
    )


def check_header(sample: Sample) -> None:
    """Raise :class:`InputError` for a table that begins with a row of values, not with
    the names of its columns.
    """
    first = next(iter(sample.lines), "")
    cells = header_cells(first, sample.path)
    if any(cell in sample.names for cell in cells) or find_name(_USUAL, cells):
        return
    if any(is_number(cell) or is_media_name(cell) for cell in cells):
        raise InputError(
            f"its first line is no header ({first!r:.60}); expected names of columns, "
            "such as image_id,caption, in a line before it",
            str(sample.path),
        )
