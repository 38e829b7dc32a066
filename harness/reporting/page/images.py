"""Thumbnails of the examples' images, embedded up to a size budget; the other images are links to their files."""

from __future__ import annotations

import base64
import importlib.util
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from harness.contracts import Example
from harness.reporting.page.assets import DataBlock
from harness.reporting.page.provenance import portable

SIDE = 224
"""Longest side of a thumbnail in pixels."""
QUALITY = 65
BUDGET = 4_000_000
"""Largest sum of the thumbnails in bytes, before base64."""
MAX_THUMBNAILS = 600
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
GOLDEN = 0.6180339887498949
"""Fractional part of the golden ratio: its multiples spread evenly over the examples, however many are embedded."""


@dataclass(frozen=True)
class Thumbnails:
    """Thumbnails by example id."""

    data: dict[str, str] = field(default_factory=dict[str, str])
    """Example id -> data URL."""
    links: dict[str, str] = field(default_factory=dict[str, str])
    """Example id -> path of the file from the folder of the page, as part of an address."""
    note: str = ""
    """Remark on images that are not embedded."""

    def blocks(self, name: str) -> list[DataBlock]:
        """Return the block of the images of a group; none without images."""
        if not self.data and not self.links:
            return []
        return [DataBlock.of_json(f"{name}-images", {"data": self.data, "links": self.links})]


def thumbnails(ids: Sequence[str], examples: Sequence[Example], folder: Path | None = None, budget: int = BUDGET) -> Thumbnails:
    """Return thumbnails of examples, spread over the data, while they fit in the budget of bytes.

    Parameters
    ----------
    ids : sequence of str
        Examples on the page.
    examples : sequence of Example
        The data set, as of :func:`harness.reporting.page.sources.examples_of`. Without images there are no thumbnails and no note.
    folder : Path, optional
        Folder of the page; default: the working directory.
    budget : int
        Largest sum of the thumbnails in bytes, before base64.
    """
    files = _files(ids, examples)
    if not files:
        return Thumbnails()
    present = {example: file for example, file in files.items() if file.is_file()}
    if not present:
        first = next(iter(files.values()))
        return Thumbnails(note=f"No thumbnails: the images are not where the data set names them ({portable(str(first))}).")
    if importlib.util.find_spec("PIL") is None:
        return Thumbnails(note="No thumbnails: they need the package pillow (pip install 'caption-harness[embeddings]').")
    data = _embed_images(present, budget)
    start = (folder or Path()).resolve()
    links = {example: quote(Path(os.path.relpath(file.resolve(), start)).as_posix()) for example, file in present.items()}
    return Thumbnails(data, links, _note(len(ids), len(files) - len(present), len(data), len(present) - len(data)))


def _note(total: int, missing: int, embedded: int, linked: int) -> str:
    counts = [f"Images of {total:,} examples: {embedded:,} as thumbnails"] if linked or missing else []
    counts += [f"{linked:,} linked to their files"] if linked else []
    counts += [f"{missing:,} missing"] if missing else []
    return f"{', '.join(counts)}." if counts else ""


def _files(ids: Sequence[str], examples: Sequence[Example]) -> dict[str, Path]:
    """Return example id -> image file that the data set names."""
    members = set(ids)
    return {
        example.id: Path(example.media)
        for example in examples
        if example.id in members and example.media and Path(example.media).suffix.lower() in SUFFIXES
    }


def _embed_images(files: dict[str, Path], budget: int) -> dict[str, str]:
    """Return example id -> data URL for as many images as the budget allows, in the order of the examples."""
    order = sorted(range(len(files)), key=lambda k: (k * GOLDEN) % 1)
    names = list(files)
    urls: dict[str, str] = {}
    spent = 0
    for name, content in _encode_image([(names[k], files[names[k]]) for k in order[:MAX_THUMBNAILS]]):
        if spent + len(content) > budget:
            break
        spent += len(content)
        urls[name] = f"data:image/webp;base64,{base64.b64encode(content).decode('ascii')}"
    return {name: urls[name] for name in names if name in urls}


def _encode_image(files: Sequence[tuple[str, Path]]) -> Iterator[tuple[str, bytes]]:
    """Yield names and thumbnails as WebP; files that are no images are left out."""
    from PIL import Image, ImageOps

    for name, file in files:
        try:
            with Image.open(file) as image:
                image.draft("RGB", (2 * SIDE, 2 * SIDE))
                small = ImageOps.exif_transpose(image).convert("RGB")
                small.thumbnail((SIDE, SIDE))
                buffer = io.BytesIO()
                small.save(buffer, "WEBP", quality=QUALITY, method=4)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            continue
        yield name, buffer.getvalue()
