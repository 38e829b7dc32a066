"""Images below the boxes of a run, where their files are at hand."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from harness.page.events.boards import Picture
from harness.page.examples import examples_of
from harness.page.thumbnails import (
    FORM,
    data_url,
    encode_images,
    image_files,
    image_folders,
)
from harness.results import Run

SIDE = 560
"""Longest side of an image in pixels."""
BUDGET = 2_500_000
"""Largest sum of the images in bytes, before base64."""


def pictures_of(run: Run, ids: Sequence[str], form: str = FORM) -> dict[str, Picture]:
    """Return example -> image, in a form of Pillow, for the examples of a run whose
    images are at hand, in their order while they fit in the budget.
    """
    examples = examples_of(run)
    files = image_files(ids, examples, image_folders([run]))
    present = [(name, files[name]) for name in ids if name in files]
    present = [(name, file) for name, file in present if file.is_file()]
    if not present or importlib.util.find_spec("PIL") is None:
        return {}
    pictures: dict[str, Picture] = {}
    spent = 0
    for name, encoded in encode_images(present, SIDE, form):
        if encoded is None:
            continue
        spent += len(encoded.content)
        if spent > BUDGET:
            break
        pictures[name] = Picture(data_url(encoded.content, form), encoded.size)
    return pictures
