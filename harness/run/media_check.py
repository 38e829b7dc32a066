"""Media of examples before a run: every example names one, and its file is there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.contracts import Example, OpensMedia
from harness.errors import HarnessError, InputError, counted
from harness.files.media import is_file_name, media_file, media_label
from harness.run.metric_plan import MetricPlan, ModelPlan, Plan

ADVICE = (
    "columns: {media: NAME} of the data set names their column; images of the model, "
    "or media_root of the data set, is their folder"
)
"""Advice on examples without media, for the end of a message."""


def require_files(plan: Plan, examples: Iterable[Example]) -> None:
    """Raise :class:`InputError` where a model or metric of a plan reads media, and an
    example has none, or its file is not there.

    A model or metric reads them where its parameter ``images`` names their folder, and
    a model that opens media also where the data set has ``media_root``. Cells of data
    sets and files of the hub are not looked for. A name without a suffix is that of a
    file with one.
    """
    places = list(_places(plan))
    if not places:
        return
    items = list(examples)
    unnamed = [item.id for item in items if item.media is None]
    for label, folder in places:
        if unnamed:
            raise InputError(
                f"{_share(unnamed, items, 'name/names')} no image or other medium, "
                f"such as '{unnamed[0]}': {ADVICE}",
                label,
            )

        listings: dict[Path, set[str]] = {}
        absent = [
            item
            for item in items
            if item.media is not None and not _is_there(item.media, folder, listings)
        ]
        if absent:
            first = media_label(str(absent[0].media), folder)
            verb = "name a file that is not there/names a file that is not there"
            raise InputError(
                f"{_share(absent, items, verb)}, such as {first} of "
                f"'{absent[0].id}': {ADVICE}",
                label,
            )


def _share(some: list[str] | list[Example], items: list[Example], verb: str) -> str:
    """Return how many of the examples have a verb written ``MANY/ONE``."""
    many, one = verb.split("/")
    verb = one if len(some) == 1 else many
    return f"{len(some):,} of {counted(len(items), 'example')} {verb}"


def _places(plan: Plan) -> Iterator[tuple[str, Path | None]]:
    """Yield the models and metrics that read media with their folders; None:
    names are paths.
    """
    has_root = bool(plan.spec.dataset.params.get("media_root"))
    for model in plan.models:
        folder = _folder(model)
        if folder is not None or (has_root and isinstance(model.adapter, OpensMedia)):
            yield f"model '{model.label}'", folder
    for metric in plan.metrics:
        folder = _folder(metric) if isinstance(metric, MetricPlan) else None
        if folder is not None:
            yield f"metric '{metric.label}'", folder


def _folder(plan: ModelPlan | MetricPlan) -> Path | None:
    images = plan.params.get("images")
    return Path(images) if isinstance(images, (str, Path)) else None


def _is_there(media: str, folder: Path | None, listings: dict[Path, set[str]]) -> bool:
    """Return True for a file, for a name without a suffix that a file of the folder
    begins with, and for what is no name of a file.
    """
    if not is_file_name(media):
        return True
    try:
        path = media_file(media, folder)
    except HarnessError:  # it leads out of the folder, which the run says
        return False
    if path.is_file():
        return True
    if path.suffix:
        return False

    # A folder is listed once, not for each example.
    parent = path.parent
    if parent not in listings:
        names = os.listdir(parent) if parent.is_dir() else []
        listings[parent] = {Path(name).stem for name in names}
    return path.name in listings[parent]
