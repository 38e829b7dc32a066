"""Advice in messages, which is written as a spec has it, in the spelling of the command
line or of :func:`harness.score`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.errors import InputError

_ID_NAME = r"\bcolumns: \{id: \.\.\.\}, or \{id: null\} numbers the rows"
_EVENTS = r"\bevents: (paragraph|separate|sets)"
_TIME_UNIT = r"\btime_unit: (seconds|hundredths|frames)"
_FPS = r"\bfps: (\d+)"
_SPLIT = r"\bsplit: ([^\s)]+)"
_SPELLINGS = (
    (
        r"\bcolumns: \{references: \.\.\.\}",
        "--reference-column NAME",
        "reference_column=...",
    ),
    (
        _ID_NAME,
        "--reference-id NAME; --id null matches records by position",
        "reference_id=...; id=None matches records by position",
    ),
    (_EVENTS, r"--events \1", r"events='\1'"),
    (_TIME_UNIT, r"--time-unit \1", r"time_unit='\1'"),
    (_FPS, r"--fps \1", r"fps=\1"),
    (_SPLIT, r"--split \1", r"split='\1'"),
    (r"\bcolumns: \{id: ('[^']*')\}", r"--reference-id \1", r"reference_id=\1"),
    (r"\bid: ('[^']*')", r"--id \1", r"id=\1"),
    (r"\bid: null\b", "--id null", "id=None"),
    (r"\bid: \.\.\.", "--id NAME", "id=..."),
    (r": id: ([^\s)]+)", r": --id \1", r": id='\1'"),
    (r"\bcandidates: \.\.\.", "--column NAME", "column=..."),
    (r"\bsystem: (NAME|\.\.\.)", "--system NAME", "system=..."),
    (r"\ballow_(missing|unknown|empty): true", r"--allow-\1", r"allow_\1=True"),
    (r"^slices: ", "--by: ", "by: "),
)
"""Advice in the spelling of a spec, as an option of ``harness score``, and as a keyword
of :func:`harness.score`.
"""
OPTION_SPELLING = {pattern: option for pattern, option, _ in _SPELLINGS}
KEYWORD_SPELLING = {pattern: keyword for pattern, _, keyword in _SPELLINGS}


def respell(error: InputError, spelling: Mapping[str, str]) -> InputError:
    """Return an error with the advice of its message in another spelling;
    ``spelling`` maps patterns to texts.
    """
    text = error.message
    for pattern, name in spelling.items():
        text = re.sub(pattern, name, text)
    return InputError(text, error.where, parameter=error.parameter, value=error.value)
