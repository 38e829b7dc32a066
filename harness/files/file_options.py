"""Options for files of candidates and references that are scored without a spec, and advice in messages in their spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.contracts import Values
from harness.errors import InputError

_ID_NAME = r"\bcolumns: \{id: \.\.\.\}, or \{id: null\} numbers the rows"
_SPELLINGS = (
    (r"\bcolumns: \{references: \.\.\.\}", "--reference-column NAME", "reference_column=..."),
    (_ID_NAME, "--reference-id NAME; --reference-id null numbers the rows", "reference_id=..., None numbers the rows"),
    (r"\bid: null\b", "--id null", "id=None"),
    (r"\bid: \.\.\.", "--id NAME", "id=..."),
    (r"\bcandidates: \.\.\.", "--column NAME", "column=..."),
    (r"\bsystem: (NAME|\.\.\.)", "--system NAME", "system=..."),
    (r"\ballow_(missing|unknown|empty): true", r"--allow-\1", r"allow_\1=True"),
)
"""Advice in the spelling of a spec, as an option of ``harness score``, and as a keyword of :func:`harness.score`."""
OPTION_SPELLING = {pattern: option for pattern, option, _ in _SPELLINGS}
KEYWORD_SPELLING = {pattern: keyword for pattern, _, keyword in _SPELLINGS}


@dataclass(frozen=True)
class FileOptions:
    """Columns, systems and accepted faults of files of candidates and references."""

    id: str | None = ""
    """Column of the ids of candidates; empty: a usual name; None: records and examples are matched by position."""
    column: str = ""
    """Column of the candidates; empty: a usual name."""
    systems: tuple[str, ...] = ()
    """Systems to score, from records whose candidates are an object of systems."""
    reference_id: str | None = ""
    """Column of the ids of references; empty: a usual name; None: the records are numbered."""
    reference_columns: tuple[str, ...] = ()
    """Columns of the references; empty: a usual name."""

    def of_candidates(self, system: str = "") -> Values:
        """Return the parameters of the adapter that reads candidates, for one system of the file or without one."""
        values: Values = {}
        if self.id != "":
            values["columns"] = {"id": self.id}
        if self.column:
            values["candidates"] = self.column
        return values | ({"system": system} if system else {})

    def of_references(self) -> Values:
        """Return the parameters of the reader of references."""
        columns: Values = {} if self.reference_id == "" else {"id": self.reference_id}
        if self.reference_columns:
            columns["references"] = list(self.reference_columns)
        return {"columns": columns} if columns else {}


def respell(error: InputError, spelling: Mapping[str, str]) -> InputError:
    """Return an error with the advice of its message in another spelling; ``spelling`` maps patterns to texts."""
    text = error.message
    for pattern, name in spelling.items():
        text = re.sub(pattern, name, text)
    return InputError(text, error.where, parameter=error.parameter, value=error.value, expected=error.expected, nearest=error.nearest)
