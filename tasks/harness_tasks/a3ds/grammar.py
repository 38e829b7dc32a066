"""Captions of a scene by the two grammars of A3DS.

Each scene has 20 exhaustive captions, which mention all six factors, and 27 short ones
(Tsvilodub & Franke 2023). Captions are generated on each call and not stored.

>>> captions(59, kind="short")[2]
'there is a pill in the left corner'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Literal, get_args

import numpy as np

from harness.errors import InputError
from harness_tasks.a3ds.scene import (
    FACTORS,
    N_SCENES,
    PHRASES,
    check_ids,
    indices,
    phrases,
)

Kind = Literal["exhaustive", "short"]
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
