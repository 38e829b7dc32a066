"""Feature files: arrays by example id."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from harness.contracts import Example
from harness.errors import HarnessError, InputError, did_you_mean, require
from harness.files.streams import readable
from harness.stats.seeds import derive
from harness_models.shared.weights.checkpoint_config import read_json
from harness_models.shared.weights.checkpoints import read_safetensors
from harness_tasks.a3ds import pixels
from harness_tasks.a3ds.scene import N_SCENES, captions, check_id


class FeatureFile:
    """Arrays by example id from one file.

    An example is looked up by its id, then by ``video<id>``, then by the stem of its
    media path, then by id or stem as an integer without leading zeros.

    Parameters
    ----------
    path
        ``.hdf5`` with one data set per id; ``.safetensors`` or ``.npz`` with one array
        per id, or with ``ids`` (N,) and ``features`` (N, ...); or a pickle of
        ``{id: array}`` or of CLIPCap's ``{"clip_embedding": (N, d), "captions":
        [{"image_id", "clip_embedding"}]}``.

    Raises
    ------
    InputError
        If the file is missing, truncated or of another format.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = str(path)
        self.arrays: Mapping[str, np.ndarray] = _read(self.path)

    def array(self, example: Example) -> np.ndarray:
        """Return the array of an example as the file has it;
        raise :class:`InputError` if there is none.
        """
        for key in _names(example):
            if key in self.arrays:
                return np.asarray(self.arrays[key])
        raise InputError(
            "no features for example "
            f"'{example.id}'{did_you_mean(example.id, self.arrays)}; "
            f"the file holds {len(self.arrays)} ids",
            str(self.path),
        )

    def row(self, example: Example) -> np.ndarray:
        """Return the array of an example, float32, in the shape of its file.

        Raises :class:`InputError` if there is none or it holds NaN or infinity."""
        array = np.asarray(self.array(example), dtype=np.float32)
        if not np.isfinite(array).all():
            raise InputError(
                f"the features of '{example.id}' hold NaN or infinity", str(self.path)
            )
        return array

    def check(self, examples: Sequence[Example]) -> None:
        """Raise :class:`InputError` with the number and the first ids of the examples
        without features.
        """
        missing = [
            e.id for e in examples if not any(key in self.arrays for key in _names(e))
        ]
        if missing:
            names = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
            raise InputError(
                f"no features for {len(missing)} of {len(examples)} examples: {names}",
                str(self.path),
            )


def open_h5(path: Path, needed_by: str) -> Any:
    """Return an h5 file that is open for reading;
    raise :class:`InputError` for one that is damaged.
    """
    h5py = require("h5py", extra="a3ds", needed_by=needed_by)
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"not a readable HDF5 file ({error})", str(path)) from error


def _names(example: Example) -> list[str]:
    names = [example.id, f"video{example.id}"]
    if example.media:
        names.append(Path(example.media).stem)
    names += [str(int(name)) for name in names if name.isdecimal()]
    return names


def _read(path: Path) -> Mapping[str, np.ndarray]:
    if not path.is_file():
        raise InputError("no such feature file", str(path))
    if path.suffix == ".safetensors":
        return _by_id(
            read_safetensors(path, "numpy", "reading a .safetensors feature file"), path
        )
    if path.suffix == ".npz":
        with (
            readable(path, ".npz of arrays"),
            np.load(path, allow_pickle=False) as archive,
        ):
            arrays = {key: archive[key] for key in archive.files}
        return _by_id(arrays, path)
    if path.suffix in (".h5", ".hdf5"):
        return open_h5(path, "features in HDF5")
    if path.suffix in (".pkl", ".pickle"):
        from harness_models.shared.weights.safe_unpickle import load_plain_pickle

        data = load_plain_pickle(path)
        with readable(path, "file of features by id"):
            return _from_pickle(data, path)
    raise InputError(
        "a feature file is .safetensors, .npz or .pkl, or .hdf5", str(path)
    )


def _by_id(arrays: Mapping[str, np.ndarray], path: Path) -> Mapping[str, np.ndarray]:
    if set(arrays) != {"ids", "features"}:
        return arrays
    ids = arrays["ids"]
    rows = arrays["features"]
    if ids.shape[:1] != rows.shape[:1]:
        raise InputError(f"{len(ids)} ids for {len(rows)} rows of features", str(path))
    return {str(key): row for key, row in zip(ids.tolist(), rows)}


def _from_pickle(data: Any, path: Path) -> Mapping[str, np.ndarray]:
    if isinstance(data, Mapping) and "clip_embedding" in data and "captions" in data:
        rows = np.asarray(data["clip_embedding"], dtype=np.float32)
        arrays = {}
        for record, caption in enumerate(data["captions"]):
            index = int(caption["clip_embedding"])
            if not 0 <= index < len(rows):
                raise InputError(
                    f"caption {record} points to row {index} of {len(rows)}", str(path)
                )
            arrays[str(caption["image_id"])] = rows[index]
        return arrays
    if isinstance(data, Mapping) and data:
        return {
            str(key): np.asarray(value, dtype=np.float32) for key, value in data.items()
        }
    raise InputError(
        f"expected a mapping of ids to arrays; found {type(data).__name__}", str(path)
    )


# --------------------------------------------------------------------------- a3ds inputs
# Training data: captions of a file, or rendered A3DS scenes with captions of their
# grammar.
#
# Scenes are available as image vectors (:class:`SceneVectors`) and, in place of videos,
# as views of a moving camera (:class:`SceneViews`).
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
        frames = np.stack(
            [self._features[frame] for frame in self.path_of(scene)]
        ).astype(np.float32)
        return {"appearance": frames, "motion": np.diff(frames, axis=0)}


def read_captions(path: str | Path) -> list[tuple[str, str]]:
    """Return (example id, caption) pairs of a JSON file of example id -> captions;
    raise :class:`InputError` for another content.
    """
    data = read_json(path, "file of captions")
    if (
        not isinstance(data, dict)
        or not data
        or not all(isinstance(v, list) for v in data.values())
    ):
        raise InputError(
            "expected a mapping of example ids to lists of captions", str(path)
        )
    return [
        (str(name), str(caption))
        for name, captions in data.items()
        for caption in captions
    ]


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


# --------------------------------------------------------------------------- image vectors
# Sources of image vectors for the ``clipcap`` adapter, other than CLIP itself.


def open_vectors(features: Any) -> FeatureFile | SceneVectors:
    """Return the source of image vectors that ``features`` specifies.

    Parameters
    ----------
    features
        Path of a file of vectors by example id, or
        ``{scenes: {source: efficientnet-lite0}}`` for rendered scenes.

    Raises
    ------
    HarnessError
        For any other value.
    """
    if isinstance(features, (str, Path)):
        return FeatureFile(features)
    if isinstance(features, Mapping) and set(features) == {"scenes"}:
        return from_scenes(SceneVectors, features["scenes"])
    raise HarnessError(
        f"clipcap: features is a file of vectors by example id, or {{scenes: {{}}}}; "
        f"found {features!r}"
    )
