"""The ``karpathy`` reader: the splits of Karpathy and Fei-Fei (``dataset_coco.json``,
``dataset_flickr30k.json``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.contracts import Example, PathParam
from harness.errors import InputError
from harness.files import captions as checks
from harness.files.caption_file import CaptionFile, ReadingCounter
from harness.files.examples import examples_by_image, with_root
from harness.files.records import list_items
from harness.files.strict_json import load_json
from harness_tasks.readers.annotations import check_splits, section, split_names


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
        present = [row.fields.get("split") for row in rows]
        check_splits(self.splits, present, str(self.path))

        images: dict[str, tuple[str | None, dict[str, Any]]] = {}
        references: dict[str, list[str]] = {}
        for location, record in rows:
            if self.splits and record.get("split") not in self.splits:
                continue

            # COCO's files have `cocoid`, those of Flickr8k and Flickr30k `imgid`.
            name = self.id or ("cocoid" if "cocoid" in record else "imgid")
            key = checks.identity(record.get(name), location, name)
            if key in images:
                raise InputError(f"the id '{key}' occurs twice", location)
            images[key] = (self._media(record), {"split": record.get("split")})

            sentences = list_items(
                record.get("sentences", []), f"{location}, sentences"
            )
            references[key] = [
                checks.caption(
                    sentence.get("raw"),
                    at,
                    what="reference",
                    allow_empty=self.allow_empty,
                )
                for at, sentence in sentences
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
