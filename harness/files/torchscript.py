"""Tensors of a TorchScript archive, such as OpenAI's files of CLIP, as numpy arrays.

An archive is a zip file with the code of a model and a pickle of its modules. The code
is not read, and the pickle builds nothing but numbers, texts, lists, arrays, and a
record in place of each module: ``torch.jit.load`` would run what the file says.
"""

from __future__ import annotations

import collections
import io
import math
import pickle
import pickletools
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from harness.errors import InputError
from harness.files.streams import DAMAGED, readable

DATA = "data.pkl"
_TYPES = {
    "DoubleStorage": np.float64,
    "FloatStorage": np.float32,
    "HalfStorage": np.float16,
    "LongStorage": np.int64,
    "IntStorage": np.int32,
    "ShortStorage": np.int16,
    "CharStorage": np.int8,
    "ByteStorage": np.uint8,
    "BoolStorage": np.bool_,
}
"""Storage of torch -> type of its numbers; numpy has none for bfloat16."""
_UNCHANGED = {
    "build_intlist",
    "build_doublelist",
    "build_boollist",
    "build_tensorlist",
    "restore_type_tag",
}
"""Functions of ``torch.jit._pickle`` that return their first argument."""
CLIP_SETTINGS = frozenset({"input_resolution", "context_length", "vocab_size"})
"""Settings that state dictionaries of OpenAI's models hold beside the weights."""
MOST_PICKLE = 64 << 20
"""Largest size of the pickle in bytes; that of the largest CLIP has 0.3 MB."""
MOST_DEPTH = 64
"""Largest depth of modules within modules."""


@dataclass(frozen=True)
class TorchScriptArchive:
    """Tensors of a model by their names, and the classes of its modules."""

    tensors: Mapping[str, np.ndarray]
    settings: Mapping[str, object]
    """Numbers and texts of the outermost module."""
    classes: frozenset[str]
    """Names of the classes, without their packages: ``LayerNorm``."""


class _Module:
    """Record in place of a module: its class, and its state."""

    name = ""
    state: object = None

    def __setstate__(self, state: object) -> None:
        self.state = state


@dataclass(frozen=True)
class _Storage:
    """Numbers of a file of the archive."""

    values: np.ndarray


class _Refused(Exception):
    """A class that the unpickler does not build; the text is its name."""


def is_torchscript(path: Path) -> bool:
    """Return True for a zip file with the code of a model."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except DAMAGED:
        return False  # of another kind, or damaged, which its reader says
    folders = {name.split("/")[1] for name in names if "/" in name}
    return {"code", DATA} <= folders


def read_torchscript(path: Path) -> TorchScriptArchive:
    """Return the tensors of an archive; nothing of it is executed.

    Raises
    ------
    InputError
        The file is damaged, its pickle names a class of Python, or a tensor lies
        outside of its storage.
    """
    with readable(path, "TorchScript archive"), zipfile.ZipFile(path) as archive:
        (name,) = [n for n in archive.namelist() if n.split("/")[1:] == [DATA]]
        reader = _Unpickler(archive, name.removesuffix(DATA))
        try:
            root = reader.load()
        except _Refused as error:
            raise InputError(
                f"holds an object of type {error}, which no model of TorchScript has",
                str(path),
            ) from error
        except pickle.UnpicklingError as error:
            raise ValueError(str(error)) from error
        if not isinstance(root, _Module):
            raise ValueError("no module in it")
        values = dict(_walk(root, "", 0))
    tensors = {key: v for key, v in values.items() if isinstance(v, np.ndarray)}
    if not tensors:
        raise InputError("no tensors in it", str(path))
    settings = {key: v for key, v in values.items() if not isinstance(v, np.ndarray)}
    return TorchScriptArchive(tensors, settings, frozenset(reader.classes))


def read_openai_clip(
    path: Path, model: str, quick_gelu: bool, models: Collection[str]
) -> dict[str, np.ndarray]:
    """Return the weights of an archive of OpenAI for an architecture of open_clip.

    Parameters
    ----------
    path : Path
        The archive.
    model : str
        Name of the architecture.
    quick_gelu : bool
        Whether the architecture has QuickGELU.
    models : collection of str
        Names of the architectures, for the advice of an error.

    Raises
    ------
    InputError
        The weights are of QuickGELU and the architecture of GELU, which would give
        other vectors without a word; or as :func:`read_torchscript`.
    """
    archive = read_torchscript(path)
    if "QuickGELU" in archive.classes and not quick_gelu:
        other = f"{model}-quickgelu"
        advice = f"; model: {other}" if other in models else ""
        raise InputError(
            f"the weights are of QuickGELU, {model} is of GELU{advice}", str(path)
        )
    return {
        name: array
        for name, array in archive.tensors.items()
        if name not in CLIP_SETTINGS
    }


class _Unpickler(pickle.Unpickler):
    """Unpickler of numbers, texts, lists, arrays and records of modules."""

    def __init__(self, archive: zipfile.ZipFile, folder: str) -> None:
        super().__init__(io.BytesIO(_read_pickle(archive, f"{folder}{DATA}")))
        self._archive = archive
        self._folder = folder
        self._storages: dict[tuple[str, str], _Storage] = {}
        self.classes: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == "__torch__":
            self.classes.add(name)
            return type("Module", (_Module,), {"name": name})
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if module == "torch" and name in _TYPES:
            return name
        if module == "torch.jit._pickle" and name in _UNCHANGED:
            return _same
        raise _Refused(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> _Storage:
        kind, storage_type, key, _, count = cast("tuple[object, ...]", pid)
        if kind != "storage" or storage_type not in _TYPES:
            raise ValueError(f"{pid!r:.60} in place of a storage")
        place = str(key), str(storage_type)
        if place not in self._storages:
            entry = self._archive.getinfo(f"{self._folder}data/{key}")
            if entry.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"storage {key} is compressed")
            content = self._archive.read(entry)
            values = np.frombuffer(content, _TYPES[str(storage_type)])
            if len(values) != count:
                raise ValueError(
                    f"storage {key} of {len(values):,} numbers; expected {count!r:.20}"
                )
            self._storages[place] = _Storage(values)
        return self._storages[place]


def _read_pickle(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the pickle; raise ValueError for one that asks for more memory than its
    size.
    """
    if archive.getinfo(name).file_size > MOST_PICKLE:
        raise ValueError(f"{name} is larger than {MOST_PICKLE:,} bytes")
    content = archive.read(name)
    for opcode, slot, _ in pickletools.genops(content):
        if opcode.name in ("PUT", "LONG_BINPUT") and cast(int, slot) > len(content):
            raise ValueError(f"place {slot:,} of the memo in {len(content):,} bytes")
    return content


def _same(value: object, *_: object) -> object:
    """Return a list, or a value with the text of its type, as it is."""
    return value


def _rebuild(
    storage: object, offset: object, size: object, stride: object, *_: object
) -> np.ndarray:
    """Return the array of a tensor, a copy; raise ValueError for one that lies outside
    of its storage.
    """
    shape = _whole_numbers(size)
    steps = _whole_numbers(stride)
    (start,) = _whole_numbers((offset,))
    if not isinstance(storage, _Storage) or len(shape) != len(steps):
        raise ValueError("a tensor without a storage, or without strides")
    values = storage.values
    if math.prod(shape) == 0:
        return np.empty(shape, values.dtype)
    last = start + sum((n - 1) * step for n, step in zip(shape, steps))
    if last >= len(values) or math.prod(shape) > len(values):
        raise ValueError(f"a tensor of shape {shape} outside of its storage")
    width = values.itemsize
    view = np.lib.stride_tricks.as_strided(
        values[start:], shape, [step * width for step in steps], writeable=False
    )
    return np.array(view)


def _whole_numbers(values: object) -> tuple[int, ...]:
    """Return a tuple of whole numbers; raise ValueError for anything else."""
    given = values if isinstance(values, tuple) else None
    numbers = [n for n in given or () if type(n) is int and 0 <= n < 1 << 48]
    if given is None or len(numbers) < len(given) or len(numbers) > 32:
        raise ValueError(f"{values!r:.40} in place of sizes")
    return tuple(numbers)


def _walk(module: _Module, prefix: str, depth: int) -> Iterator[tuple[str, object]]:
    """Yield the tensors of a module and of those within it, by their names, and the
    numbers and texts of the outermost one.
    """
    if depth > MOST_DEPTH:
        raise ValueError("modules within modules without an end")
    if not isinstance(module.state, dict):
        return
    state = cast("dict[object, object]", module.state)
    kinds = (np.ndarray,) if depth else (np.ndarray, bool, int, float, str)
    for name, value in state.items():
        key = f"{prefix}{name}"
        if isinstance(value, _Module):
            yield from _walk(value, f"{key}.", depth + 1)
        elif isinstance(value, kinds):
            yield key, value
