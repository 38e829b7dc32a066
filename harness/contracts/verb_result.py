"""Results of verbs, such as that of :func:`harness.gate`: objects that print as the
verb does, have the fields of its JSON, and give their rows as a table.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import harness
from harness.contracts.parameters import Values
from harness.errors import require


class VerbResult:
    """Base of the results of verbs.

    A subclass has :meth:`to_dict` and :meth:`blocks`, an attribute for each key of the
    first, and names the key of its rows in :attr:`ROWS`.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Words(VerbResult):
    ...     words: list
    ...     ROWS = "words"
    ...
    ...     def to_dict(self):
    ...         return {"words": self.words}
    ...
    ...     def blocks(self):
    ...         yield from (f"{row['word']}: {row['count']}" for row in self.words)
    >>> result = Words([{"word": "cat", "count": 2}])
    >>> print(result)
    cat: 2
    >>> result.to_arrow().num_rows
    1
    """

    ROWS: ClassVar[str] = ""
    """Key of :meth:`to_dict` whose items are the rows of :meth:`to_arrow`; empty where
    it is the list of rows.
    """

    def to_dict(self) -> Any:
        """Return the object, or the list, that the verb prints with ``--json``."""
        raise NotImplementedError

    def blocks(self) -> Iterable[object]:
        """Yield what the verb prints: tables
        (:class:`harness.reporting.table.Table`) and lines of text.
        """
        raise NotImplementedError

    def to_arrow(self) -> Any:
        """Return the rows as a table of pyarrow, numbers in full; mappings, and values
        of several types, are JSON texts.
        """
        values = self.to_dict()
        return arrow_table(values[self.ROWS] if self.ROWS else values)

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame.

        Raises :class:`~harness.errors.MissingExtra` where pandas is not installed.
        """
        require("pandas", extra="datasets", needed_by=f"{type(self).__name__}.to_frame")
        return self.to_arrow().to_pandas()

    def __str__(self) -> str:
        return harness.as_text(self)

    def _repr_html_(self) -> str:
        return harness.as_html(self)


def arrow_table(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a table of pyarrow with the union of their keys, null where a row
    lacks one.
    """
    pa: Any = importlib.import_module("pyarrow")

    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table(
        {name: _arrow_column([row.get(name) for row in rows]) for name in names}
    )


def _arrow_column(values: Sequence[object]) -> Any:
    """Return values as a column; mappings, and types that do not go together, are JSON
    texts.
    """
    pa: Any = importlib.import_module("pyarrow")

    if not any(isinstance(value, Mapping) for value in values):
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            pass  # several types
    texts = [
        None if value is None else json.dumps(value, default=str) for value in values
    ]
    return pa.array(texts)


class WrittenFiles(VerbResult, list[Path]):
    """Files that a verb has written, such as those of :func:`harness.export`."""

    ROWS = "files"

    def __init__(self, files: Iterable[Path] = (), remarks: Sequence[str] = ()) -> None:
        super().__init__(files)
        self.remarks = remarks
        """Lines below the paths, which the verb prints."""

    @property
    def files(self) -> list[str]:
        """The paths as texts."""
        return [str(path) for path in self]

    def to_dict(self) -> Values:
        """Return the paths."""
        return {"files": self.files}

    def blocks(self) -> Iterable[str]:
        """Yield the paths, then the remarks."""
        yield from self.files
        yield from self.remarks

    def to_arrow(self) -> Any:
        """Return a row for each file."""
        return arrow_table([{"file": path} for path in self.files])
