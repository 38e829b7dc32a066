"""Image features of scenes: of a network, or of a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from harness.errors import InputError, require
from harness.files.user_files import existing
from harness_tasks.a3ds.pictures import Rendered, ShapesFile
from harness_tasks.a3ds.scene import N_SCENES, check_ids


class ImageFeatures(Protocol):
    """Source of feature vectors of scenes."""

    name: str
    """Name of the source, with a digest of its weights or the size of its file."""
    width: int
    """Number of features per scene."""

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the features of scenes ``(B,)``, float32 ``(B, width)``."""
        ...


class NetworkFeatures:
    """Features that a network computes from pictures, in blocks of 64;
    the features of each scene are cached.

    Parameters
    ----------
    images : Rendered or ShapesFile
        Source of the pictures.
    network : callable
        Pictures ``(B, 64, 64, 3)`` uint8 -> features ``(B, width)`` float32.
    name : str
        Name of the network.
    width : int
        Number of features per scene.
    """

    def __init__(
        self,
        images: Rendered | ShapesFile,
        network: Callable[[np.ndarray], np.ndarray],
        name: str,
        width: int,
    ) -> None:
        self._images = images
        self._network = network
        self.name = f"{name} of {images.name}"
        self.width = width
        self._rows: dict[int, int] = {}
        self._table = np.empty((0, width), dtype=np.float32)

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the features of scenes ``(B,)``, float32 ``(B, width)``."""
        scenes = check_ids(ids).tolist()
        new = sorted({scene for scene in scenes if scene not in self._rows})
        if new:
            blocks = [
                self._network(self._images.images(new[start : start + 64]))
                for start in range(0, len(new), 64)
            ]
            for row, scene in enumerate(new, start=len(self._table)):
                self._rows[scene] = row
            self._table = np.concatenate([self._table, *blocks])

        rows = [self._rows[scene] for scene in scenes]
        return self._table[rows].reshape(-1, self.width)


class FeatureTensor:
    """Features of a stored tensor ``(rows, width)``.

    Parameters
    ----------
    path : path
        File ``.pt`` (read without unpickling code), ``.npy``, or ``.safetensors`` with
        one tensor.
    ids : path, optional
        JSON list with the scene id of each row (the authors' sandbox has 1000);
        required unless there are 480,000 rows, of which row i is scene i.

    Raises
    ------
    InputError
        For a missing file, another shape, and scenes that the file lacks.
    """

    def __init__(self, path: str | Path, ids: str | Path | None = None) -> None:
        self.path = existing(path, "file of image features")
        self._table = _read_table(self.path)
        if self._table.ndim != 2 or (ids is None and len(self._table) != N_SCENES):
            raise InputError(
                f"features of shape {tuple(self._table.shape)}, "
                f"expected ({N_SCENES}, width), or fewer rows with 'ids'",
                str(path),
            )
        self._rows = None if ids is None else _read_rows(Path(ids), len(self._table))
        self.width = int(self._table.shape[1])
        self.name = f"{self.path.name}:{self.path.stat().st_size}"

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the features of scenes ``(B,)``, float32 ``(B, width)``; raise
        :class:`InputError` for a scene without any.
        """
        rows = check_ids(ids)
        if self._rows is not None:
            missing = [int(scene) for scene in rows if int(scene) not in self._rows]
            if missing:
                raise InputError(f"no features of scene {missing[0]}", str(self.path))
            rows = np.array([self._rows[int(scene)] for scene in rows], dtype=np.int64)
        return np.asarray(self._table[rows], dtype=np.float32)


def _read_table(path: Path) -> np.ndarray:
    """Return the tensor of a file as an array; raise :class:`InputError` for a file
    that does not hold one tensor.
    """
    if path.suffix == ".npy":
        return np.load(path, mmap_mode="r", allow_pickle=False)

    torch = require("torch", extra="a3ds", needed_by="the reader of feature tensors")
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        tensors = list(load_file(path).values())
        if len(tensors) != 1:
            raise InputError(f"{len(tensors)} tensors, expected one", str(path))
        return tensors[0].numpy()

    try:
        tensor = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:
        # torch raises errors of many types for files that it cannot read
        raise InputError(
            f"not a stored tensor ({str(error).splitlines()[0]})", str(path)
        ) from error

    if not isinstance(tensor, torch.Tensor):
        raise InputError(
            f"holds a {type(tensor).__name__}, expected one tensor", str(path)
        )
    return tensor.numpy()


def _read_rows(path: Path, count: int) -> dict[int, int]:
    """Return scene id -> row of a JSON list of ``count`` ids;
    raise :class:`InputError` for anything else.
    """
    try:
        ids = check_ids(json.loads(path.read_text()))
    except (OSError, ValueError) as error:
        raise InputError(f"not a JSON list of scene ids ({error})", str(path)) from None
    if len(ids) != count:
        raise InputError(
            f"{len(ids)} scene ids for {count} rows of features", str(path)
        )
    return {int(scene): row for row, scene in enumerate(ids)}
