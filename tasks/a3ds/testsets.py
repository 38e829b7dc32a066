"""Test pairs of the reference game by the features that target and distractor share (Tsvilodub & Franke 2023, section 4).

Three groups: six sets that share at least one given feature, four that share two, three that share three (:data:`SETS`). The paper
names two of the three sets of two object features; the third here is what is left, size and shape.
What lies outside the shared features is drawn freely, so that it may match by chance, or forced to differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from harness.errors import HarnessError, did_you_mean
from harness.tasks.a3ds.scene import FACTORS, N_SCENES, SIZES, STRIDES, indices

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
"""Set -> the factors that a pair shares, or how many are drawn for each pair."""
GROUPS = ("one", "two", "three")
FULL_SIZE = 7500
"""Pairs of a set in the paper."""


def chosen_sets(names: str | Iterable[str] | None) -> list[str]:
    """The sets named: whole groups (``one``), single sets (``one/shape``), or all for None.

    Raises :class:`HarnessError` for another name.
    """
    if names is None:
        return list(SETS)
    wanted = [names] if isinstance(names, str) else list(names)
    out: list[str] = []
    for name in wanted:
        found = [key for key in SETS if key == name or key.split("/")[0] == name]
        if not found:
            raise HarnessError(
                f"unknown A3DS test set '{name}'{did_you_mean(name, [*GROUPS, *SETS])}; groups are {', '.join(GROUPS)}"
            )
        out.extend(key for key in found if key not in out)
    return out


def pairs(name: str, count: int = FULL_SIZE, *, seed: int = 0, outside: Outside = "free") -> np.ndarray:
    """(count, 2) ids of target and distractor, never equal; the same for the same name, seed and ``outside``, and the first
    pairs of a larger set are those of a smaller one.

    ``outside``: features that need not be shared are drawn ``free`` or are ``different``. Raises :class:`HarnessError`.
    """
    if name not in SETS:
        raise HarnessError(f"unknown A3DS test set '{name}'{did_you_mean(name, SETS)}")
    if outside not in ("free", "different"):
        raise HarnessError(f"unknown 'outside' '{outside}': expected free or different")
    if count < 1:
        raise HarnessError(f"A3DS test set of {count} pairs: expected at least 1")
    random = np.random.default_rng([seed, list(SETS).index(name)])
    shared = SETS[name]
    blocks, have = [], 0
    while have < count:
        block = _block(random, shared, outside)
        blocks.append(block)
        have += len(block)
    return np.concatenate(blocks)[:count]


def _block(
    random: np.random.Generator, shared: tuple[int, ...] | int, outside: Outside, size: int = 1024
) -> np.ndarray:
    targets = random.integers(0, N_SCENES, size)
    values = indices(targets)
    kept = np.zeros((size, 6), dtype=bool)
    if isinstance(shared, int):
        kept[np.arange(size)[:, None], random.random((size, 6)).argsort(1)[:, :shared]] = True
    else:
        kept[:, list(shared)] = True
    uniform = random.random((size, 6))
    sizes = np.array(SIZES)
    if outside == "free":
        drawn = (uniform * sizes).astype(np.int64)
    else:
        drawn = (values + 1 + (uniform * (sizes - 1)).astype(np.int64)) % sizes
    distractors = np.where(kept, values, drawn) @ np.array(STRIDES)
    return np.stack([targets, distractors], axis=1)[targets != distractors]
