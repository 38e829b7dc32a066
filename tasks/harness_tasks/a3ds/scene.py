"""The 480,000 scenes of A3DS as numbers and words: six factors and their phrases.

The id of a scene is a mixed-radix number whose digits are the factor indices,
``floor_hue`` the slowest and ``orientation`` the fastest (Burgess & Kim 2018, 3D
Shapes).

>>> list(factors(59).values())
[0, 0, 0, 0, 3, 14]
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import InputError, did_you_mean

FACTORS = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
"""Names of the six factors in the order of the labels."""
SIZES = (10, 10, 10, 8, 4, 15)
"""Number of values of each factor."""
STRIDES = (48000, 4800, 480, 60, 15, 1)
"""Difference in scene id between neighbouring values of each factor."""
N_SCENES = 480_000
"""Number of scenes."""
_HUES = (
    "red",
    "orange",
    "yellow",
    "green",
    "light green",
    "cyan",
    "medium blue",
    "dark blue",
    "purple",
    "pink",
)
_RIGHT_TO_MIDDLE = (
    "in the right corner",
    "on the right",
    "close to the right side",
    "near the right corner",
    "close to the middle",
    "nearly in the middle",
    "in the middle",
)
_MIDDLE_TO_LEFT = tuple(
    phrase.replace("right", "left") for phrase in _RIGHT_TO_MIDDLE[::-1]
)
PHRASES: tuple[tuple[str, ...], ...] = (
    _HUES,
    _HUES,
    _HUES,
    ("tiny", "small", "medium-sized", "middle-sized", "big", "large", "huge", "giant"),
    ("block", "cylinder", "ball", "pill"),
    (*_RIGHT_TO_MIDDLE, "in the middle", *_MIDDLE_TO_LEFT),
)
"""``PHRASES[factor][index]``: phrase of a value. The 15 orientations have 11 distinct
phrases.
"""


def labels() -> tuple[np.ndarray, ...]:
    """Return the label values of each factor as the data set stores them, six float64
    arrays of the sizes :data:`SIZES`.

    The values are evenly spaced: hues 0 to 0.9, scales 0.75 to 1.25, shapes 0 to 3,
    camera angles -30 to 30 degrees.
    """
    bounds = (
        (0.0, 0.9),
        (0.0, 0.9),
        (0.0, 0.9),
        (0.75, 1.25),
        (0.0, 3.0),
        (-30.0, 30.0),
    )
    return tuple(
        np.linspace(low, high, size) for (low, high), size in zip(bounds, SIZES)
    )


def check_id(scene: Any) -> int:
    """Return a scene id as an int in 0...479,999;
    raise :class:`InputError` for anything else.
    """
    try:
        value = operator.index(scene)
    except TypeError:
        value = -1
    if isinstance(scene, (bool, np.bool_)) or not 0 <= value < N_SCENES:
        raise InputError(
            f"A3DS scene id {scene!r}; expected a whole number from 0 to "
            f"{N_SCENES - 1}",
            value=scene,
        )
    return value


def check_ids(scenes: Iterable[Any]) -> np.ndarray:
    """Return scene ids as an int64 array ``(B,)``;
    raise :class:`InputError` that names the first invalid one.
    """
    array = np.asarray(
        scenes if isinstance(scenes, (np.ndarray, Sequence)) else list(scenes)
    )
    if array.ndim != 1:
        raise InputError(f"A3DS scene ids of shape {array.shape}; expected a flat list")
    if array.size and array.dtype.kind not in "iu":
        return np.array([check_id(scene) for scene in array.tolist()], dtype=np.int64)
    wrong = (array < 0) | (array >= N_SCENES)
    if wrong.any():
        check_id(array[np.argmax(wrong)].item())
    return array.astype(np.int64)


def indices(scenes: Iterable[Any]) -> np.ndarray:
    """Return the factor indices of scenes ``(B,)``, int64 ``(B, 6)``;
    raises as :func:`check_ids`.
    """
    return check_ids(scenes)[:, None] // np.array(STRIDES) % np.array(SIZES)


def factors(scene: int) -> dict[str, int]:
    """Return factor name -> value index of one scene; raises as :func:`check_id`."""
    scene = check_id(scene)
    return {
        name: scene // stride % size
        for name, stride, size in zip(FACTORS, STRIDES, SIZES)
    }


def scene_id(values: Mapping[str, int] | Sequence[int]) -> int:
    """Return the id of the scene with these factor indices,
    a mapping by name or six numbers in order.

    Raises :class:`InputError` for an unknown, missing or too large index.

    >>> scene_id([0, 0, 0, 0, 3, 14])
    59
    """
    if isinstance(values, Mapping):
        for name in values:
            if name not in FACTORS:
                raise InputError(
                    f"unknown A3DS factor '{name}'{did_you_mean(name, FACTORS)}",
                    value=name,
                )
        values = [values.get(name, -1) for name in FACTORS]

    if len(values) != 6 or any(
        not 0 <= value < size for value, size in zip(values, SIZES)
    ):
        raise InputError(
            f"A3DS factor indices {list(values)}; expected six numbers below "
            f"{list(SIZES)}"
        )
    return sum(int(value) * stride for value, stride in zip(values, STRIDES))


def phrases(scene: int) -> dict[str, str]:
    """Return factor name -> phrase of one scene."""
    return {
        name: PHRASES[k][index]
        for k, (name, index) in enumerate(factors(scene).items())
    }
