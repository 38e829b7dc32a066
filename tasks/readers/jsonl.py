"""The ``jsonl`` reader: JSON Lines, a JSON list of objects, or Parquet, with any column names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from harness.contracts import Example, PathParam
from harness.errors import InputError
from harness.files import captions as checks
from harness.files import records as files
from harness.tasks.readers.karpathy import check_splits, chosen_splits


class TableReader:
    """One record an example (its references in a list or in several columns), or one record a caption (gathered by id).

    ``columns`` names what is not found by its usual name: ``id`` (null numbers the records), ``references`` (a name, a
    pattern such as ``caption_*``, or a list of names), ``media``, ``source``, ``split``. Other fields go to ``Example.meta``,
    except ``candidates``. ``skip_without_references`` passes over records that have none, instead of it being an error.
    """

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
        self.path = files.existing(path, "file of examples")
        self.columns = checks.check_mapping(columns)
        self.splits = chosen_splits(split)
        self.media_root = media_root
        self.limit_references = checks.positive(limit_references, "limit_references")
        self.allow_empty = allow_empty
        self.skip_without_references = skip_without_references

    def fingerprint(self) -> str:
        params = {
            "columns": self.columns,
            "split": self.splits,
            "limit_references": self.limit_references,
            "allow_empty": self.allow_empty,
            "media": self.media_root,
            "skip_without_references": self.skip_without_references,
        }
        return files.fingerprint("jsonl", [self.path], params)

    def __iter__(self) -> Iterator[Example]:
        """Raises :class:`InputError` for a column or split that is not there, duplicate ids, and examples without references."""
        rows = files.records(self.path)
        if self.skip_without_references:
            named = self.columns.get("references")
            names = checks.REFERENCE_COLUMNS if named is None else [named] if isinstance(named, str) else list(named)
            rows = (row for row in rows if any(row.fields.get(name) for name in names))
        first = next(rows, None)
        if first is None:
            raise InputError("the file holds no records", str(self.path))
        columns = checks.find_columns(self.columns, first.fields, first.where, split=bool(self.splits))
        reader = checks.RowReader(columns, self.allow_empty, self.limit_references, self.media_root)
        yield from reader.examples(self._chosen(chain([first], rows), columns.split))

    def _chosen(self, rows: Iterator[files.Record], column: str | None) -> Iterator[files.Record]:
        if not self.splits:
            yield from rows
            return
        if column is None:
            raise InputError(
                f"split {', '.join(self.splits)} is asked for, but the records have no column 'split'", str(self.path)
            )
        present: dict[str, None] = {}
        for row in rows:
            present[str(row.fields.get(column))] = None
            if row.fields.get(column) in self.splits:
                yield row
        check_splits(self.splits, list(present), str(self.path))
