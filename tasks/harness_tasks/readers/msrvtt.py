"""The ``msrvtt`` reader: the official MSR-VTT annotations
(``train_val_videodatainfo.json``, ``test_videodatainfo.json``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.contracts import Example, PathParam
from harness.errors import InputError
from harness.files import captions as checks
from harness.files.caption_file import CaptionFile, ReadingCounter
from harness.files.examples import examples_by_image, with_root
from harness.files.strict_json import load_json
from harness_tasks.readers.annotations import check_splits, section, split_names


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

            # Sentences of videos of other splits are passed over, those of unknown
            # videos are not.
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
