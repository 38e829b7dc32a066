"""The ``jsonl`` reader: JSON Lines, a JSON list, Parquet, csv, tsv and the other forms of records, with any column names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from harness.contracts import Example, PathParam
from harness.errors import InputError
from harness.files import records as files
from harness.files.caption_file import CaptionFile
from harness.files.columns import FILE_ID_COLUMNS, REFERENCE_COLUMNS, check_mapping, find_columns
from harness.files.examples import RowReader
from harness.files.forms import read_form
from harness_tasks.readers.annotations import check_splits, split_names


class TableReader(CaptionFile):
    """Examples of a table or of another form of records (docs/data-formats.md), gzipped or not.

    A record holds an example with all its references (in a list or in several columns) or one caption; then the records of
    one id make one example. Fields that are not used go to ``Example.meta``, except ``candidates``.

    Parameters
    ----------
    path : path
        File of records.
    columns : mapping, optional
        Names of columns that do not have their usual name: ``id`` (null numbers the records), ``references`` (a name, a
        pattern such as ``caption_*``, or a list of names), ``media``, ``source``, ``split``.
    split : str or list of str, optional
        Splits to read; all by default.
    media_root : str, optional
        Folder put before the media names.
    limit_references : int, optional
        Number of references per example, the first ones of each; all by default.
    allow_empty : bool, default False
        Accept empty references.
    skip_without_references : bool, default False
        Skip records without references, which are errors by default.
    """

    name = "jsonl"
    what = "file of examples"

    def __init__(
        self,
        *,
        path: PathParam,
        columns: Mapping[str, Any] | None = None,
        split: str | Sequence[str] | None = None,
        media_root: str | None = None,
        limit_references: int | None = None,
        allow_empty: bool = False,
        skip_without_references: bool = False,
    ) -> None:
        super().__init__(path=path, media_root=media_root, limit_references=limit_references, allow_empty=allow_empty)
        self.columns = check_mapping(columns)
        self.splits = split_names(split)
        self.skip_without_references = skip_without_references

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that change the examples, for the fingerprint."""
        return {
            **super().parameters(),
            "columns": self.columns,
            "split": self.splits,
            "skip_without_references": self.skip_without_references,
        }

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples.

        Raises :class:`InputError` for an unknown column or split, duplicate ids, and examples without references.
        """
        form = read_form(self.path, "references", self._names())
        rows = iter(form.rows)
        if self.skip_without_references:
            filled = self._references() or REFERENCE_COLUMNS
            rows = (row for row in rows if any(row.fields.get(name) for name in filled))
        first = next(rows, None)
        if first is None:
            raise InputError("the file holds no records", str(self.path))
        names = {"id": None, **self.columns} if form.numbered else self.columns
        ids = [name for name in FILE_ID_COLUMNS if isinstance(first.fields.get(name), (str, int, float))]
        columns = find_columns(names, first.fields, first.where, split=bool(self.splits), ids=ids)
        reader = RowReader(columns, self.allow_empty, self.limit_references, self.media_root)
        yield from reader.examples(self._of_splits(chain([first], rows), columns.split))

    def _references(self) -> list[str]:
        """Return the names in ``columns: {references: ...}``."""
        value = self.columns.get("references")
        return [] if value is None else [value] if isinstance(value, str) else list(value)

    def _names(self) -> list[str]:
        """Return all names in ``columns``."""
        others = [value for name, value in self.columns.items() if name != "references" and isinstance(value, str)]
        return self._references() + others

    def _of_splits(self, rows: Iterator[files.Record], column: str | None) -> Iterator[files.Record]:
        """Yield the rows of the selected splits; raise :class:`InputError` at the end for a split without rows."""
        if not self.splits:
            yield from rows
            return
        if column is None:
            raise InputError(
                f"the records have no column 'split' to select {', '.join(self.splits)} from",
                str(self.path),
                parameter="split",
                value=self.splits,
            )
        present: dict[str, None] = {}
        for row in rows:
            present[str(row.fields.get(column))] = None
            if row.fields.get(column) in self.splits:
                yield row
        check_splits(self.splits, present, str(self.path))
