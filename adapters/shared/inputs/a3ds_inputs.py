"""What models are trained on here: pairs of example id and caption from a file, or rendered A3DS scenes with captions of their grammar,
one image vector of each and, in place of videos, what a moving camera sees of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from harness.adapters.shared.weights.checkpoint_config import read_json
from harness.contracts import Example
from harness.errors import HarnessError, InputError, did_you_mean
from harness.stats.seeds import derive
from harness.tasks.a3ds import pixels
from harness.tasks.a3ds.scene import N_SCENES, captions, check_id

T = TypeVar("T")


def scene_of(example: Example) -> int:
    """The scene of an example: ``target_id`` of its meta (as the reader ``a3ds`` gives it), else its id read as a number.

    Raises :class:`InputError` for an example that names none.
    """
    named = example.meta.get("target_id", example.id)
    if not str(named).isdecimal():
        raise InputError(f"example '{example.id}' is no scene: neither its id nor 'target_id' in its meta is a number")
    return check_id(int(named))


def from_scenes(kind: type[T], settings: Any) -> T:
    """``kind(**settings)``, of the settings under ``features: {scenes: ...}``. Raises :class:`HarnessError` for what it does not take."""
    if not isinstance(settings or {}, Mapping):
        raise HarnessError(f"features: scenes is a mapping of settings; found {settings!r}")
    known = inspect.signature(kind).parameters
    for name in settings or {}:
        if name not in known:
            hint = did_you_mean(str(name), known)
            raise HarnessError(f"features: scenes has no setting '{name}'{hint}; it has {', '.join(known)}")
    return kind(**(settings or {}))


class SceneVectors:
    """One image vector per rendered scene. ``source``: as :func:`harness.tasks.a3ds.pixels.features` takes it."""

    def __init__(self, source: str | Mapping[str, Any] = "efficientnet-lite0") -> None:
        self.source = pixels.features(source)
        self.width = self.source.width
        self.name = f"scenes:{self.source.name}"

    def row(self, example: Example) -> np.ndarray:
        """(width,) float32."""
        return self.source.features([scene_of(example)])[0]

    def check(self, examples: Sequence[Example]) -> None:
        """Compute the vectors of all examples in one call; raises :class:`InputError` for one that is no scene."""
        self.source.features([scene_of(example) for example in examples])


class SceneViews:
    """Rendered scenes by id, seen by a camera that moves to the scene's own orientation: ``appearance`` are the features of the frames,
    ``motion`` their differences. ``frames``: how many; ``stride``: orientation steps between them."""

    def __init__(self, frames: int = 3, stride: int = 2) -> None:
        if not (isinstance(frames, int) and isinstance(stride, int)) or frames < 2 or stride < 1:
            raise HarnessError(f"scenes: frames is at least 2 and stride at least 1; found {frames!r} and {stride!r}")
        self.frames, self.stride = frames, stride
        self.source = pixels.features()
        self.widths = {"appearance": self.source.width, "motion": self.source.width}
        self.name = f"scenes:{self.source.name}:{frames}:{stride}"
        self._known: dict[int, np.ndarray] = {}

    def path_of(self, scene: int) -> list[int]:
        """Scene ids of the frames: the orientation comes from the side where there is room, and ends at the scene's own."""
        own = scene % 15
        way = 1 if own < 8 else -1
        return [
            scene - own + min(14, max(0, own + way * self.stride * back)) for back in range(self.frames - 1, -1, -1)
        ]

    def fetch(self, scenes: Iterable[int]) -> None:
        """Compute what is not yet known, in one call."""
        wanted = sorted({frame for scene in scenes for frame in self.path_of(scene)} - set(self._known))
        for start in range(0, len(wanted), 512):
            part = wanted[start : start + 512]
            self._known.update(zip(part, self.source.features(part)))

    def check(self, examples: Sequence[Example]) -> None:
        """Compute what all examples need in one call; raises :class:`InputError` for one that is no scene."""
        self.fetch(scene_of(example) for example in examples)

    def read(self, example: Example) -> dict[str, np.ndarray]:
        scene = scene_of(example)
        self.fetch([scene])
        frames = np.stack([self._known[frame] for frame in self.path_of(scene)]).astype(np.float32)
        return {"appearance": frames, "motion": np.diff(frames, axis=0)}


def read_captions(path: str | Path) -> list[tuple[str, str]]:
    """(example id, caption) of a JSON file of example id -> captions; raises :class:`InputError` for anything else."""
    data = read_json(path, "file of captions")
    if not isinstance(data, dict) or not data or not all(isinstance(v, list) for v in data.values()):
        raise InputError("expected a mapping of example ids to lists of captions", str(path))
    return [(str(name), str(caption)) for name, captions in data.items() for caption in captions]


def scene_pairs(scenes: int, captions_each: int, *, kind: str = "short", seed: int = 1) -> list[tuple[str, str]]:
    """(scene id, caption) of ``scenes`` random scenes, ``captions_each`` of each; kind: short or exhaustive."""
    if not 1 <= scenes <= N_SCENES:
        raise HarnessError(f"scenes is a number from 1 to {N_SCENES}; found {scenes}")
    random = np.random.default_rng(derive(seed, "scenes"))
    chosen = random.choice(N_SCENES, size=scenes, replace=False)
    pairs = []
    for scene in chosen.tolist():
        known = captions(scene, kind)  # type: ignore[arg-type]
        take = random.permutation(len(known))[:captions_each]
        pairs += [(str(scene), known[i]) for i in take.tolist()]
    return pairs
