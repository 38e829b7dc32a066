"""Video features of the NACF family: one file per modality, frames chosen as at test time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from harness.adapters.shared.inputs.a3ds_inputs import SceneViews, from_scenes, scene_of
from harness.adapters.shared.inputs.features import FeatureFile
from harness.adapters.shared.weights.checkpoints import file_fingerprint
from harness.contracts import Example
from harness.errors import HarnessError, InputError, require

MODALITIES = "mioa"
"""Letters that name a modality: motion, image, object, audio."""


class Videos(Protocol):
    """Feature series of examples."""

    def read(self, example: Example, widths: Mapping[str, int]) -> list[np.ndarray]:
        """Per modality (frames, width) float32, in the order of ``widths``. Raises :class:`InputError` naming the example."""
        ...

    def widths(self, example: Example) -> dict[str, int]:
        """Feature width by modality, in order, as one example has it."""
        ...

    def check(self, examples: Sequence[Example]) -> None:
        """Raise :class:`InputError` counting and naming the examples without features; may read ahead."""
        ...

    def fingerprint(self) -> str: ...


def open_videos(features: Any, frames: int) -> Videos:
    """``{m: file, i: file}`` (``frames`` of each), or ``{scenes: {frames, stride}}``: rendered scenes seen by a moving camera."""
    if not isinstance(features, Mapping) or not features:
        raise HarnessError(
            f"features is a mapping of modalities to files, or of scenes to its settings; found {features!r}"
        )
    if set(features) == {"scenes"}:
        return from_scenes(SceneVideos, features["scenes"])
    unknown = [name for name in features if name not in MODALITIES]
    if unknown:
        raise HarnessError(f"a modality is one of {', '.join(MODALITIES)}; found '{unknown[0]}'")
    return VideoFeatures(features, frames)


def test_frames(count: int, wanted: int) -> np.ndarray:
    """(wanted,) frame numbers: the middle of each of ``wanted`` equal spans of ``count`` frames; too few frames are repeated.

    >>> test_frames(16, 4).tolist(), test_frames(2, 3).tolist()
    ([2, 6, 10, 14], [0, 0, 1])
    """
    if count < wanted:
        return np.array([round(i * (count - 1) / (wanted - 1)) if wanted > 1 else 0 for i in range(wanted)])
    bounds = np.linspace(0, count, wanted + 1).astype(int)
    return (bounds[:-1] + bounds[1:]) // 2


test_frames.__test__ = False  # type: ignore[attr-defined]  # the name is no test of pytest's


class VideoFeatures:
    """``files``: modality letter -> ``.hdf5`` (a data set ``video<N>`` or the id, (frames, width)) or any file that
    :class:`~harness.adapters.shared.inputs.features.FeatureFile` reads."""

    def __init__(self, files: Mapping[str, str], frames: int) -> None:
        self.frames = frames
        self.paths = {name: Path(path) for name, path in files.items()}
        for path in self.paths.values():
            if not path.is_file():
                raise InputError("no such feature file", str(path))
        self._open: dict[str, object] = {}

    def fingerprint(self) -> str:
        return file_fingerprint(*self.paths.values())

    def widths(self, example: Example) -> dict[str, int]:
        return {
            name: int(self._array(self.paths[name], example).shape[-1]) for name in MODALITIES if name in self.paths
        }

    def read(self, example: Example, widths: Mapping[str, int]) -> list[np.ndarray]:
        found = []
        for name, width in widths.items():
            if name not in self.paths:
                raise InputError(f"the checkpoint takes the modality '{name}'; features has {', '.join(self.paths)}")
            path = self.paths[name]
            array = self._array(path, example)
            if array.ndim != 2 or array.shape[1] != width or not len(array):
                raise InputError(
                    f"example '{example.id}': features {array.shape}, expected (frames, {width})", str(path)
                )
            if not np.isfinite(array).all():
                raise InputError(f"the features of example '{example.id}' hold NaN or infinity", str(path))
            found.append(np.asarray(array[test_frames(len(array), self.frames)], dtype=np.float32))
        return found

    def check(self, examples: Sequence[Example]) -> None:
        for path in self.paths.values():
            absent = [example.id for example in examples if self._key(path, example) is None]
            if absent:
                more = ", ..." if len(absent) > 5 else ""
                raise InputError(
                    f"no features for {len(absent)} of {len(examples)} examples: {', '.join(absent[:5])}{more}",
                    str(path),
                )

    def _file(self, path: Path) -> object:
        if str(path) not in self._open:
            if path.suffix in (".h5", ".hdf5"):
                h5py = require("h5py", extra="a3ds", needed_by="video features in HDF5")
                try:
                    self._open[str(path)] = h5py.File(path, "r")
                except OSError as error:
                    raise InputError(f"not a whole HDF5 file ({error})", str(path)) from error
            else:
                self._open[str(path)] = FeatureFile(path).arrays
        return self._open[str(path)]

    def _key(self, path: Path, example: Example) -> str | None:
        held: Mapping[str, np.ndarray] = self._file(path)  # type: ignore[assignment]
        names = [example.id, f"video{example.id}"]
        if example.media:
            names.append(Path(example.media).stem)
        return next((name for name in names if name in held), None)

    def _array(self, path: Path, example: Example) -> np.ndarray:
        key = self._key(path, example)
        if key is None:
            raise InputError(f"no features for example '{example.id}'", str(path))
        return np.asarray(self._file(path)[key])  # type: ignore[index]


class SceneVideos:
    """Rendered scenes in place of videos: the camera's differences are the motion ``m``, its views the images ``i``."""

    names = {"m": "motion", "i": "appearance"}  # noqa: RUF012

    def __init__(self, frames: int = 2, stride: int = 2) -> None:
        self.views = SceneViews(frames, stride)

    def fingerprint(self) -> str:
        return self.views.name

    def widths(self, example: Example | None = None) -> dict[str, int]:
        return {name: self.views.widths[view] for name, view in self.names.items()}

    def check(self, examples: Sequence[Example]) -> None:
        self.views.fetch([scene_of(example) for example in examples])

    def read(self, example: Example, widths: Mapping[str, int]) -> list[np.ndarray]:
        own = self.widths()
        if dict(widths) != {name: own.get(name) for name in widths}:
            raise InputError(f"the checkpoint takes {dict(widths)}, the features of scenes are {own}")
        found = self.views.read(example)
        return [found[self.names[name]] for name in widths]
