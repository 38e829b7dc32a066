"""The ``auto`` reader: detects the format of a file by its content and delegates to the reader of that format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.contracts import Example, PathParam, Reader
from harness.errors import InputError
from harness.files import captions as checks
from harness.files import records as files
from harness.files.caption_file import CaptionFile
from harness.tasks.readers.coco import CocoCaptions
from harness.tasks.readers.jsonl import TableReader
from harness.tasks.readers.karpathy import KarpathySplits
from harness.tasks.readers.msrvtt import MsrVtt
from harness.tasks.readers.vdtk import VdtkList

Format = tuple[str, Callable[..., Reader]]
"""Name of a format and its reader."""

OBJECTS: Mapping[str, tuple[frozenset[str], Callable[..., Reader]]] = {
    "coco": (frozenset({"images", "annotations"}), CocoCaptions),
    "karpathy": (frozenset({"images", "dataset"}), KarpathySplits),
    "msrvtt": (frozenset({"videos", "sentences"}), MsrVtt),
}
"""Formats that are one JSON object: name -> keys of the object and reader."""


class AutoReader:
    """Examples of a file of any format.

    Formats: COCO annotations, Karpathy splits, MSR-VTT annotations, vdtk samples, tables (JSON Lines, JSON list, Parquet), and
    one JSON object ``{id: [references]}``; all but Parquet may be gzipped.

    Parameters
    ----------
    path : path
        File of references.
    limit_references : int, optional
        Number of references per example, the first ones of each; all by default.
    allow_empty : bool, default False
        Accept empty references.

    Attributes
    ----------
    format : str
        Name of the format: ``coco``, ``karpathy``, ``msrvtt``, ``vdtk``, ``table`` or ``mapping``.
    reader : Reader
        Reader of that format.
    """

    def __init__(self, *, path: PathParam, limit_references: int | None = None, allow_empty: bool = False) -> None:
        self.path = files.existing(path, "file of references")
        self.format, reader = _format(self.path)
        self.reader = reader(path=str(path), limit_references=limit_references, allow_empty=allow_empty)

    def fingerprint(self) -> str:
        """Return the fingerprint of the reader of the format."""
        return self.reader.fingerprint()

    def describe(self) -> str:
        """Return the file name and the format."""
        return f"{self.path.name} ({self.format})"

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples of the reader of the format; raises as that reader."""
        yield from self.reader


def _format(path: Path) -> Format:
    """Return the format of a file; raise :class:`InputError` for a file without references."""
    if files.is_parquet(path):
        return "table", TableReader
    first = files.first_byte(path)
    if first == b"[":
        return _of_records(path)
    if first == b"{":
        return _of_object(path)
    raise _not_references("is neither JSON, JSON Lines nor Parquet; expected a file of references", path)


def _not_references(message: str, path: Path) -> InputError:
    return InputError(message, str(path), parameter="path", value=str(path))


def _of_records(path: Path) -> Format:
    """Return the format of a list of objects: vdtk for records with references and no id column, else a table."""
    record = next(files.records(path), None)
    if record is not None and "references" in record.fields and not set(checks.ID_COLUMNS) & set(record.fields):
        return "vdtk", VdtkList
    return "table", TableReader


def _of_object(path: Path) -> Format:
    """Return the format of a file that begins with an object: JSON Lines, or one object of a known layout."""
    try:
        first = next(files.json_lines(path), None)
    except InputError:
        first = None  # an object over several lines: load_json below reads it whole and reports its errors
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
    raise _not_references(
        f"holds an object with {', '.join(map(repr, list(whole)[:4]))}; expected 'images' and 'annotations' (COCO), "
        "'videos' and 'sentences' (MSR-VTT), 'images' (Karpathy) or ids with lists of references",
        path,
    )


def _is_mapping(value: Mapping[str, Any]) -> bool:
    """Return True for an object of lists of texts or objects."""
    return bool(value) and all(
        isinstance(item, list) and all(isinstance(x, (str, dict)) for x in item) for item in value.values()
    )


class MappingReader(CaptionFile):
    """Examples of one JSON object ``{"id": ["reference", ...]}``; the parameters are those of :class:`AutoReader`."""

    name = "mapping"
    what = "file of references"

    def __init__(self, *, path: PathParam, limit_references: int | None = None, allow_empty: bool = False) -> None:
        super().__init__(path=path, limit_references=limit_references, allow_empty=allow_empty)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that change the examples, for the fingerprint."""
        return {"limit": self.limit_references, "empty": self.allow_empty}

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples; raise :class:`InputError` for an id without references."""
        for name, value in files.load_json(self.path).items():
            where = f"{self.path}: '{name}'"
            references = checks.captions(value, where, what="reference", allow_empty=self.allow_empty)
            if not references:
                raise InputError("has no references", where)
            yield Example(name, references[: self.limit_references])
