"""The 480,000 scenes of A3DS as numbers and words: six factors, their phrases, and the
captions of both grammars.

The id of a scene is a mixed-radix number whose digits are the factor indices,
``floor_hue`` the slowest and ``orientation`` the fastest (Burgess & Kim 2018, 3D
Shapes). Each scene has 20 exhaustive captions, which mention all six factors, and 27
short ones (Tsvilodub & Franke 2023, A3DS). Captions are generated on each call and not
stored.

>>> factors(59)
{'floor_hue': 0, 'wall_hue': 0, 'object_hue': 0, 'scale': 0, 'shape': 3, 'orientation': 14}
>>> captions(59, kind="short")[2]
'there is a pill in the left corner'
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, get_args

import numpy as np

from harness.errors import InputError, did_you_mean

Kind = Literal["exhaustive", "short"]

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


# --------------------------------------------------------------------------- ids and factors
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


# --------------------------------------------------------------------------- the two grammars
_PLACE = ("<orientation>", "in front of a <wall_hue> wall", "on <floor_hue> floor")
_WALL_ON_FLOOR = "in front of a <wall_hue> wall on <floor_hue> floor"
_FLOOR_BEFORE_WALL = "on <floor_hue> floor in front of a <wall_hue> wall"
_LOCATION = (
    f"<orientation> {_WALL_ON_FLOOR}",
    f"<orientation> {_FLOOR_BEFORE_WALL}",
    "on <floor_hue> floor <orientation> in front of a <wall_hue> wall",
    f"{_FLOOR_BEFORE_WALL} <orientation>",
)


def _exhaustive() -> list[str]:
    """Return the 20 patterns of the exhaustive grammar."""
    object_ = "<scale> <object_hue> <shape>"
    standing = [f"a {object_} standing {location}" for location in _LOCATION]
    # the published grammar ends this one sentence without its noun
    standing[1] = standing[1].removesuffix(" wall")
    return [
        *(f"a {object_} {location}" for location in _LOCATION),
        *(f"the picture shows a {object_} {location}" for location in _LOCATION),
        *standing,
        *(f"the <scale> <shape> {location} is <object_hue>" for location in _LOCATION),
        *(f"the <object_hue> <shape> {location} is <scale>" for location in _LOCATION),
    ]


def _short() -> list[str]:
    """Return the 27 patterns of the short grammar."""
    plain = (
        "<scale> <shape>",
        "<object_hue> <shape>",
        *(f"<shape> {position}" for position in _PLACE),
    )
    placed = [
        f"<{word}> <shape> {position}"
        for word in ("scale", "object_hue")
        for position in _PLACE
    ]
    objects = [f"a {phrase}" for phrase in (*plain, *placed)]
    statements = [
        f"the <shape> is {attribute}"
        for attribute in (*_PLACE, "<scale>", "<object_hue>")
    ]
    return [*(f"there is {phrase}" for phrase in objects), *objects, *statements]


@cache
def _pattern(kind: Kind) -> str:
    """Return all captions of one kind as one %-pattern with a line per caption, so that
    a scene takes one formatting.
    """
    pattern = "\n".join({"exhaustive": _exhaustive, "short": _short}[kind]())
    for name in FACTORS:
        pattern = pattern.replace(f"<{name}>", f"%({name})s")
    return pattern


def _check_kind(kind: str) -> None:
    if kind not in get_args(Kind):
        raise InputError(
            f"kind of A3DS captions is {kind!r}; expected exhaustive or short",
            value=kind,
        )


def captions(scene: int, kind: Kind = "exhaustive") -> list[str]:
    """Return the 20 exhaustive or 27 short captions of one scene, in the order in which
    the grammar derives them.

    Raises :class:`InputError` for an id outside 0...479,999 or another ``kind``.
    """
    _check_kind(kind)
    return (_pattern(kind) % phrases(scene)).split("\n")


def caption_sets(
    scenes: Iterable[Any] | None = None, kind: Kind = "exhaustive"
) -> Iterator[list[str]]:
    """Yield the captions of each scene, all 480,000 by default;
    memory is that of one block of 4096 scenes.
    """
    _check_kind(kind)
    pattern = _pattern(kind)
    ids = np.arange(N_SCENES) if scenes is None else check_ids(scenes)
    for start in range(0, len(ids), 4096):
        for values in indices(ids[start : start + 4096]).tolist():
            words = {
                name: PHRASES[k][index]
                for k, (name, index) in enumerate(zip(FACTORS, values))
            }
            yield (pattern % words).split("\n")


# --------------------------------------------------------------------------- testsets
# Test pairs of the reference game by the features that target and distractor share.
#
# Three groups of sets (:data:`SETS`): six share at least one feature, four at least
# two, three at least three. The other features are drawn freely, so that they may be
# equal by chance, or are always different.
#
# Source: Tsvilodub & Franke (2023), section 4. The paper names two of the three sets of
# two object features; the third one here is the remaining pair, size and shape.
Outside = Literal["free", "different"]

_FLOOR, _WALL, _HUE, _SCALE, _SHAPE, _ORIENTATION = range(6)
SETS: dict[str, tuple[int, ...] | int] = {
    **{f"one/{name}": (factor,) for factor, name in enumerate(FACTORS)},
    "two/object_hue+scale": (_HUE, _SCALE),
    "two/shape+object_hue": (_SHAPE, _HUE),
    "two/scale+shape": (_SCALE, _SHAPE),
    "two/random": 2,
    "three/object": (_SHAPE, _HUE, _SCALE),
    "three/background": (_FLOOR, _WALL, _ORIENTATION),
    "three/random": 3,
}
"""Set -> shared factors, or the number of shared factors,
which are then drawn for each pair.
"""
GROUPS = ("one", "two", "three")
FULL_SIZE = 7500
"""Number of pairs of a set in the paper."""


def set_names(names: str | Iterable[str] | None) -> list[str]:
    """Return the sets of groups (``one``) and single sets (``one/shape``),
    each once; all sets for None.

    Raises :class:`InputError` for another name.

    >>> set_names(["two/random", "three"])
    ['two/random', 'three/object', 'three/background', 'three/random']
    """
    if names is None:
        return list(SETS)
    out: list[str] = []
    for name in [names] if isinstance(names, str) else names:
        sets = [key for key in SETS if key == name or key.split("/")[0] == name]
        if not sets:
            hint = did_you_mean(name, [*GROUPS, *SETS])
            raise InputError(
                f"unknown A3DS test set '{name}'{hint}; groups are {', '.join(GROUPS)}",
                parameter="sets",
                value=name,
            )
        out.extend(key for key in sets if key not in out)
    return out


def pairs(
    name: str, count: int = FULL_SIZE, *, seed: int = 0, outside: Outside = "free"
) -> np.ndarray:
    """Return the pairs of a set, scene ids of target and distractor,
    of shape ``(count, 2)``.

    Target and distractor are never equal. The same arguments give the same pairs, and a
    smaller set is the beginning of a larger one.

    Parameters
    ----------
    name : str
        Key of :data:`SETS`.
    count : int, default 7500
        Number of pairs, at least 1.
    seed : int, default 0
        Seed of the pairs.
    outside : {"free", "different"}, default "free"
        Features that the set does not share: drawn freely, or always different.

    Raises
    ------
    InputError
        For an unknown set or option, and a count below 1.
    """
    if name not in SETS:
        raise InputError(
            f"unknown A3DS test set '{name}'{did_you_mean(name, SETS)}",
            parameter="name",
            value=name,
        )
    if outside not in ("free", "different"):
        raise InputError(
            f"outside is {outside!r}; expected free or different",
            parameter="outside",
            value=outside,
        )
    if count < 1:
        raise InputError(
            f"count is {count!r}; expected a whole number of at least 1",
            parameter="count",
            value=count,
        )
    random = np.random.default_rng([seed, list(SETS).index(name)])
    shared = SETS[name]
    blocks: list[np.ndarray] = []
    while sum(map(len, blocks)) < count:
        blocks.append(_block(random, shared, outside))
    return np.concatenate(blocks)[:count]


def _block(
    random: np.random.Generator,
    shared: tuple[int, ...] | int,
    outside: Outside,
    size: int = 1024,
) -> np.ndarray:
    """Return the next pairs, ``(at most size, 2)``;
    pairs of equal scenes are dropped.
    """
    targets = random.integers(0, N_SCENES, size)
    values = indices(targets)
    equal = np.zeros((size, 6), dtype=bool)
    if isinstance(shared, int):
        equal[
            np.arange(size)[:, None], random.random((size, 6)).argsort(1)[:, :shared]
        ] = True
    else:
        equal[:, list(shared)] = True
    uniform = random.random((size, 6))
    sizes = np.array(SIZES)
    if outside == "free":
        drawn = (uniform * sizes).astype(np.int64)
    else:
        drawn = (values + 1 + (uniform * (sizes - 1)).astype(np.int64)) % sizes
    distractors = np.where(equal, values, drawn) @ np.array(STRIDES)
    return np.stack([targets, distractors], axis=1)[targets != distractors]
