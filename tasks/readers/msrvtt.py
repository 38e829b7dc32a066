"""The ``msrvtt`` reader: the official MSR-VTT annotations (``train_val_videodatainfo.json``, ``test_videodatainfo.json``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.contracts import Example, PathParam
from harness.errors import InputError
from harness.files import captions as checks
from harness.files import records as files
from harness.tasks.readers.coco import section
from harness.tasks.readers.karpathy import check_splits, chosen_splits


class MsrVtt:
    """``{"videos": [{"video_id", "split", "category"}], "sentences": [{"video_id", "caption"}]}``, gzipped or not.

    ``split`` is one of the file's (``train``, ``validate``, ``test``), a list of them, or None for all. Examples come in the
    order of ``videos``; ``meta`` holds ``category`` and ``split``. The media name is the video id with ``suffix``.
    """

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
        self.path = files.existing(path, "file of MSR-VTT annotations")
        self.splits = chosen_splits(split)
        self.media_root = media_root
        self.suffix = suffix
        self.limit_references = checks.positive(limit_references, "limit_references")
        self.allow_empty = allow_empty

    def fingerprint(self) -> str:
        params = {
            "split": self.splits,
            "limit_references": self.limit_references,
            "allow_empty": self.allow_empty,
            "media": [self.media_root, self.suffix],
        }
        return files.fingerprint("msrvtt", [self.path], params)

    def __iter__(self) -> Iterator[Example]:
        """Raises :class:`InputError` for a split the file lacks, duplicate ids, sentences of no video, bare videos."""
        data = files.load_json(self.path)
        rows = list(section(data, "videos", str(self.path)))
        check_splits(self.splits, [row.fields.get("split") for row in rows], str(self.path))
        videos: dict[str, tuple[str | None, dict[str, Any]]] = {}
        others: set[str] = set()
        for where, record in rows:
            key = checks.identity(record.get("video_id"), where, "video_id")
            if key in videos or key in others:
                raise InputError(f"the video id '{key}' occurs twice", where)
            if self.splits and record.get("split") not in self.splits:
                others.add(key)
                continue
            meta = {name: record[name] for name in ("category", "split") if name in record}
            videos[key] = (checks.with_root(f"{key}{self.suffix}", self.media_root), meta)
        references: dict[str, list[str]] = {key: [] for key in videos}
        for where, record in section(data, "sentences", str(self.path)):
            key = checks.identity(record.get("video_id"), where, "video_id")
            if key in references:
                references[key].append(
                    checks.caption(record.get("caption"), where, what="reference", allow_empty=self.allow_empty)
                )
            elif key not in others:
                raise InputError(f"the sentence is of the video '{key}', which 'videos' does not list", where)
        yield from checks.examples_by_image(
            videos, references, str(self.path), noun="video", limit_references=self.limit_references
        )
