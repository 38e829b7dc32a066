"""Rendered A3DS scenes as inputs of models, and as training data.

Scenes are available as image vectors (:class:`SceneVectors`) and, in place of videos,
as views of a moving camera (:class:`SceneViews`).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from harness.contracts import Example
from harness.errors import HarnessError, InputError, did_you_mean
from harness.stats.seeds import derive
from harness_tasks.a3ds import pixels
from harness_tasks.a3ds.grammar import captions
from harness_tasks.a3ds.scene import N_SCENES, check_id

T = TypeVar("T")


def target_of(example: Example) -> int:
    """Return the scene id that the reader ``a3ds`` wrote into the meta of an example;
    raise :class:`InputError` where there is none.
    """
    if example.meta.get("target_id") is None:
        keys = ", ".join(sorted(example.meta)) or "nothing"
        raise InputError(
            f"no 'target_id' in its meta (found {keys}); use the reader 'a3ds'",
            f"example '{example.id}'",
        )
    return example.meta["target_id"]


def scene_of(example: Example) -> int:
    """Return the scene id of an example: ``target_id`` of its meta (set by the reader
    ``a3ds``), else its id as a number.

    Raises :class:`InputError` for an example without either, and :class:`HarnessError`
    for a number out of range.
    """
    name = example.meta.get("target_id", example.id)
    if not str(name).isdecimal():
        raise InputError(
            f"example '{example.id}' is not a scene: neither its id nor 'target_id' "
            "in its meta is a number"
        )
    return check_id(int(name))


def from_scenes(kind: type[T], settings: Any) -> T:
    """Return ``kind(**settings)`` for the settings under ``features: {scenes: ...}``.

    Raises :class:`HarnessError` if ``settings`` is not a mapping or has a key that
    ``kind`` does not take.
    """
    if not isinstance(settings or {}, Mapping):
        raise HarnessError(
            f"features: scenes is a mapping of settings; found {settings!r}"
        )

    names = inspect.signature(kind).parameters
    for name in settings or {}:
        if name not in names:
            hint = did_you_mean(str(name), names)
            raise HarnessError(
                f"features: scenes has no setting '{name}'{hint}; "
                f"it has {', '.join(names)}"
            )
    return kind(**(settings or {}))


class SceneVectors:
    """One image vector per rendered scene.

    Parameters
    ----------
    source
        Image features, as for :func:`harness_tasks.a3ds.pixels.features`.
    """

    def __init__(self, source: str | Mapping[str, Any] = "efficientnet-lite0") -> None:
        self.source = pixels.features(source)
        self.width = self.source.width
        self.name = f"scenes:{self.source.name}"

    def row(self, example: Example) -> np.ndarray:
        """Return the vector of an example, shape (width,), float32."""
        return self.source.features([scene_of(example)])[0]

    def check(self, examples: Sequence[Example]) -> None:
        """Compute the vectors of all examples in one call; raise :class:`InputError`
        for an example that is not a scene.
        """
        self.source.features([scene_of(example) for example in examples])


class SceneViews:
    """Rendered scenes as short videos: the camera moves and ends at the orientation of
    the scene.

    The view ``appearance`` holds the features of the frames, ``motion`` their
    differences.

    Parameters
    ----------
    frames
        Number of frames, at least 2.
    stride
        Orientation steps between two frames, at least 1. A scene has 15 orientations;
        the path stops at the first and the last.
    """

    def __init__(self, frames: int = 3, stride: int = 2) -> None:
        if (
            not (isinstance(frames, int) and isinstance(stride, int))
            or frames < 2
            or stride < 1
        ):
            raise HarnessError(
                "scenes: frames is at least 2 and stride at least 1; "
                f"found {frames!r} and {stride!r}"
            )

        self.frames = frames
        self.stride = stride
        self.source = pixels.features()
        self.widths = {"appearance": self.source.width, "motion": self.source.width}
        self.name = f"scenes:{self.source.name}:{frames}:{stride}"
        self._features: dict[int, np.ndarray] = {}

    def path_of(self, scene: int) -> list[int]:
        """Return the scene ids of the frames; the last one is ``scene``.

        The camera comes from the side with more orientations.
        """
        orientation = scene % 15
        sign = 1 if orientation < 8 else -1
        return [
            scene
            - orientation
            + min(14, max(0, orientation + sign * self.stride * back))
            for back in range(self.frames - 1, -1, -1)
        ]

    def fetch(self, scenes: Iterable[int]) -> None:
        """Compute the features of all frames that are not computed yet."""
        missing = sorted(
            {frame for scene in scenes for frame in self.path_of(scene)}
            - set(self._features)
        )
        for start in range(0, len(missing), 512):
            chunk = missing[start : start + 512]
            self._features.update(zip(chunk, self.source.features(chunk)))

    def check(self, examples: Sequence[Example]) -> None:
        """Compute the features of all examples in one call; raise :class:`InputError`
        for an example that is not a scene.
        """
        self.fetch(scene_of(example) for example in examples)

    def read(self, example: Example) -> dict[str, np.ndarray]:
        """Return the views of an example, float32: ``appearance`` (frames, width) and
        ``motion`` (frames - 1, width).
        """
        scene = scene_of(example)
        self.fetch([scene])
        rows = [self._features[frame] for frame in self.path_of(scene)]
        frames = np.stack(rows).astype(np.float32)
        return {"appearance": frames, "motion": np.diff(frames, axis=0)}


def scene_pairs(
    scenes: int, captions_each: int, *, kind: str = "short", seed: int = 1
) -> list[tuple[str, str]]:
    """Return (scene id, caption) pairs of random scenes.

    Parameters
    ----------
    scenes
        Number of scenes, 1 to 480,000.
    captions_each
        Maximum number of captions of a scene, drawn without replacement.
    kind
        ``short`` or ``exhaustive``.
    seed
        Seed of the draws.

    Raises
    ------
    HarnessError
        If ``scenes`` is out of range.
    """
    if not 1 <= scenes <= N_SCENES:
        raise HarnessError(f"scenes is a number from 1 to {N_SCENES}; found {scenes}")
    random = np.random.default_rng(derive(seed, "scenes"))
    ids = random.choice(N_SCENES, size=scenes, replace=False)
    pairs = []
    for scene in ids.tolist():
        texts = captions(scene, kind)  # type: ignore[arg-type]
        order = random.permutation(len(texts))[:captions_each]
        pairs += [(str(scene), texts[i]) for i in order.tolist()]
    return pairs
