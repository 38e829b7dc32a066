"""Restricted unpickling of feature files: plain data,
numpy arrays and torch tensors only.
"""

from __future__ import annotations

import builtins
import collections
import io
import mmap
import pickle
import pickletools
from pathlib import Path
from typing import Any, BinaryIO, cast

from harness.errors import InputError
from harness.files.streams import readable
from harness_models.shared.weights.pickled_arrays import (
    PickledType,
    make_empty,
    make_from_buffer,
    make_scalar,
)

_PLAIN = frozenset(
    [
        "list",
        "dict",
        "set",
        "frozenset",
        "tuple",
        "int",
        "float",
        "bool",
        "complex",
        "slice",
    ]
)
"""Builtins that hold plain data."""
_STORAGES = {
    f"{kind}Storage"
    for kind in (
        "Float",
        "Double",
        "Half",
        "BFloat16",
        "Long",
        "Int",
        "Short",
        "Char",
        "Byte",
        "Bool",
    )
}
MAX_RANGE = 1 << 20
"""Numbers of a ``range``; a few bytes of a file could ask for any number of them."""


def load_plain_pickle(path: str | Path) -> Any:
    """Return the content of a pickle of plain data, numpy arrays and torch tensors.

    Raises :class:`InputError` if the file is missing or truncated, or contains an
    object of another class; the message names the class.
    """
    path = Path(path)
    try:
        with path.open("rb") as handle, readable(path, "pickle"):
            _check_memo(handle)
            return _Plain(handle).load()
    except FileNotFoundError as error:
        raise InputError("no such file", str(path)) from error
    except _Refused as error:
        raise InputError(
            f"holds an object of type {error}, which is not plain data, "
            "a numpy array or a torch tensor; "
            "write the features as .npz or .safetensors instead",
            str(path),
        ) from error


def _check_memo(handle: BinaryIO) -> None:
    """Raise ValueError for a place in the memo beyond the size of the file; pickle
    would allocate memory up to it.
    """
    with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for opcode, slot, _ in pickletools.genops(cast(Any, content)):
            if opcode.name in ("PUT", "LONG_BINPUT") and cast(int, slot) > len(content):
                raise ValueError(
                    f"place {slot:,} of the memo in a file of {len(content):,} bytes"
                )


class _Refused(Exception):
    """A class that the unpickler does not build; the text is its full name."""


class _Plain(pickle.Unpickler):
    """Unpickler that resolves the allowed classes and raises :class:`_Refused` for any
    other.
    """

    def find_class(self, module: str, name: str) -> Any:
        if module == "__builtin__":  # of Python 2
            module = "builtins"
        if module == "builtins" and name in _PLAIN:
            return getattr(builtins, name)
        if module.split(".")[0] == "torch":
            return self._torch(module, name)
        # the name since numpy 2
        plain_module = module.replace("numpy.core", "numpy._core", 1)
        if (plain_module, name) not in _ALLOWED:
            raise _Refused(f"{module}.{name}")
        return _ALLOWED[plain_module, name]

    def _torch(self, module: str, name: str) -> Any:
        import torch
        from torch._utils import _rebuild_tensor_v2

        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor_v2
        # the function of torch would unpickle any class
        if (module, name) == ("torch.storage", "_load_from_bytes"):
            return lambda data: torch.load(
                io.BytesIO(data), map_location="cpu", weights_only=True
            )
        if (module, name) == ("torch", "Size"):
            return torch.Size
        if module == "torch" and (
            name in _STORAGES or isinstance(getattr(torch, name, None), torch.dtype)
        ):
            return getattr(torch, name)
        raise _Refused(f"{module}.{name}")


def _latin1(text: str, encoding: str = "latin1") -> bytes:
    """Return ``_codecs.encode(text, "latin1")``, through which protocol 2 pickles
    bytes; other codecs are refused.
    """
    if encoding != "latin1":
        raise _Refused(f"_codecs.encode with {encoding}")
    return text.encode("latin1")


def _text(content: object = "", *encoding: str) -> str:
    """Return ``str(content)`` of a text or of bytes; lists that hold each other would
    ask for any number of characters.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, bytes):
        raise _Refused(f"builtins.str of {type(content).__name__}")
    return str(content, *encoding)


def _bytes(content: object = b"", *encoding: str) -> bytes:
    """Return ``bytes(content)`` of a text or of bytes; a number would ask for as much
    memory.
    """
    if isinstance(content, str):
        return content.encode(*encoding)
    if not isinstance(content, bytes | bytearray | list):
        raise _Refused(f"builtins.bytes of {type(content).__name__}")
    return bytes(content)


def _bytearray(*arguments: Any) -> bytearray:
    """Return ``bytearray(...)`` of a text or of bytes."""
    return bytearray(_bytes(*arguments))


def _range(*ends: int) -> range:
    """Return ``range(...)`` of at most :data:`MAX_RANGE` numbers."""
    numbers = range(*ends)
    if len(numbers) > MAX_RANGE:
        raise _Refused(f"{numbers!r:.60}")
    return numbers


_ALLOWED: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("collections", "defaultdict"): collections.defaultdict,
    ("_codecs", "encode"): _latin1,
    ("builtins", "str"): _text,
    ("builtins", "bytes"): _bytes,
    ("builtins", "bytearray"): _bytearray,
    ("builtins", "range"): _range,
    ("numpy", "ndarray"): "numpy.ndarray",  # a name alone, which nothing can call
    ("numpy", "dtype"): PickledType,
    ("numpy._core.multiarray", "_reconstruct"): make_empty,
    ("numpy._core.multiarray", "scalar"): make_scalar,
    ("numpy._core.numeric", "_frombuffer"): make_from_buffer,
}
"""Objects of the standard library and of numpy that a pickle may name,
by module and name.
"""
