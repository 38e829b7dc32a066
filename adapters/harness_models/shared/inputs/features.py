"""Feature files: arrays by example id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Example
from harness.errors import InputError, did_you_mean, require
from harness.files.streams import readable
from harness_models.shared.weights.checkpoints import read_safetensors


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
    # The file of CLIPCap's authors: one table of vectors, and captions that point to
    # its rows.
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
