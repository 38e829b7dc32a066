"""The ``coco`` reader: caption annotations in the format of the COCO site
(``captions_val2014.json``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from harness.contracts import Example, PathParam
from harness.errors import InputError
from harness.files import captions as checks
from harness.files.caption_file import CaptionFile, ReadingCounter
from harness.files.examples import examples_by_image, with_root
from harness.files.marks import find_mark
from harness.files.strict_json import load_json
from harness_tasks.readers.annotations import section


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
                # `a.b` is the field of this name, or a part of the field `a`.
                for name in self.meta:
                    for field in (name, name.partition(".")[0]):
                        if field in record:
                            meta[field] = record[field]
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

        # An image whose references are all marked is left out; one without any is an
        # error.
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
