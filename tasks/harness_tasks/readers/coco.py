"""The ``coco`` reader: caption annotations in the format of the COCO site (``captions_val2014.json``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.contracts import Example
from harness.errors import InputError
from harness.files import captions as checks
from harness.files import records as files
from harness.files.caption_file import CaptionFile
from harness.files.columns import MOST_NAMES
from harness.files.examples import examples_by_image, with_root


class CocoCaptions(CaptionFile):
    """Examples of a COCO annotation file, gzipped or not.

    The file holds ``{"images": [{"id", "file_name"}], "annotations": [{"image_id", "caption"}]}``. Examples come in the
    order of ``images``, their references in the order of ``annotations``.

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
    """

    name = "coco"
    what = "file of COCO annotations"

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples; raise :class:`InputError` for images without captions, unknown images and duplicate ids."""
        data = files.load_json(self.path)
        images: dict[str, tuple[str | None, dict[str, Any]]] = {}
        for location, record in section(data, "images", str(self.path)):
            key = checks.identity(record.get("id"), location, "id")
            if key in images:
                raise InputError(f"the image id '{key}' occurs twice", location)
            images[key] = (with_root(record.get("file_name"), self.media_root), {})
        references: dict[str, list[str]] = {key: [] for key in images}
        for location, record in section(data, "annotations", str(self.path)):
            key = checks.identity(record.get("image_id"), location, "image_id")
            if key not in references:
                raise InputError(f"the annotation refers to the image '{key}', which 'images' does not list", location)
            references[key].append(
                checks.caption(record.get("caption"), location, what="reference", allow_empty=self.allow_empty)
            )
        yield from examples_by_image(
            images, references, str(self.path), noun="image", limit_references=self.limit_references
        )


def section(data: Any, name: str, path: str) -> Iterator[files.Record]:
    """Yield the records of one list of an annotation file; raise :class:`InputError` when there is no such list."""
    if not isinstance(data, dict):
        raise InputError(f"found {files.kind(data)}; expected an object with the list '{name}'", path)
    if name not in data:
        raise InputError(f"no list '{name}'; found {checks.quote_list(data, MOST_NAMES) or 'nothing'}", path)
    return files.list_items(data[name], f"{path}: {name}")
