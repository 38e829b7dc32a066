"""Numpy arrays of pickles, checked before numpy builds them.

A pickle describes an array and its data type by tuples, which numpy's own
``__setstate__`` trusts: a number in place of a text ends the process. The classes and
functions of this module stand in for numpy's, check what the tuples hold, and build the
arrays themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

_TYPE = re.compile(r"[biufcSUO?]\d{0,9}")
"""Data types of numbers, of texts and of objects."""
_ORDERS = frozenset("<>|=")


class PickledType:
    """``numpy.dtype`` of a pickle.

    Parameters
    ----------
    text : str
        The type without its order of bytes: ``f4``.
    *_
        Alignment and copy, which change nothing.

    Raises
    ------
    ValueError
        For types of other kinds, such as those with fields.
    """

    def __init__(self, text: object, *_: object) -> None:
        if not isinstance(text, str) or not _TYPE.fullmatch(text):
            raise ValueError(f"data type {text!r:.40}")
        self.dtype = np.dtype(text)

    def __setstate__(self, state: Sequence[object]) -> None:
        version, order, subtype, names, fields = state[:5]
        if not isinstance(version, int) or order not in _ORDERS:
            raise ValueError(f"data type with the order of bytes {order!r:.40}")
        if not subtype is names is fields is None:
            raise ValueError("data type with fields")
        self.dtype = np.dtype(f"{order}{self.dtype.str[1:]}")


class PickledArray(np.ndarray):
    """``numpy.ndarray`` of a pickle, which numpy fills only with what fits."""

    def __setstate__(self, state: Sequence[object]) -> None:  # type: ignore[override]
        _, shape, kind, is_fortran, content = state
        sizes = _checked_shape(shape)
        dtype = _dtype_of(kind)

        if dtype.hasobject:
            fits = isinstance(content, list) and len(content) == math.prod(sizes)
        else:
            content = _checked_bytes(content)
            fits = len(content) == math.prod(sizes) * dtype.itemsize
        if not fits:
            raise ValueError(f"content that does not fill an array of shape {sizes}")
        checked: Any = (1, sizes, dtype, bool(is_fortran), content)
        super().__setstate__(checked)

    def __reduce_ex__(self, protocol: Any) -> Any:
        # Another process reads it as any array: numpy's own state is not checked there.
        return self.view(np.ndarray).__reduce_ex__(protocol)


def make_empty(*_: object) -> PickledArray:
    """Stand in for ``numpy._core.multiarray._reconstruct``: return an array that its
    state fills.
    """
    return PickledArray(0)


def make_scalar(kind: object, content: object = None) -> Any:
    """Stand in for ``numpy._core.multiarray.scalar``; raise ValueError where the bytes
    do not make one number or text.
    """
    dtype = _dtype_of(kind)
    if dtype.hasobject:
        return content
    data = _checked_bytes(content)
    if len(data) != dtype.itemsize:
        raise ValueError(f"{len(data)} bytes for a scalar of {dtype.itemsize}")
    return np.frombuffer(data, dtype)[0] if data else dtype.type()


def make_from_buffer(
    content: object, kind: object, shape: object, order: object, axes: object = None
) -> np.ndarray:
    """Stand in for ``numpy._core.numeric._frombuffer``, through which protocol 5
    pickles arrays; raise ValueError where the bytes do not fill the shape.
    """
    if order not in ("C", "F", "K"):
        raise ValueError(f"order {order!r:.40}")
    dtype = _dtype_of(kind)
    if dtype.hasobject or not dtype.itemsize:
        raise ValueError(f"a buffer of {dtype}")
    array = np.frombuffer(_checked_bytes(content), dtype)
    if order == "K" and axes is not None:
        return array.reshape(_checked_shape(shape)).transpose(_checked_shape(axes))
    return array.reshape(_checked_shape(shape), order="F" if order == "F" else "C")


def _dtype_of(kind: object) -> np.dtype:
    if not isinstance(kind, PickledType):
        raise ValueError(f"{kind!r:.40} in place of a data type")
    return kind.dtype


def _checked_bytes(content: object) -> bytes | bytearray:
    """Return the bytes of an array; protocol 2 of Python 2 writes them as text."""
    if isinstance(content, str):
        return content.encode("latin1")
    if not isinstance(content, bytes | bytearray):
        raise ValueError(f"{content!r:.40} in place of the bytes of an array")
    return content


def _checked_shape(shape: object) -> tuple[int, ...]:
    sizes_of_axes = shape if isinstance(shape, tuple) else (shape,)
    sizes = [
        size for size in sizes_of_axes if isinstance(size, int) and 0 <= size < 1 << 48
    ]
    if len(sizes) < len(sizes_of_axes) or len(sizes_of_axes) > 32:
        raise ValueError(f"shape {shape!r:.40}")
    return tuple(sizes)
