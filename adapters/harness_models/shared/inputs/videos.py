"""Features of videos for the NACF family by modality, from files or rendered scenes
under a moving camera.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness_models.shared.inputs.features import FeatureFile
from harness_models.shared.inputs.scenes import SceneViews, from_scenes, scene_of
from harness_models.shared.weights.fingerprints import file_fingerprint

MODALITIES = "mioa"
"""Letters of the modalities: motion, image, object, audio."""


def open_videos(features: Any, frames: int) -> VideoFeatureFiles | SceneVideos:
    """Return the source that ``features`` specifies.

    Parameters
    ----------
    features
        ``{m: file, i: file}``, or ``{scenes: {frames, stride}}`` for rendered scenes
        under a moving camera.
    frames
        Number of frames of each series, for files.

    Raises
    ------
    HarnessError
        For any other value.
    """
    if not isinstance(features, Mapping) or not features:
        raise HarnessError(
            "features is a mapping of modalities to files, "
            f"or of scenes to its settings; found {features!r}"
        )
    if set(features) == {"scenes"}:
        return from_scenes(SceneVideos, features["scenes"])

    unknown = [name for name in features if name not in MODALITIES]
    if unknown:
        raise HarnessError(
            f"a modality is one of {', '.join(MODALITIES)}; found '{unknown[0]}'"
        )
    return VideoFeatureFiles(features, frames)


def sampled_frames(count: int, number: int) -> np.ndarray:
    """Return the numbers of shape (number,) of the frames that the authors' code
    selects at test time.

    These are the middle frames of ``number`` equal spans of ``count`` frames. If there
    are too few frames, some are repeated.

    >>> sampled_frames(16, 4).tolist(), sampled_frames(2, 3).tolist()
    ([2, 6, 10, 14], [0, 0, 1])
    """
    if count < number:
        return np.array(
            [
                round(i * (count - 1) / (number - 1)) if number > 1 else 0
                for i in range(number)
            ]
        )
    bounds = np.linspace(0, count, number + 1).astype(int)
    return (bounds[:-1] + bounds[1:]) // 2


class VideoFeatureFiles:
    """Feature series from files.

    Parameters
    ----------
    files
        Modality letter to file: ``.hdf5`` with data sets (frames, width) named by the
        example id or ``video<id>``, or any file that
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
        self._files: dict[str, FeatureFile] = {}

    def _file(self, name: str) -> FeatureFile:
        """Return the file of a modality, which is read now if it was not before."""
        if name not in self._files:
            self._files[name] = FeatureFile(self.paths[name])
        return self._files[name]

    def fingerprint(self) -> str:
        """Return a hash of the files."""
        return file_fingerprint(*self.paths.values())

    def widths(self, example: Example) -> dict[str, int]:
        """Return the feature width of each modality,
        in the order of :data:`MODALITIES`.
        """
        return {
            name: self._file(name).array(example).shape[-1]
            for name in MODALITIES
            if name in self.paths
        }

    def read(self, example: Example, widths: Mapping[str, int]) -> list[np.ndarray]:
        """Return one array (frames, width) float32 per modality,
        in the order of ``widths``.

        Raises :class:`InputError` with the id of the example if features are missing,
        of another width or not finite.
        """
        series = []
        for name, width in widths.items():
            if name not in self.paths:
                raise InputError(
                    f"the checkpoint takes the modality '{name}'; "
                    f"features has {', '.join(self.paths)}"
                )

            array = self._file(name).array(example)
            path = str(self.paths[name])

            if array.ndim != 2 or array.shape[1] != width or not len(array):
                raise InputError(
                    f"example '{example.id}': features {array.shape}, "
                    f"expected (frames, {width})",
                    path,
                )
            if not np.isfinite(array).all():
                raise InputError(
                    f"the features of example '{example.id}' contain NaN or infinity",
                    path,
                )

            frames = array[sampled_frames(len(array), self.frames)]
            series.append(np.asarray(frames, dtype=np.float32))
        return series

    def check(self, examples: Sequence[Example]) -> None:
        """Raise :class:`InputError` with the number and the ids of examples without
        features.
        """
        for name in self.paths:
            self._file(name).check(examples)


class SceneVideos:
    """Rendered scenes under a moving camera in place of videos.

    The views are the modality ``i`` (image), and differences between views are the
    modality ``m`` (motion).

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
        """Compute the features of all examples; raise :class:`InputError` for an
        example that names no scene.
        """
        self.views.fetch([scene_of(example) for example in examples])

    def read(self, example: Example, widths: Mapping[str, int]) -> list[np.ndarray]:
        """Return one array (frames, width) float32 per modality,
        in the order of ``widths``.
        """
        available = self.widths()
        if dict(widths) != {name: available.get(name) for name in widths}:
            raise InputError(
                f"the checkpoint takes {dict(widths)}, "
                f"the features of scenes are {available}"
            )
        views = self.views.read(example)
        return [views[self.names[name]] for name in widths]
