"""Feature sequences of several views by example id.

Sources are files (one per view: .npz or .safetensors with (frames, width) or (width,)
per id), the SemSynAN layout (an h5 file with arrays indexed by video number and the
number of frames of each video), or rendered scenes under a moving camera.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness_models.shared.inputs.features import FeatureFile, open_h5
from harness_models.shared.inputs.scenes import SceneViews, from_scenes


class FileViews:
    """Views from one feature file each.

    Parameters
    ----------
    files
        View to feature file by example id.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = {view: FeatureFile(path) for view, path in files.items()}
        self.widths = {}
        for view, file in self.files.items():
            if not file.arrays:
                raise InputError("the file holds no features", str(file.path))
            self.widths[view] = int(
                np.asarray(next(iter(file.arrays.values()))).shape[-1]
            )
        self.name = ",".join(str(file.path) for file in self.files.values())

    def check(self, examples: Sequence[Example]) -> None:
        """Raise :class:`InputError` with the ids of examples without features."""
        for file in self.files.values():
            file.check(examples)

    def read(self, example: Example) -> dict[str, np.ndarray]:
        """Return one array (frames, width) per view."""
        return {
            view: np.atleast_2d(file.row(example)) for view, file in self.files.items()
        }


class SemSynAnViews:
    """Views in the layout of the SemSynAN feature files.

    Parameters
    ----------
    path
        h5 file whose single group holds ``cnn_features`` and ``c3d_features`` (N,
        frames, width), and the number of frames ``count_features`` (N,), by video
        number. The video number is the digits of the example id.

    Raises
    ------
    InputError
        If the file does not exist, is not a readable h5 file, or lacks an array.
    """

    arrays = {"appearance": "cnn_features", "motion": "c3d_features"}  # noqa: RUF012

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError("no such feature file", str(self.path))

        handle = open_h5(self.path, "TVT's feature file")
        groups = [handle[key] for key in handle if hasattr(handle[key], "keys")]
        self.group = groups[0] if len(groups) == 1 else handle

        absent = [name for name in self.arrays.values() if name not in self.group]
        if absent:
            raise InputError(
                f"the file holds no arrays {', '.join(absent)}", str(self.path)
            )

        self.widths = {
            view: int(self.group[name].shape[-1]) for view, name in self.arrays.items()
        }
        self.name = str(self.path)

    def check(self, examples: Sequence[Example]) -> None:
        """Raise :class:`InputError` for an example whose id holds no video number of
        the file.
        """
        for example in examples:
            self._number(example)

    def _number(self, example: Example) -> int:
        digits = "".join(ch for ch in example.id if ch.isdigit())
        count = len(self.group[self.arrays["appearance"]])
        if not digits or int(digits) >= count:
            raise InputError(
                f"no video number from 0 to {count - 1} in the id of example "
                f"'{example.id}'",
                str(self.path),
            )
        return int(digits)

    def read(self, example: Example) -> dict[str, np.ndarray]:
        """Return one array (frames, width) float32 per view."""
        number = self._number(example)
        frames = None
        if "count_features" in self.group:
            frames = int(self.group["count_features"][number])

        views = {}
        for view, name in self.arrays.items():
            array = np.asarray(self.group[name][number], dtype=np.float32)
            views[view] = array[: max(1, frames)] if frames is not None else array
            if not np.isfinite(views[view]).all():
                raise InputError(
                    f"the features of example '{example.id}' contain NaN or infinity",
                    str(self.path),
                )
        return views


def open_views(features: Any) -> FileViews | SemSynAnViews | SceneViews:
    """Return the source that ``features`` specifies.

    Parameters
    ----------
    features
        ``{view: file}``, ``{semsynan: file}``, or ``{scenes: {frames, stride}}`` for
        rendered scenes.

    Raises
    ------
    HarnessError
        For any other value.
    """
    if not isinstance(features, Mapping) or not features:
        raise HarnessError(
            "features is a mapping of views to files, "
            f"or of semsynan or scenes to its settings; found {features!r}"
        )
    if set(features) == {"scenes"}:
        return from_scenes(SceneViews, features["scenes"])
    if set(features) == {"semsynan"}:
        return SemSynAnViews(features["semsynan"])
    return FileViews(features)


def collate(
    rows: Sequence[Mapping[str, np.ndarray]],
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Return a batch of B examples.

    Returns
    -------
    views
        One tensor (B, frames, width) per view, padded with zeros.
    masks
        One tensor (B, frames) per view, True at frames of the example.
    """
    views = {}
    masks = {}
    for name in rows[0]:
        longest = max(len(row[name]) for row in rows)
        views[name] = torch.zeros(len(rows), longest, rows[0][name].shape[1])
        masks[name] = torch.zeros(len(rows), longest, dtype=torch.bool)
        for i, row in enumerate(rows):
            array = np.ascontiguousarray(row[name])
            views[name][i, : len(array)] = torch.from_numpy(array)
            masks[name][i, : len(array)] = True
    return views, masks
