"""Pictures of scenes: rendered, or of the file of 3D Shapes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import InputError, did_you_mean, require
from harness.files.user_files import existing
from harness_tasks.a3ds.render import VERSION, render
from harness_tasks.a3ds.scene import N_SCENES, check_ids, indices, labels


class Rendered:
    """Pictures of the renderer; no download."""

    name = VERSION

    def images(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the pictures of scenes ``(B,)``, uint8 ``(B, 64, 64, 3)``."""
        return render(ids)


class ShapesFile:
    """Pictures of the official ``3dshapes.h5``, read lazily.

    The file holds ``images``, uint8 ``(480000, 64, 64, 3)``, and ``labels``,
    ``(480000, 6)``.

    Raises
    ------
    InputError
        When a key is missing, a shape differs, or the labels are not in the order of
        the ids.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = existing(path, "file of 3D Shapes pictures", parameter="pictures")
        h5py = require("h5py", extra="a3ds", needed_by="the reader of 3dshapes.h5")
        try:
            file = h5py.File(self.path, "r")
        except OSError as error:
            raise InputError(
                f"not an HDF5 file ({str(error).splitlines()[0]})", str(path)
            ) from None

        expected = {"images": (N_SCENES, 64, 64, 3), "labels": (N_SCENES, 6)}
        for key, shape in expected.items():
            if key not in file:
                raise InputError(
                    f"no key '{key}'{did_you_mean(key, file)}; "
                    "expected 'images' and 'labels'",
                    str(path),
                )
            if not isinstance(file[key], h5py.Dataset) or file[key].shape != shape:
                actual = getattr(file[key], "shape", "a group")
                raise InputError(
                    f"'{key}' has shape {actual}, expected {shape}", str(path)
                )

        if file["images"].dtype != np.uint8:
            raise InputError(
                f"'images' has type {file['images'].dtype}, expected uint8", str(path)
            )

        self._check_labels(file["labels"])
        self._file = file
        self.name = f"3dshapes.h5:{self.path.stat().st_size}"

    def _check_labels(self, stored: Any) -> None:
        """Raise :class:`InputError` when the labels of three rows are not those of the
        scenes with their ids.
        """
        for probe in (0, N_SCENES // 7, N_SCENES - 1):
            values = [
                axis[index]
                for axis, index in zip(labels(), indices([probe])[0].tolist())
            ]
            if not np.allclose(stored[probe], values):
                raise InputError(
                    f"labels of row {probe} are {list(stored[probe])}, "
                    f"expected {values}",
                    str(self.path),
                )

    def images(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the pictures of scenes ``(B,)``, uint8 ``(B, 64, 64, 3)``."""
        # h5py needs ascending indices without repeats
        distinct, inverse = np.unique(check_ids(ids), return_inverse=True)
        if not len(distinct):
            return np.empty((0, 64, 64, 3), dtype=np.uint8)
        return self._file["images"][distinct][inverse]
