"""The ``auto`` reader: tells the format by the content and hands over to the reader of that format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.contracts import Example, PathParam, Reader
from harness.errors import InputError
from harness.files import captions as checks
from harness.files import records as files
from harness.tasks.readers.coco import CocoCaptions
from harness.tasks.readers.jsonl import TableReader
from harness.tasks.readers.karpathy import KarpathySplits
from harness.tasks.readers.msrvtt import MsrVtt
from harness.tasks.readers.vdtk import VdtkList

OBJECTS: Mapping[str, tuple[frozenset[str], Any]] = {
    "coco": (frozenset({"images", "annotations"}), CocoCaptions),
    "karpathy": (frozenset({"images", "dataset"}), KarpathySplits),
    "msrvtt": (frozenset({"videos", "sentences"}), MsrVtt),
}


class AutoReader:
    """COCO annotations, Karpathy splits, MSR-VTT annotations, vdtk samples, tables (JSON Lines, JSON list, Parquet), or one
    JSON object ``{id: [references]}``; any but Parquet may be gzipped. Parameters are those that all formats share.
    """

    def __init__(self, *, path: PathParam, limit_references: int | None = None, allow_empty: bool = False) -> None:
        self.path = files.existing(path, "file of references")
        self.limit_references = checks.positive(limit_references, "limit_references")
        self.allow_empty = allow_empty
        self.format, make = self._format()
        self.reader: Reader = make(path=str(path), limit_references=limit_references, allow_empty=allow_empty)

    def fingerprint(self) -> str:
        return self.reader.fingerprint()

    def describe(self) -> str:
        return f"{self.path.name} ({self.format})"

    def __iter__(self) -> Iterator[Example]:
        yield from self.reader

    def _format(self) -> tuple[str, Any]:
        if files.is_parquet(self.path):
            return "table", TableReader
        first = files.first_byte(self.path)
        if first == b"[":
            return _of_records(self.path)
        if first == b"{":
            return _of_object(self.path)
        raise InputError("is neither JSON, JSON Lines nor Parquet; expected a file of references", str(self.path))


def _of_records(path: Path) -> tuple[str, Any]:
    """A list of objects: vdtk where nothing numbers the records, else a table."""
    record = next(files.records(path), None)
    if record is not None and "references" in record.fields and not set(checks.ID_COLUMNS) & set(record.fields):
        return "vdtk", VdtkList
    return "table", TableReader


def _of_object(path: Path) -> tuple[str, Any]:
    """JSON Lines (the first line is an object and more follow, or it is a record), or one object of a known layout."""
    try:
        first = next(files.json_lines(path), None)
    except InputError:
        first = None  # an object over several lines; read it whole below, where its mistakes are told
    if (
        first is not None
        and not any(keys <= set(first.fields) for keys, _ in OBJECTS.values())
        and not _is_mapping(first.fields)
    ):
        return _of_records(path)
    whole = files.load_json(path)
    for name, (keys, reader) in OBJECTS.items():
        if keys <= set(whole):
            return name, reader
    if "images" in whole:
        return "karpathy", KarpathySplits
    if _is_mapping(whole):
        return "mapping", MappingReader
    raise InputError(
        f"holds an object with {', '.join(map(repr, list(whole)[:4]))}; expected 'images' and 'annotations' (COCO), "
        "'videos' and 'sentences' (MSR-VTT), 'images' (Karpathy) or ids with lists of references",
        str(path),
    )


def _is_mapping(value: Mapping[str, Any]) -> bool:
    return bool(value) and all(
        isinstance(item, list) and all(isinstance(x, (str, dict)) for x in item) for item in value.values()
    )


class MappingReader:
    """One JSON object ``{"id": ["reference", ...]}``."""

    def __init__(self, *, path: PathParam, limit_references: int | None = None, allow_empty: bool = False) -> None:
        self.path = files.existing(path, "file of references")
        self.limit_references = checks.positive(limit_references, "limit_references")
        self.allow_empty = allow_empty

    def fingerprint(self) -> str:
        return files.fingerprint("mapping", [self.path], {"limit": self.limit_references, "empty": self.allow_empty})

    def __iter__(self) -> Iterator[Example]:
        """Raises :class:`InputError` for an id without references."""
        for name, value in files.load_json(self.path).items():
            where = f"{self.path}: '{name}'"
            references = checks.captions(value, where, what="reference", allow_empty=self.allow_empty)
            if not references:
                raise InputError("has no references", where)
            yield Example(name, references[: self.limit_references])
