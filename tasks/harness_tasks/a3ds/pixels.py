"""Sources of pictures and image features of scenes: scene ids go in, arrays come out.

Pictures come from the renderer (default) or the official ``3dshapes.h5``. Features come
from EfficientNet-lite0 (default), ResNet-50 with local weights, or the authors' tensor
of ResNet-50 features, which needs no pictures. Every source has a name for the manifest
and for cache keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from harness.errors import InputError, did_you_mean, require
from harness.files.user_files import existing
from harness_tasks.a3ds.render import VERSION, render
from harness_tasks.a3ds.scene import N_SCENES, check_ids, indices, labels


class ImageFeatures(Protocol):
    """Source of feature vectors of scenes."""

    name: str
    """Name of the source, with a digest of its weights or the size of its file."""
    width: int
    """Number of features per scene."""

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the features of scenes ``(B,)``, float32 ``(B, width)``."""
        ...


# --------------------------------------------------------------------------- pictures
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


# --------------------------------------------------------------------------- features
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
            self._rows.update(
                (scene, len(self._table) + k) for k, scene in enumerate(new)
            )
            self._table = np.concatenate([self._table, *blocks])
        return self._table[[self._rows[scene] for scene in scenes]].reshape(
            -1, self.width
        )


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


# --------------------------------------------------------------------------- by name
SOURCES: dict[str, tuple[str, ...]] = {
    "efficientnet-lite0": ("view", "weights"),
    "resnet50": ("weights",),
    "tensor": ("path", "ids"),
}
"""Source of image features -> its options."""


def images(source: str | Path | None = None) -> Rendered | ShapesFile:
    """Return the renderer (None or ``render``),
    or the pictures of a file ``3dshapes.h5``.
    """
    return Rendered() if source in (None, "render") else ShapesFile(source)


def features(
    source: str | Mapping[str, Any] = "efficientnet-lite0",
    pictures: str | Path | None = None,
) -> ImageFeatures:
    """Return a source of image features by name;
    equal arguments return the same object.

    Parameters
    ----------
    source : str or mapping, default "efficientnet-lite0"
        ``efficientnet-lite0`` or ``{efficientnet-lite0: {view: last}}``,
        ``{resnet50: {weights: FILE}}``, or ``{tensor: {path: FILE, ids: FILE}}``.
    pictures : path, optional
        Source of the pictures, as for :func:`images`.

    Raises
    ------
    InputError
        For an unknown name or option, and a missing file.
    """
    name, options = (
        (source, {})
        if isinstance(source, str)
        else next(iter(source.items()), ("", {}))
    )
    if name not in SOURCES or (not isinstance(source, str) and len(source) != 1):
        raise InputError.of_name(
            "unknown image features",
            name,
            SOURCES,
            "expected one of",
            parameter="features",
        )
    return _features(
        name,
        json.dumps(options or {}, sort_keys=True),
        None if pictures is None else str(pictures),
    )


@cache
def _features(name: str, options_json: str, pictures: str | None) -> ImageFeatures:
    options = json.loads(options_json)
    for key in options:
        if key not in SOURCES[name]:
            raise _options_error(
                f"image features '{name}': unknown option "
                f"'{key}'{did_you_mean(key, SOURCES[name])}",
                key,
            )
    if name == "tensor":
        if "path" not in options:
            raise _options_error(
                "image features 'tensor' need the path of the stored tensor: "
                "{tensor: {path: FILE}}"
            )
        return FeatureTensor(**options)
    weights = (
        existing(options["weights"], "file of weights", parameter="features")
        if "weights" in options
        else None
    )
    if name == "efficientnet-lite0":
        from harness_tasks.a3ds.networks import WIDTHS, EfficientNetLite0

        network = EfficientNetLite0(weights, options.get("view", "middle"))
        label = f"efficientnet-lite0:{network.view}:{_digest(network.path)}"
        return NetworkFeatures(images(pictures), network, label, WIDTHS[network.view])
    if weights is None:
        raise _options_error(
            "image features 'resnet50' need local weights: {resnet50: {weights: FILE}}"
        )
    from harness_tasks.a3ds.networks import ResNet50

    return NetworkFeatures(
        images(pictures), ResNet50(weights), f"resnet50:{_digest(weights)}", 2048
    )


def _options_error(message: str, value: object = None) -> InputError:
    return InputError(message, parameter="features", value=value)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
