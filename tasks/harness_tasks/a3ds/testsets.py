"""Test pairs of the reference game by the features that target and distractor share.

Three groups of sets (:data:`SETS`): six share at least one feature, four at least
two, three at least three. The other features are drawn freely, so that they may be
equal by chance, or are always different.

Source: Tsvilodub & Franke (2023), section 3. The paper names two of the three sets of
two object features; the third one here is the remaining pair, size and shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from harness.errors import InputError, did_you_mean
from harness_tasks.a3ds.scene import FACTORS, N_SCENES, SIZES, STRIDES, indices

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
        drawn_factors = random.random((size, 6)).argsort(1)[:, :shared]
        equal[np.arange(size)[:, None], drawn_factors] = True
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
