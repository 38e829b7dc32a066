"""The ``auto`` reader: detects the format of a file by its content and delegates to the
reader of that format.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.contracts import Events, Example, PathParam, Reader, Reading, ShowsReadings
from harness.errors import InputError
from harness.files import captions as checks
from harness.files.columns import FILE_ID_COLUMNS, REFERENCE_COLUMNS, find_name
from harness.files.forms import Sample, existing_captions, single_object
from harness.files.table_columns import MOST_NAMES, check_mapping
from harness.files.user_files import first_byte
from harness.registry.file_forms import read_form
from harness_tasks.readers.annotations import split_names
from harness_tasks.readers.coco import CocoCaptions
from harness_tasks.readers.joined import join_readers
from harness_tasks.readers.karpathy import KarpathySplits
from harness_tasks.readers.msrvtt import MsrVtt
from harness_tasks.readers.tables import MappingReader, TableReader
from harness_tasks.readers.vdtk import VdtkList

Format = tuple[str, Callable[..., Reader]]
"""Name of a format and its reader."""

OBJECTS: Mapping[str, tuple[frozenset[str], Callable[..., Reader]]] = {
    "coco": (frozenset({"images", "annotations"}), CocoCaptions),
    "karpathy": (frozenset({"images", "dataset"}), KarpathySplits),
    "msrvtt": (frozenset({"videos", "sentences"}), MsrVtt),
}
"""Formats that are one JSON object: name -> keys of the object and reader."""


class AutoReader:
    """Examples of a file of any form, or of several,
    whose references are joined by their ids.

    Forms: COCO annotations, Karpathy splits, MSR-VTT annotations, vdtk samples, one
    JSON object ``{id: references}``, and the forms of records that
    :mod:`harness.files.forms` reads (tables, text files, logs of other programs); all
    but Parquet may be gzipped.

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
    events : {"paragraph", "separate", "sets"}, optional
        Treatment of texts with times, as for the reader ``jsonl``. Sets of events of
        several files are annotators, who need not have described the same videos.
    meta : list of str, optional
        Fields of the images of COCO annotations that go to ``Example.meta``; those of
        other forms do so by themselves.
    media_root : str, optional
        Folder put before the media names.

    Attributes
    ----------
    format : str
        Name of the form of the first file: ``coco``, ``karpathy``, ``msrvtt``,
        ``vdtk``, ``mapping``, ``table`` (JSON or Parquet), ``csv``, ``txt``, ...
    reader : Reader
        Reader of that form.
    readers : dict
        Path -> reader, of all files.

    Raises
    ------
    InputError
        For a file of no form, for ``columns`` of a file without columns, for files of
        other ids than the first, and for no file.
    """

    def __init__(
        self,
        *,
        path: PathParam | Sequence[PathParam],
        columns: Mapping[str, Any] | None = None,
        limit_references: int | None = None,
        allow_empty: bool = False,
        split: str | Sequence[str] | None = None,
        events: Events | None = None,
        meta: str | Sequence[str] = (),
        media_root: str | None = None,
    ) -> None:
        paths = [path] if isinstance(path, (str, Path)) else list(path)
        if not paths:
            raise InputError(
                "no file of references; expected at least one",
                parameter="path",
                value=path,
            )
        self.formats: list[str] = []
        self.readers: dict[str, Reader] = {}
        self.limit_references = limit_references
        self.partial = events == "sets"

        params = {
            "limit_references": limit_references if len(paths) == 1 else None,
            "allow_empty": allow_empty,
        }

        for item in dict.fromkeys(map(str, paths)):
            form, reader = _format(
                existing_captions(item, "file of references"), check_mapping(columns)
            )

            optional = {
                "columns": columns,
                "split": split,
                "events": events,
                "media_root": media_root,
                "meta": meta,
                "absent": len(paths) > 1,
            }
            settings = {name: value for name, value in optional.items() if value}
            accepted = {
                name: value
                for name, value in settings.items()
                if name in inspect.signature(reader).parameters
            }

            lacking = {
                "columns": "columns to name",
                "split": "records with a split to select "
                f"{', '.join(split_names(split))} from",
                "media_root": "names of media",
            }
            for name, what in lacking.items():
                if name in settings and name not in accepted:
                    raise InputError(
                        f"is a {form} file, which has no {what}", item, parameter=name
                    )

            self.formats.append(form)
            self.readers[item] = reader(path=item, **params, **accepted)

        self.path = Path(next(iter(self.readers)))
        self.format = self.formats[0]
        self.reader = next(iter(self.readers.values()))

    def fingerprint(self) -> str:
        """Return the fingerprint of the reader of the format,
        of several files those of all readers.
        """
        limit = ""
        if len(self.readers) > 1 and self.limit_references:
            limit = f"|{self.limit_references}"
        return (
            "+".join(reader.fingerprint() for reader in self.readers.values()) + limit
        )

    def describe(self) -> str:
        """Return the file names and the formats."""
        return ", ".join(
            f"{Path(path).name} ({form})"
            for path, form in zip(self.readers, self.formats)
        )

    def readings(self) -> list[Reading]:
        """Return how the files were read, after they were read."""
        return [
            reading
            for reader in self.readers.values()
            if isinstance(reader, ShowsReadings)
            for reading in reader.readings()
        ]

    def id_columns(self) -> dict[str, list[str]] | None:
        """Return the columns of a single file that can hold the ids, with the id of
        each record; None where there is nothing to choose.
        """
        if isinstance(self.reader, TableReader) and len(self.readers) == 1:
            return self.reader.id_columns()
        return None

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples of the readers; raises as they do."""
        if len(self.readers) == 1:
            yield from self.reader
        else:
            yield from join_readers(
                self.readers, self.limit_references, partial=self.partial
            )


def _format(path: Path, columns: Mapping[str, Any]) -> Format:
    """Return the form of a file and its reader;
    raise :class:`InputError` for a file of no form.
    """
    names: list[str] = []
    for value in columns.values():
        texts = value if isinstance(value, list) else [value]
        names += [name for name in texts if name]

    # the file is parsed once for all that it may be
    sample = Sample(path, "references", names)
    document = None
    if path.is_file() and first_byte(path) == b"{":
        document = single_object(sample)

    for name, (keys, reader) in OBJECTS.items():
        if document is not None and keys <= set(document):
            return name, reader
    if document is not None and "images" in document:
        return "karpathy", KarpathySplits

    first, form = read_form(sample, "references", names).head()
    fields = first.fields if first is not None else {}
    if form.name == "mapping" and not form.key and not _has_columns(fields):
        return ("mapping", TableReader if columns else MappingReader)

    if (
        form.name in ("json", "jsonl")
        and "references" in fields
        and find_name(FILE_ID_COLUMNS, fields) is None
    ):
        if form.key or columns:
            return "table", TableReader
        return "vdtk", VdtkList

    if (
        document is not None
        and first is not None
        and form.name == "jsonl"
        and not _has_columns(fields)
    ):
        raise InputError(
            f"holds an object with {checks.quote_list(document, MOST_NAMES)}; "
            "expected 'images' and 'annotations' (COCO), "
            "'videos' and 'sentences' (MSR-VTT), 'images' (Karpathy) "
            "or ids with references",
            str(path),
            parameter="path",
            value=str(path),
        )

    is_table = form.name in ("json", "jsonl", "parquet")
    return "table" if is_table else form.name, TableReader


def _has_columns(fields: Mapping[str, Any]) -> bool:
    """Return True for a record with further columns than ``id`` and ``captions``,
    or with references.
    """
    return (
        not set(fields) <= {"id", "captions"}
        and find_name((*REFERENCE_COLUMNS, *FILE_ID_COLUMNS), fields) is not None
    )
