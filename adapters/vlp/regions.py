"""VLP's region features: both published layouts, and the geometry vector made of boxes and class probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.contracts import Example
from harness.errors import InputError, require

EPS = 1e-5


def geometry(boxes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(n, 6 + classes) float32: the normalised box vector and the normalised class probabilities.

    boxes: (n, 6) x1, y1, x2, y2, class, score; the image is taken to end at the largest x and y. The box vector is
    [x1, y1, x2, y2, area, score], coordinates as shares of the image; both parts get a LayerNorm without weights (eps 1e-5).
    """
    box = np.array(boxes, dtype=np.float32)
    box[:, [0, 2]] /= box[:, [0, 2]].max() + np.float32(EPS)
    box[:, [1, 3]] /= box[:, [1, 3]].max() + np.float32(EPS)
    area = np.clip((box[:, 3] - box[:, 1]) * (box[:, 2] - box[:, 0]), 0, None)
    vector = np.concatenate([box[:, :4], area[:, None], box[:, 5:6]], axis=1)
    return np.concatenate([_normalised(vector), _normalised(np.asarray(classes, dtype=np.float32))], axis=1)


def _normalised(x: np.ndarray) -> np.ndarray:
    exact = x.astype(np.float64)
    centred = exact - exact.mean(axis=1, keepdims=True)
    return (centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPS)).astype(np.float32)


@dataclass(frozen=True)
class Regions:
    """One image."""

    features: np.ndarray
    """(n, 2048) fc6 activations."""
    geometry: np.ndarray
    """(n, 1607)."""


class RegionFiles:
    """Features by image file stem, from the h5 shards (``<prefix>_feat<ddd>.h5``, ``<prefix>_cls<ddd>.h5``, ddd = last three digits
    of the image id), from ``<stem>.npy`` and ``<stem>_cls_prob.npy`` in a folder, or from one ``.npz`` with ``<id>.feat``, ``<id>.cls``
    and ``<id>.bbox``. The boxes of the first two are in an h5 file of their own, keyed by stem.
    """

    def __init__(self, *, path: str | Path, boxes: str | Path | None = None) -> None:
        self.path, self.name = Path(path), str(path)
        self.boxes = Path(boxes) if boxes is not None else None
        if self.path.suffix == ".npz":
            self.layout = "npz"
        elif self.path.is_dir():
            self.layout = "npy"
        elif list(self.path.parent.glob(self.path.name + "_feat*.h5")):
            self.layout = "h5"
        else:
            raise InputError(
                "no folder of .npy files, no .npz, and no prefix of <prefix>_feat<ddd>.h5 shards", str(path)
            )
        if self.layout != "npz" and (self.boxes is None or not self.boxes.is_file()):
            raise InputError("region features need the h5 file of boxes (boxes: FILE)", str(path))
        if self.layout == "npz" and not self.path.is_file():
            raise InputError("no such file of region features", str(path))

    def files(self) -> list[Path]:
        """What the features depend on (for fingerprints)."""
        if self.layout == "npz":
            return [self.path]
        found = sorted(self.path.parent.glob(self.path.name + "_*.h5")) if self.layout == "h5" else [self.path]
        return [*found, self.boxes] if self.boxes else found

    def check(self, examples: Sequence[Example]) -> None:
        """Nothing: every file is opened when its image is due."""

    def read(self, example: Example) -> Regions:
        """Raises :class:`InputError` naming the example for a missing image, other shapes, or NaN."""
        stem = Path(example.media).stem if example.media else example.id
        features, classes, boxes = self._arrays(stem, example)
        if features.ndim != 2 or not len(features) == len(classes) == len(boxes) or boxes.shape[1] != 6:
            raise InputError(
                f"example '{example.id}': features {features.shape}, classes {classes.shape} and boxes {boxes.shape} do not go together",
                str(self.path),
            )
        found = Regions(np.asarray(features, dtype=np.float32), geometry(boxes, classes))
        if not (np.isfinite(found.features).all() and np.isfinite(found.geometry).all()):
            raise InputError(f"the region features of example '{example.id}' hold NaN or infinity", str(self.path))
        return found

    def _arrays(self, stem: str, example: Example) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.layout == "npz":
            with np.load(self.path, allow_pickle=False) as archive:
                if f"{stem}.feat" not in archive.files:
                    raise self._missing(example, stem, self.path)
                return archive[f"{stem}.feat"], archive[f"{stem}.cls"], archive[f"{stem}.bbox"]
        assert self.boxes is not None
        boxes = self._h5(self.boxes, stem, example)
        if self.layout == "npy":
            files = self.path / f"{stem}.npy", self.path / f"{stem}_cls_prob.npy"
            for file in files:
                if not file.is_file():
                    raise self._missing(example, stem, file)
            return np.load(files[0], allow_pickle=False), np.load(files[1], allow_pickle=False), boxes
        digits = stem[-3:]
        feat, cls = (self.path.with_name(f"{self.path.name}_{kind}{digits}.h5") for kind in ("feat", "cls"))
        return self._h5(feat, stem, example), self._h5(cls, stem, example), boxes

    def _h5(self, file: Path, stem: str, example: Example) -> np.ndarray:
        h5py = require("h5py", extra="a3ds", needed_by="VLP's region features")
        if not file.is_file():
            raise self._missing(example, stem, file)
        try:
            with h5py.File(file, "r") as handle:
                if stem not in handle:
                    raise self._missing(example, stem, file)
                return np.asarray(handle[stem])
        except OSError as error:
            raise InputError(f"not a whole h5 file ({error})", str(file)) from error

    @staticmethod
    def _missing(example: Example, stem: str, file: Path) -> InputError:
        return InputError(f"no region features '{stem}' for example '{example.id}'", str(file))
