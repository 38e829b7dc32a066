"""Where pictures and image features of scenes come from, behind one interface: ids in, arrays out, a name for the manifest.

Pictures: the renderer (default), or the official ``3dshapes.h5``. Features: EfficientNet-lite0 (default), ResNet-50 with local
weights, or the authors' tensor of ResNet-50 features, which needs no pictures.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from harness.errors import HarnessError, InputError, did_you_mean, require
from harness.tasks.a3ds.render import VERSION, render
from harness.tasks.a3ds.scene import N_SCENES, check_ids, labels


class Images(Protocol):
    """Pictures of scenes."""

    name: str
    """For the manifest and for cache keys: the source and, for a file, what it holds."""

    def images(self, ids: Iterable[Any]) -> np.ndarray:
        """(B, 64, 64, 3) uint8."""
        ...


class ImageFeatures(Protocol):
    """Feature vectors of scenes."""

    name: str
    width: int

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """(B, width) float32."""
        ...


# --------------------------------------------------------------------------- pictures
class Rendered:
    """Pictures from the renderer: no download."""

    name = VERSION

    def images(self, ids: Iterable[Any]) -> np.ndarray:
        return render(ids)


class ShapesFile:
    """The official ``3dshapes.h5`` (keys ``images`` (480000, 64, 64, 3) uint8 and ``labels`` (480000, 6)), read lazily.

    Raises :class:`InputError` when a key is missing, a shape differs or the labels are not in the order of the ids.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError("no such file of 3D Shapes pictures", str(path))
        h5py = require("h5py", extra="a3ds", needed_by="the reader of 3dshapes.h5")
        try:
            file = h5py.File(self.path, "r")
        except OSError as error:
            raise InputError(f"not an HDF5 file ({str(error).splitlines()[0]})", str(path)) from None
        expected = {"images": (N_SCENES, 64, 64, 3), "labels": (N_SCENES, 6)}
        for key, shape in expected.items():
            if key not in file:
                raise InputError(f"no key '{key}'{did_you_mean(key, file)}; expected 'images' and 'labels'", str(path))
            if not isinstance(file[key], h5py.Dataset) or file[key].shape != shape:
                found = getattr(file[key], "shape", "a group")
                raise InputError(f"'{key}' has shape {found}, expected {shape}", str(path))
        if file["images"].dtype != np.uint8:
            raise InputError(f"'images' has type {file['images'].dtype}, expected uint8", str(path))
        self._check_labels(file["labels"])
        self._file = file
        self.name = f"3dshapes.h5:{self.path.stat().st_size}"

    def _check_labels(self, stored: Any) -> None:
        for probe in (0, N_SCENES // 7, N_SCENES - 1):
            values = [axis[index] for axis, index in zip(labels(), _digits(probe))]
            if not np.allclose(stored[probe], values):
                raise InputError(f"labels of row {probe} are {list(stored[probe])}, expected {values}", str(self.path))

    def images(self, ids: Iterable[Any]) -> np.ndarray:
        wanted, back = np.unique(check_ids(ids), return_inverse=True)  # h5py takes ascending indices without repeats
        if not len(wanted):
            return np.empty((0, 64, 64, 3), dtype=np.uint8)
        return self._file["images"][wanted][back]


def _digits(scene: int) -> list[int]:
    from harness.tasks.a3ds.scene import indices

    return indices([scene])[0].tolist()


# --------------------------------------------------------------------------- features
class NetworkFeatures:
    """Features that a network gives the pictures, in blocks of 64; each scene is computed once and kept."""

    def __init__(self, images: Images, network: Any, name: str, width: int) -> None:
        self._images, self._network = images, network
        self.name, self.width = f"{name} of {images.name}", width
        self._rows: dict[int, int] = {}
        self._table = np.empty((0, width), dtype=np.float32)

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        wanted = check_ids(ids).tolist()
        new = sorted({scene for scene in wanted if scene not in self._rows})
        if new:
            parts = [self._network(self._images.images(new[start : start + 64])) for start in range(0, len(new), 64)]
            self._rows.update((scene, len(self._table) + k) for k, scene in enumerate(new))
            self._table = np.concatenate([self._table, *parts])
        return self._table[[self._rows[scene] for scene in wanted]].reshape(-1, self.width)


class FeatureTensor:
    """One stored tensor of features: ``.pt`` (a tensor, read without unpickling code), ``.npy`` or ``.safetensors``.

    Row i is scene i when there are 480,000 rows; else ``ids`` names a JSON list with the scene of each row (the authors'
    sandbox has 1000). Raises :class:`InputError` for another shape and for scenes that the file lacks.
    """

    def __init__(self, path: str | Path, ids: str | Path | None = None) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError("no such file of image features", str(path))
        self._table = _read_table(self.path)
        if self._table.ndim != 2 or (ids is None and len(self._table) != N_SCENES):
            raise InputError(
                f"features of shape {tuple(self._table.shape)}, expected ({N_SCENES}, width), or fewer rows with 'ids'",
                str(path),
            )
        self._rows = None if ids is None else _read_rows(Path(ids), len(self._table))
        self.width = int(self._table.shape[1])
        self.name = f"{self.path.name}:{self.path.stat().st_size}"

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        wanted = check_ids(ids)
        if self._rows is not None:
            lacking = [int(scene) for scene in wanted if int(scene) not in self._rows]
            if lacking:
                raise InputError(f"no features of scene {lacking[0]}", str(self.path))
            wanted = np.array([self._rows[int(scene)] for scene in wanted], dtype=np.int64)
        return np.asarray(self._table[wanted], dtype=np.float32)


def _read_table(path: Path) -> Any:
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
        found = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:
        raise InputError(f"not a stored tensor ({str(error).splitlines()[0]})", str(path)) from error
    if not isinstance(found, torch.Tensor):
        raise InputError(f"holds a {type(found).__name__}, expected one tensor", str(path))
    return found.numpy()


def _read_rows(path: Path, count: int) -> dict[int, int]:
    try:
        ids = check_ids(json.loads(path.read_text()))
    except (OSError, ValueError) as error:
        raise InputError(f"no JSON list of scene ids ({error})", str(path)) from None
    if len(ids) != count:
        raise InputError(f"{len(ids)} scene ids for {count} rows of features", str(path))
    return {int(scene): row for row, scene in enumerate(ids)}


# --------------------------------------------------------------------------- by name
SOURCES = ("efficientnet-lite0", "resnet50", "tensor")


def images(source: str | Path | None = None) -> Images:
    """The renderer (None or ``render``), or the path of ``3dshapes.h5``."""
    return Rendered() if source in (None, "render") else ShapesFile(source)


def features(
    source: str | Mapping[str, Any] = "efficientnet-lite0", pictures: str | Path | None = None
) -> ImageFeatures:
    """Image features by name, shared by all that ask for the same.

    ``efficientnet-lite0`` or ``{efficientnet-lite0: {view: last}}``; ``{resnet50: {weights: FILE}}``;
    ``{tensor: {path: FILE, ids: FILE}}``. ``pictures`` as for :func:`images`. Raises :class:`HarnessError` for another name.
    """
    name, options = (source, {}) if isinstance(source, str) else next(iter(source.items()), ("", {}))
    if name not in SOURCES or (not isinstance(source, str) and len(source) != 1):
        raise HarnessError(
            f"unknown image features {source!r}{did_you_mean(name, SOURCES)}; expected one of {', '.join(SOURCES)}"
        )
    return _features(name, json.dumps(options or {}, sort_keys=True), None if pictures is None else str(pictures))


@cache
def _features(name: str, options_json: str, pictures: str | None) -> ImageFeatures:
    options = json.loads(options_json)
    allowed = {"efficientnet-lite0": {"view", "weights"}, "resnet50": {"weights"}, "tensor": {"path", "ids"}}[name]
    for key in options:
        if key not in allowed:
            raise HarnessError(f"image features '{name}': unknown option '{key}'{did_you_mean(key, allowed)}")
    if name == "tensor":
        if "path" not in options:
            raise HarnessError("image features 'tensor' need the path of the stored tensor: {tensor: {path: FILE}}")
        return FeatureTensor(**options)
    weights = Path(options["weights"]) if "weights" in options else None
    if weights is not None and not weights.is_file():
        raise InputError("no such file of weights", str(weights))
    if name == "efficientnet-lite0":
        from harness.tasks.a3ds.efficientnet import WIDTHS, EfficientNetLite0

        network = EfficientNetLite0(weights, options.get("view", "middle"))
        label = f"efficientnet-lite0:{network.view}:{_digest(network.path)}"
        return NetworkFeatures(images(pictures), network, label, WIDTHS[network.view])
    if weights is None:
        raise HarnessError("image features 'resnet50' need local weights: {resnet50: {weights: FILE}}")
    from harness.tasks.a3ds.resnet import ResNet50

    return NetworkFeatures(images(pictures), ResNet50(weights), f"resnet50:{_digest(weights)}", 2048)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
