"""Images of a folder by the ids of examples: the name of a file, its stem, or the
number that its stem ends with, as COCO pads it (``COCO_val2014_000000391895.jpg``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

from harness.errors import InputError

SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
)
_NUMBER = re.compile(r"(?:.*?[^0-9])?0*([0-9]+)")
_DECIMAL = re.compile(r"0*([0-9]+)")


class ImageFolder:
    """Index of the images directly in a folder.

    Parameters
    ----------
    folder : Path
        The folder.

    Raises
    ------
    InputError
        If the folder cannot be listed, or has no images.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._by_name: dict[str, Path] = {}
        self._by_stem: dict[str, list[Path]] = defaultdict(list)
        self._by_number: dict[str, list[Path]] = defaultdict(list)
        try:
            files = sorted(folder.iterdir())
        except OSError as error:
            raise InputError(
                f"the folder of images cannot be read: {error.strerror}", str(folder)
            ) from error

        for file in files:
            if file.suffix.lower() not in SUFFIXES:
                continue
            self._by_name[file.name] = file
            self._by_stem[file.stem].append(file)
            if match := _NUMBER.fullmatch(file.stem):
                self._by_number[match[1]].append(file)
        if not self._by_name:
            raise InputError(
                "no images in the folder; expected files of .jpg, .png or .webp",
                str(folder),
            )

    def find(self, example: str) -> tuple[Path, str]:
        """Return the image of an example, and the manner in which it was found:
        ``name``, ``stem`` or ``number``.

        Raises
        ------
        InputError
            If no image has the id, or several have.
        """
        if example in self._by_name:
            return self._by_name[example], "name"
        if found := self._by_stem.get(example):
            return self._single(example, found), "stem"
        number = _DECIMAL.fullmatch(example)
        if number and (found := self._by_number.get(number[1])):
            return self._single(example, found), "number"
        raise InputError(
            f"no image of the example '{example}': no file has this name, this stem, "
            "or a stem that ends with this number",
            str(self.folder),
        )

    def _single(self, example: str, files: list[Path]) -> Path:
        if len(files) > 1:
            names = ", ".join(file.name for file in files[:3])
            raise InputError(
                f"{len(files)} images are of the example '{example}': {names}; "
                "give the name of the file as the example's id or media",
                str(self.folder),
            )
        return files[0]


def image_folder(folder: Path) -> ImageFolder:
    """Return the index of a folder; made again when files come or go."""
    try:
        changed = folder.stat().st_mtime_ns
    except OSError:
        changed = 0
    return _index_of(folder, changed)


@lru_cache(maxsize=8)
def _index_of(folder: Path, changed: int) -> ImageFolder:
    return ImageFolder(folder)
