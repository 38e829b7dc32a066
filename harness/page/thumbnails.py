"""Thumbnails of the images of examples, within a budget of bytes, and links to their
files.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from harness.contracts import Example
from harness.errors import InputError, counted
from harness.files.media import is_file_name, media_file
from harness.page.assets import DataBlock
from harness.page.provenance import portable
from harness.results import Run

SIDE = 224
"""Longest side of a thumbnail in pixels."""
QUALITY = 65
FORM = "WEBP"
BUDGET = 4_000_000
"""Largest sum of the thumbnails in bytes, before base64."""
MAX_PIXELS = 40_000_000
"""Pixels of an image that are decoded for its thumbnail, 4 bytes each."""
MAX_THUMBNAILS = 600
ORIENTATION, TURNED = 0x0112, 5
"""Tag of EXIF whose values from 5 on exchange width and height."""
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
GOLDEN = 0.6180339887498949
"""Fractional part of the golden ratio: its multiples spread evenly over the examples,
however many are embedded.
"""


@dataclass(frozen=True)
class Thumbnails:
    """Thumbnails by example id."""

    data: dict[str, str] = field(default_factory=dict[str, str])
    """Example id -> data URL."""
    links: dict[str, str] = field(default_factory=dict[str, str])
    """Example id -> path of the file from the folder of the page,
    as part of an address.
    """
    note: str = ""
    """Remark on images that are not embedded."""

    def blocks(self, name: str) -> list[DataBlock]:
        """Return the block of the images of a group; none without images."""
        if not self.data and not self.links:
            return []
        content = {"data": self.data, "links": self.links}
        return [DataBlock.of_json(f"{name}-images", content)]


def thumbnails(
    ids: Sequence[str],
    examples: Sequence[Example],
    folder: Path | None = None,
    budget: int = BUDGET,
    places: Sequence[Path] = (),
) -> Thumbnails:
    """Return thumbnails of examples, spread over the data,
    while they fit in the budget of bytes.

    Parameters
    ----------
    ids : sequence of str
        Examples on the page.
    examples : sequence of Example
        The data set, as of :func:`harness.page.examples.examples_of`. Without
        images there are no thumbnails and no note.
    folder : Path, optional
        Folder of the page; default: the working directory.
    budget : int
        Largest sum of the thumbnails in bytes, before base64.
    places : sequence of Path
        Folders from which models and metrics read images, as of :func:`image_folders`.
    """
    files = image_files(ids, examples, places)
    if not files:
        return Thumbnails()

    present = {example: file for example, file in files.items() if file.is_file()}
    if not present:
        first = next(iter(files.values()))
        return Thumbnails(
            note="No thumbnails: the images are not where the data set names them "
            f"({portable(str(first))}); media_root of the data set, "
            "or images of a model, is their folder."
        )
    if importlib.util.find_spec("PIL") is None:
        return Thumbnails(
            note="No thumbnails: they need the package pillow (pip install "
            "'caption-harness[embeddings]')."
        )

    data, too_large = _embed_images(present, budget)
    start = (folder or Path()).resolve()
    links = {
        example: quote(Path(os.path.relpath(file.resolve(), start)).as_posix())
        for example, file in present.items()
    }
    missing = len(files) - len(present)
    note = _note(len(ids), missing, len(data), len(present) - len(data))
    if too_large:
        note += (
            f" {counted(too_large, 'image')} of more than {MAX_PIXELS // 10**6} "
            "million pixels: no thumbnail."
        )
    return Thumbnails(data, links, note.strip())


def _note(total: int, missing: int, embedded: int, linked: int) -> str:
    if not linked and not missing:
        return ""
    counts = [f"Images of {total:,} examples: {embedded:,} as thumbnails"]
    if linked:
        counts.append(f"{linked:,} linked to their files")
    if missing:
        counts.append(f"{missing:,} missing")
    return f"{', '.join(counts)}."


def image_folders(runs: Sequence[Run]) -> list[Path]:
    """Return the folders from which models and metrics of runs read images,
    each once.
    """
    entries = (
        entry
        for run in runs
        for entry in (*run.provenance.models, *run.provenance.metrics)
    )
    values = (entry.params.get("images") for entry in entries)
    folders = (Path(value) for value in values if isinstance(value, str) and value)
    return list(dict.fromkeys(folders))


def image_files(
    ids: Sequence[str], examples: Sequence[Example], places: Sequence[Path]
) -> dict[str, Path]:
    """Return example id -> image file that the data set names,
    in the first of the places that has it.
    """
    members = set(ids)
    files: dict[str, Path] = {}
    for example in examples:
        if example.id not in members or not example.media:
            continue
        named = Path(example.media)
        if named.suffix.lower() not in SUFFIXES:
            continue

        below = (_below(example.media, place) for place in places)
        candidates = [named, *(file for file in below if file is not None)]
        files[example.id] = next((file for file in candidates if file.is_file()), named)
    return files


def _below(media: str, place: Path) -> Path | None:
    """Return the file of a media name in a folder; None for a name that leads out of
    it, or is no name of a file.
    """
    try:
        return media_file(media, place) if is_file_name(media) else None
    except InputError:
        return None


def _embed_images(files: dict[str, Path], budget: int) -> tuple[dict[str, str], int]:
    """Return example id -> data URL for as many images as the budget allows, in the
    order of the examples; and how many are too large.
    """
    order = sorted(range(len(files)), key=lambda k: (k * GOLDEN) % 1)
    names = list(files)
    urls: dict[str, str] = {}
    spent = too_large = 0
    spread = [(names[k], files[names[k]]) for k in order[:MAX_THUMBNAILS]]
    for name, encoded in encode_images(spread):
        if encoded is None:
            too_large += 1
            continue
        if spent + len(encoded.content) > budget:
            break
        spent += len(encoded.content)
        urls[name] = data_url(encoded.content)
    return {name: urls[name] for name in names if name in urls}, too_large


class Encoded(NamedTuple):
    """An image as small as a page has it."""

    content: bytes
    size: tuple[int, int]
    """Width and height of the whole image as it is shown."""


def encode_images(
    files: Iterable[tuple[str, Path]], side: int = SIDE, form: str = FORM
) -> Iterator[tuple[str, Encoded | None]]:
    """Yield names and thumbnails whose longest side has at most so many pixels, in a
    form of Pillow, None for an image of too many pixels; files that are no images are
    left out.
    """
    from PIL import Image, ImageOps

    for name, file in files:
        try:
            # the bound below takes the place of Pillow's warning
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", Image.DecompressionBombWarning)
                opened = Image.open(file)
            with opened as image:
                width, height = image.size
                # a JPEG is decoded at a fraction of its size
                image.draft("RGB", (2 * side, 2 * side))
                if image.width * image.height > MAX_PIXELS:
                    yield name, None
                    continue
                if image.getexif().get(ORIENTATION, 1) >= TURNED:
                    width, height = height, width
                small = ImageOps.exif_transpose(image).convert("RGB")
                small.thumbnail((side, side))
                buffer = io.BytesIO()
                small.save(buffer, form, quality=QUALITY, method=4)
        except Image.DecompressionBombError:
            yield name, None
            continue
        except (OSError, ValueError, SyntaxError):
            continue
        yield name, Encoded(buffer.getvalue(), (width, height))


def data_url(content: bytes, form: str = FORM) -> str:
    """Return the address of a thumbnail inside a page."""
    text = base64.b64encode(content).decode("ascii")
    return f"data:image/{form.lower()};base64,{text}"
