"""The ``karpathy`` reader: the splits of Karpathy and Fei-Fei (``dataset_coco.json``, ``dataset_flickr30k.json``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.contracts import Example, PathParam
from harness.errors import InputError, did_you_mean
from harness.files import captions as checks
from harness.files import records as files
from harness.tasks.readers.coco import section


class KarpathySplits:
    """``{"images": [{"sentences": [{"raw"}], "split", "cocoid" or "imgid", "filename"}]}``, gzipped or not.

    ``split`` is one of the file's (``train``, ``restval``, ``val``, ``test``), a list of them, or None for all. The id of an
    example is ``cocoid`` where the images have one and ``imgid`` otherwise, or the field named by ``id``.
    """

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
        self.path = files.existing(path, "file of Karpathy splits")
        self.splits = chosen_splits(split)
        self.id = id
        self.media_root = media_root
        self.limit_references = checks.positive(limit_references, "limit_references")
        self.allow_empty = allow_empty

    def fingerprint(self) -> str:
        params = {
            "split": self.splits,
            "id": self.id,
            "limit_references": self.limit_references,
            "allow_empty": self.allow_empty,
            "media": self.media_root,
        }
        return files.fingerprint("karpathy", [self.path], params)

    def __iter__(self) -> Iterator[Example]:
        """Raises :class:`InputError` for a split the file lacks, duplicate ids, and images without sentences."""
        rows = list(section(files.load_json(self.path), "images", str(self.path)))
        check_splits(self.splits, [row.fields.get("split") for row in rows], str(self.path))
        images: dict[str, tuple[str | None, dict[str, Any]]] = {}
        references: dict[str, list[str]] = {}
        for where, record in rows:
            if self.splits and record.get("split") not in self.splits:
                continue
            name = self.id or ("cocoid" if "cocoid" in record else "imgid")
            key = checks.identity(record.get(name), where, name)
            if key in images:
                raise InputError(f"the id '{key}' occurs twice", where)
            images[key] = (self._media(record), {"split": record.get("split")})
            references[key] = [
                checks.caption(sentence.get("raw"), at, what="reference", allow_empty=self.allow_empty)
                for at, sentence in files.list_items(record.get("sentences", []), f"{where}, sentences")
            ]
        yield from checks.examples_by_image(
            images, references, str(self.path), noun="image", limit_references=self.limit_references
        )

    def _media(self, record: Any) -> str | None:
        name, folder = record.get("filename"), record.get("filepath")
        return checks.with_root(f"{folder}/{name}" if folder and name else name, self.media_root)


def chosen_splits(split: str | Sequence[str] | None) -> tuple[str, ...]:
    """One split or several as a tuple; empty for all."""
    if split is None:
        return ()
    return (split,) if isinstance(split, str) else tuple(split)


def check_splits(chosen: Sequence[str], present: Sequence[Any], where: str) -> None:
    """Raises :class:`InputError` for a split that no record has, naming those there are."""
    known = list(dict.fromkeys(str(name) for name in present if name is not None))
    for name in chosen:
        if name not in known:
            raise InputError(f"no split '{name}'{did_you_mean(name, known)}; found {', '.join(known) or 'none'}", where)
