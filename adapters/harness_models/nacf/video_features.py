"""Video features of the NACF family: one file per modality, or rendered scenes; frames are selected as at test time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness_models.shared.inputs.features import (
    FeatureFile,
    SceneViews,
    from_scenes,
    open_h5,
    refuse_missing,
    scene_of,
)
from harness_models.shared.weights.checkpoints import file_fingerprint

MODALITIES = "mioa"
"""Letters of the modalities: motion, image, object, audio."""


class VideoFeatures(Protocol):
    """Source of the feature series of examples."""

    def read(self, example: Example, widths: Mapping[str, int]) -> list[np.ndarray]:
        """Return one array (frames, width) float32 per modality, in the order of ``widths``.

        Raises :class:`InputError` with the id of the example if features are missing, of another width or not finite.
        """
        ...

    def widths(self, example: Example) -> dict[str, int]:
        """Return the feature width of each modality, in order, from the features of one example."""
        ...

    def check(self, examples: Sequence[Example]) -> None:
        """Raise :class:`InputError` with the number and the ids of examples without features; may compute features ahead."""
        ...

    def fingerprint(self) -> str:
        """Return a name that depends on the contents of the features."""
        ...


def open_videos(features: Any, frames: int) -> VideoFeatures:
    """Return the source that ``features`` specifies.

    Parameters
    ----------
    features
        ``{m: file, i: file}``, or ``{scenes: {frames, stride}}`` for rendered scenes under a moving camera.
    frames
        Number of frames of each series, for files.

    Raises
    ------
    HarnessError
        For any other value.
    """
    if not isinstance(features, Mapping) or not features:
        raise HarnessError(
            f"features is a mapping of modalities to files, or of scenes to its settings; found {features!r}"
        )
    if set(features) == {"scenes"}:
        return from_scenes(SceneVideos, features["scenes"])
    unknown = [name for name in features if name not in MODALITIES]
    if unknown:
        raise HarnessError(f"a modality is one of {', '.join(MODALITIES)}; found '{unknown[0]}'")
    return VideoFeatureFiles(features, frames)


def sampled_frames(count: int, number: int) -> np.ndarray:
    """Return the numbers of shape (number,) of the frames that the authors' code selects at test time.

    These are the middle frames of ``number`` equal spans of ``count`` frames. If there are too few frames, some are repeated.

    >>> sampled_frames(16, 4).tolist(), sampled_frames(2, 3).tolist()
    ([2, 6, 10, 14], [0, 0, 1])
    """
    if count < number:
        return np.array([round(i * (count - 1) / (number - 1)) if number > 1 else 0 for i in range(number)])
    bounds = np.linspace(0, count, number + 1).astype(int)
    return (bounds[:-1] + bounds[1:]) // 2


class VideoFeatureFiles:
    """Feature series from files.

    Parameters
    ----------
    files
        Modality letter to file: ``.hdf5`` with data sets (frames, width) named by the example id or ``video<id>``, or any file that
        :class:`~harness_models.shared.inputs.features.FeatureFile` reads.
    frames
        Number of frames of each series.

    Raises
    ------
    InputError
        If a file does not exist.
    """

    def __init__(self, files: Mapping[str, str], frames: int) -> None:
        self.frames = frames
        self.paths = {name: Path(path) for name, path in files.items()}
        for path in self.paths.values():
            if not path.is_file():
                raise InputError("no such feature file", str(path))
        self._open: dict[str, Mapping[str, np.ndarray]] = {}

    def fingerprint(self) -> str:
        """Return a hash of the files."""
        return file_fingerprint(*self.paths.values())

    def widths(self, example: Example) -> dict[str, int]:
        """Return the feature width of each modality, in the order of :data:`MODALITIES`."""
        return {
            name: int(self._array(self.paths[name], example).shape[-1]) for name in MODALITIES if name in self.paths
        }

    def read(self, example: Example, widths: Mapping[str, int]) -> list[np.ndarray]:
        """Return one array (frames, width) float32 per modality, in the order of ``widths``."""
        series = []
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
                raise InputError(f"the features of example '{example.id}' contain NaN or infinity", str(path))
            series.append(np.asarray(array[sampled_frames(len(array), self.frames)], dtype=np.float32))
        return series

    def check(self, examples: Sequence[Example]) -> None:
        """Raise :class:`InputError` with the number and the ids of examples without features."""
        for path in self.paths.values():
            refuse_missing([example.id for example in examples if self._key(path, example) is None], examples, path)

    def _file(self, path: Path) -> Mapping[str, np.ndarray]:
        if str(path) not in self._open:
            if path.suffix in (".h5", ".hdf5"):
                self._open[str(path)] = open_h5(path, "video features in HDF5")
            else:
                self._open[str(path)] = FeatureFile(path).arrays
        return self._open[str(path)]

    def _key(self, path: Path, example: Example) -> str | None:
        """Return the name of the example's series in a file, or None."""
        arrays = self._file(path)
        names = [example.id, f"video{example.id}"]
        if example.media:
            names.append(Path(example.media).stem)
        return next((name for name in names if name in arrays), None)

    def _array(self, path: Path, example: Example) -> np.ndarray:
        key = self._key(path, example)
        if key is None:
            raise InputError(f"no features for example '{example.id}'", str(path))
        return np.asarray(self._file(path)[key])


class SceneVideos:
    """Rendered scenes under a moving camera in place of videos.

    The views are the modality ``i`` (image), and differences between views are the modality ``m`` (motion).

    Parameters
    ----------
    frames
        Number of views.
    stride
        Camera positions between two views.
    """

    names = {"m": "motion", "i": "appearance"}  # noqa: RUF012

    def __init__(self, frames: int = 2, stride: int = 2) -> None:
        self.views = SceneViews(frames, stride)

    def fingerprint(self) -> str:
        """Return a name that depends on the renderer, the network and the views."""
        return self.views.name

    def widths(self, example: Example | None = None) -> dict[str, int]:
        """Return the feature width of motion and image."""
        return {name: self.views.widths[view] for name, view in self.names.items()}

    def check(self, examples: Sequence[Example]) -> None:
        """Compute the features of all examples; raise :class:`InputError` for an example that names no scene."""
        self.views.fetch([scene_of(example) for example in examples])

    def read(self, example: Example, widths: Mapping[str, int]) -> list[np.ndarray]:
        """Return one array (frames, width) float32 per modality, in the order of ``widths``."""
        available = self.widths()
        if dict(widths) != {name: available.get(name) for name in widths}:
            raise InputError(f"the checkpoint takes {dict(widths)}, the features of scenes are {available}")
        views = self.views.read(example)
        return [views[self.names[name]] for name in widths]
