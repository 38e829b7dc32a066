"""Regions of images for VLP, from files in the published layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.contracts import Example
from harness.errors import InputError, require
from harness.files.streams import readable

EPS = 1e-5


def geometry(boxes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the geometry vectors of n regions,
    as the authors' data loader computes them.

    Parameters
    ----------
    boxes
        (n, 6) x1, y1, x2, y2, class, score, in pixels. The largest x and y count as the
        size of the image.
    classes
        (n, k) class probabilities.

    Returns
    -------
    np.ndarray
        (n, 6 + k) float32: [x1, y1, x2, y2, area, score] with coordinates as shares of
        the image, and the class probabilities. Both parts are normalised by a LayerNorm
        without weights (eps 1e-5).

    Examples
    --------
    >>> import numpy as np
    >>> geometry(
    ...     np.array([[0, 0, 8, 8, 1, 0.5], [0, 0, 4, 4, 2, 0.9]]), np.eye(2)
    ... ).shape
    (2, 8)
    """
    box = np.array(boxes, dtype=np.float32)
    box[:, [0, 2]] /= box[:, [0, 2]].max() + np.float32(EPS)
    box[:, [1, 3]] /= box[:, [1, 3]].max() + np.float32(EPS)
    area = np.clip((box[:, 3] - box[:, 1]) * (box[:, 2] - box[:, 0]), 0, None)
    vector = np.concatenate([box[:, :4], area[:, None], box[:, 5:6]], axis=1)
    return np.concatenate(
        [_normalise(vector), _normalise(np.asarray(classes, dtype=np.float32))], axis=1
    )


def _normalise(x: np.ndarray) -> np.ndarray:
    exact = x.astype(np.float64)
    centred = exact - exact.mean(axis=1, keepdims=True)
    return (centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPS)).astype(
        np.float32
    )


@dataclass(frozen=True)
class Regions:
    """Regions of one image."""

    features: np.ndarray
    """Region features (n, region); the published ones are fc6 activations of width
    2048.
    """
    geometry: np.ndarray
    """Geometry vectors (n, geometry); the published width is 1607."""


class RegionFiles:
    """Region features from files, by the stem of the image's file name.

    Parameters
    ----------
    path
        Prefix of h5 shards (``<prefix>_feat<ddd>.h5`` and ``<prefix>_cls<ddd>.h5``, ddd
        being the last three digits of the image id), folder of ``<stem>.npy`` and
        ``<stem>_cls_prob.npy``, or one ``.npz`` with ``<id>.feat``, ``<id>.cls`` and
        ``<id>.bbox``.
    boxes
        h5 file with the boxes by stem, required for shards and folders.

    Raises
    ------
    InputError
        If the files do not exist.
    """

    def __init__(self, *, path: str | Path, boxes: str | Path | None = None) -> None:
        self.path = Path(path)
        self.name = str(path)
        self.boxes = Path(boxes) if boxes is not None else None

        if self.path.suffix == ".npz":
            self.layout = "npz"
        elif self.path.is_dir():
            self.layout = "npy"
        elif list(self.path.parent.glob(self.path.name + "_feat*.h5")):
            self.layout = "h5"
        else:
            raise InputError(
                "expected a folder of .npy files, a .npz file, "
                "or the prefix of <prefix>_feat<ddd>.h5 shards",
                str(path),
            )

        if self.layout != "npz" and (self.boxes is None or not self.boxes.is_file()):
            raise InputError(
                "region features need the h5 file of boxes (boxes: FILE)", str(path)
            )
        if self.layout == "npz" and not self.path.is_file():
            raise InputError("no such file of region features", str(path))

    def files(self) -> list[Path]:
        """Return the files that the features depend on, for fingerprints."""
        if self.layout == "npz":
            return [self.path]
        paths = [self.path]
        if self.layout == "h5":
            paths = sorted(self.path.parent.glob(self.path.name + "_*.h5"))
        return [*paths, self.boxes] if self.boxes else paths

    def check(self, examples: Sequence[Example]) -> None:
        """Do nothing: :meth:`read` reports missing files when an image is read."""

    def read(self, example: Example) -> Regions:
        """Return the regions of an example.

        Raises :class:`InputError` with the id of the example if its image is missing,
        shapes do not match, or values are not finite.
        """
        stem = Path(example.media).stem if example.media else example.id
        features, classes, boxes = self._arrays(stem, example)

        if (
            features.ndim != 2
            or not len(features) == len(classes) == len(boxes)
            or boxes.shape[1] != 6
        ):
            raise InputError(
                f"example '{example.id}': features {features.shape}, "
                f"classes {classes.shape} and boxes {boxes.shape} do not match",
                str(self.path),
            )

        regions = Regions(
            np.asarray(features, dtype=np.float32), geometry(boxes, classes)
        )
        arrays = (regions.features, regions.geometry)
        if not all(np.isfinite(array).all() for array in arrays):
            raise InputError(
                f"the region features of example '{example.id}' contain NaN or "
                "infinity",
                str(self.path),
            )
        return regions

    def _arrays(
        self, stem: str, example: Example
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return features (n, region), class probabilities (n, k) and boxes (n, 6) of
        an image.
        """
        if self.layout == "npz":
            with (
                readable(self.path, ".npz of arrays"),
                np.load(self.path, allow_pickle=False) as archive,
            ):
                if f"{stem}.feat" not in archive.files:
                    raise self._missing(example, stem, self.path)
                return (
                    archive[f"{stem}.feat"],
                    archive[f"{stem}.cls"],
                    archive[f"{stem}.bbox"],
                )

        assert self.boxes is not None
        boxes = self._h5(self.boxes, stem, example)
        if self.layout == "npy":
            files = self.path / f"{stem}.npy", self.path / f"{stem}_cls_prob.npy"
            for file in files:
                if not file.is_file():
                    raise self._missing(example, stem, file)
            with readable(files[0], "pair of .npy arrays"):
                return (
                    np.load(files[0], allow_pickle=False),
                    np.load(files[1], allow_pickle=False),
                    boxes,
                )

        # The shards are named by the last three digits of the image.
        digits = stem[-3:]
        feat, cls = (
            self.path.with_name(f"{self.path.name}_{kind}{digits}.h5")
            for kind in ("feat", "cls")
        )
        return self._h5(feat, stem, example), self._h5(cls, stem, example), boxes

    def _h5(self, file: Path, stem: str, example: Example) -> np.ndarray:
        h5py = require("h5py", extra="a3ds", needed_by="VLP's region features")
        if not file.is_file():
            raise self._missing(example, stem, file)
        with readable(file, "h5 file of arrays"), h5py.File(file, "r") as handle:
            if stem not in handle:
                raise self._missing(example, stem, file)
            return np.asarray(handle[stem])

    @staticmethod
    def _missing(example: Example, stem: str, file: Path) -> InputError:
        return InputError(
            f"no region features '{stem}' for example '{example.id}'", str(file)
        )
