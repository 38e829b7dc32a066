"""The ``jsonl`` reader: tables and other records with any column names;
and objects of ids with references.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from harness.contracts import Events, Example, PathParam, Reading
from harness.contracts.reading import KEYS
from harness.errors import InputError
from harness.files import captions as checks
from harness.files.caption_columns import HEAD, find_caption_columns
from harness.files.caption_file import CaptionFile, ReadingCounter
from harness.files.columns import (
    FILE_ID_COLUMNS,
    REFERENCE_COLUMNS,
    id_columns,
    is_id,
    scalar_columns,
)
from harness.files.events import has_times, resolve_events
from harness.files.examples import RowReader
from harness.files.fields import get_field
from harness.files.forms import (
    FORMS_OF_KEYS,
    FORMS_WITHOUT_COLUMNS,
    Form,
    existing_captions,
)
from harness.files.records import Record
from harness.files.table_columns import Columns, check_mapping, find_columns
from harness.registry.file_forms import is_specific, read_form
from harness_tasks.readers.annotations import check_splits, split_names


def _differ(head: Sequence[Record], column: str, other: str) -> bool:
    """Return True where two columns give a record different ids."""
    return any(
        str(get_field(row.fields, column)) != str(get_field(row.fields, other))
        for row in head
    )


class TableReader(CaptionFile):
    """Examples of a table or of another form of records (docs/data-formats.md),
    gzipped or not.

    A record holds an example with all its references (in a list or in several columns)
    or one caption; then the records of one id make one example. Fields that are not
    used go to ``Example.meta``, except ``candidates``.

    Parameters
    ----------
    path : path
        File of records.
    columns : mapping, optional
        Names of columns that do not have their usual name: ``id`` (null numbers the
        records), ``references`` (a name, a pattern such as ``caption_*``, or a list of
        names), ``media``, ``source``, ``split``.
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
    events : {"paragraph", "separate", "sets"}, optional
        Treatment of texts with times: those of a record are joined to one text, or each
        is an item ``ID#1``, or they are a set of events for metrics of events; by
        default an error.
    absent : bool, default False
        A blank text is no reference, and an example may have none: for files each of
        which has some references of all examples.
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
        events: Events | None = None,
        absent: bool = False,
    ) -> None:
        super().__init__(
            path=path,
            media_root=media_root,
            limit_references=limit_references,
            allow_empty=allow_empty,
        )
        self.columns = check_mapping(columns)
        self.splits = split_names(split)
        self.skip_without_references = skip_without_references
        self.events: Events | None = events
        self.absent = absent

    def locate(self, path: PathParam) -> Path:
        """Return the path of an existing file,
        a folder of text files or a part of a file.
        """
        return existing_captions(path, self.what)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that change the examples, for the fingerprint."""
        optional = {"events": self.events, "absent": self.absent}
        return {
            **super().parameters(),
            "columns": self.columns,
            "split": self.splits,
            "skip_without_references": self.skip_without_references,
            **{name: value for name, value in optional.items() if value},
        }

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples.

        Raises :class:`InputError` for an unknown column or split, duplicate ids, and
        examples without references.
        """
        form, head, rows = self._open()
        if not head:
            raise InputError("the file holds no records", str(self.path))

        columns = self._find_columns(form, head)
        reader = RowReader(
            columns,
            self.allow_empty,
            self.limit_references,
            self.media_root,
            absent=self.absent,
        )

        is_set = self.events == "sets"
        if is_set or any(has_times(row.fields) for row in head):
            rows = resolve_events(
                rows, columns.id, columns.captions[0], self.events, form=form.name
            )

        counter = ReadingCounter()
        yield from counter.count(reader.examples(self._of_splits(rows, columns.split)))
        self.reading = self._describe(
            form, head, columns, counter, {**form.left_out, **reader.left_out}
        )

    def id_columns(self) -> dict[str, list[str]] | None:
        """Return the columns that can hold the ids, with the id of each record; None
        where there is nothing to choose.
        """
        if "id" in self.columns:
            return None
        form, head, rows = self._open()
        if form.numbered or not head or form.name in FORMS_OF_KEYS:
            return None

        names = self._usual_ids(form, head)
        if len(names) == 1:
            return None

        usual = find_caption_columns([row.fields for row in head], "references")
        captions = self._references() or (usual.names if usual else ())
        names = names or scalar_columns(head[0].fields, captions)

        ids: dict[str, list[str]] = {name: [] for name in names}
        for row in rows:
            for name in list(ids):
                value = get_field(row.fields, name)
                if is_id(value):
                    ids[name].append(checks.identity(value, row.where, name))
                else:
                    del ids[name]
        return ids

    def _open(self) -> tuple[Form, list[Record], Iterator[Record]]:
        """Return the form of the file, its first records, and all of them."""
        form = read_form(self.path, "references", self._names())
        rows = iter(form.rows)
        if self.skip_without_references:
            filled = self._references() or REFERENCE_COLUMNS
            rows = (
                row
                for row in rows
                if any(get_field(row.fields, name) for name in filled)
            )
        head = list(islice(rows, HEAD))
        return form, head, chain(head, rows)

    def _usual_ids(self, form: Form, head: Sequence[Record]) -> list[str]:
        return id_columns(head[0].fields, [*form.ids, *FILE_ID_COLUMNS])

    def _find_columns(self, form: Form, head: Sequence[Record]) -> Columns:
        names = {"id": None, **self.columns} if form.numbered else self.columns
        usual = [*form.ids, *FILE_ID_COLUMNS]
        return find_columns(
            names,
            [row.fields for row in head],
            head[0].where,
            split=bool(self.splits),
            ids=usual,
        )

    def _describe(
        self,
        form: Form,
        head: Sequence[Record],
        columns: Columns,
        counter: ReadingCounter,
        left_out: Mapping[str, int],
    ) -> Reading:
        """Return the reading of the file."""
        keys = form.name in FORMS_OF_KEYS
        names = () if form.name in FORMS_WITHOUT_COLUMNS else columns.captions
        possible = () if keys or "id" in self.columns else self._usual_ids(form, head)
        others = [
            name for name in possible if columns.id and _differ(head, name, columns.id)
        ]

        return counter.reading(
            self.path,
            form.name,
            KEYS if keys else columns.id,
            names,
            left_out=left_out,
            other_ids=tuple(others),
            other_columns=() if is_specific(form.name) else columns.other_captions,
        )

    def _references(self) -> list[str]:
        """Return the names in ``columns: {references: ...}``."""
        value = self.columns.get("references")
        return (
            [] if value is None else [value] if isinstance(value, str) else list(value)
        )

    def _names(self) -> list[str]:
        """Return all names in ``columns``."""
        others = [
            value
            for name, value in self.columns.items()
            if name != "references" and isinstance(value, str)
        ]
        return self._references() + others

    def _of_splits(
        self, rows: Iterator[Record], column: str | None
    ) -> Iterator[Record]:
        """Yield the rows of the selected splits; raise :class:`InputError` at the end
        for a split without rows.
        """
        if not self.splits:
            yield from rows
            return

        if column is None:
            raise InputError(
                "the records have no column 'split' to select "
                f"{', '.join(self.splits)} from",
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


class MappingReader(TableReader):
    """Examples of one JSON object of ids with one reference or a list; the parameters
    are those of :class:`AutoReader`.
    """

    name = "mapping"
    what = "file of references"

    def __init__(
        self,
        *,
        path: PathParam,
        limit_references: int | None = None,
        allow_empty: bool = False,
        events: Events | None = None,
        absent: bool = False,
    ) -> None:
        super().__init__(
            path=path,
            limit_references=limit_references,
            allow_empty=allow_empty,
            events=events,
            absent=absent,
        )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that change the examples, for the fingerprint."""
        optional = {"events": self.events, "absent": self.absent}
        return {
            "limit": self.limit_references,
            "empty": self.allow_empty,
            **{name: value for name, value in optional.items() if value},
        }
