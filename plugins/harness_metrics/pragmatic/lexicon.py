"""Words for the six A3DS features: those of the grammar and common synonyms, with the
values that each word fits.

A set of values is a bit mask over value indices. Bit 15 is a value that no scene has,
such as a dark green wall.
"""

from __future__ import annotations

from harness_tasks.a3ds.scene import PHRASES

OTHER = 1 << 15
"""Mask of a value that no scene has."""
FLOOR, WALL, OBJECT, SCALE, SHAPE, ORIENTATION = range(6)
_HUE_SYNONYMS = {
    "crimson": 0,
    "scarlet": 0,
    "amber": 1,
    "golden": 2,
    "gold": 2,
    "bright green": 4,
    "pale green": 4,
    "mint": 4,
    "mint green": 4,
    "sea green": 4,
    "turquoise": 5,
    "aqua": 5,
    "teal": 5,
    "light blue": 5,
    "sky blue": 5,
    "royal blue": 6,
    "navy": 7,
    "navy blue": 7,
    "deep blue": 7,
    "indigo": 7,
    "violet": 8,
    "lilac": 8,
    "magenta": 9,
    "rose": 9,
    "fuchsia": 9,
}
SHADES = frozenset({"light", "dark", "bright", "pale", "deep"})
"""Words before a colour; most pairs are the hue of no scene, such as dark green."""
_PLACES = (
    "in on at to of the a an near nearly close almost next left right middle center "
    "centre corner side"
)
_FILLERS = (
    "a an the this that there is are be it its of in on at to by with and or front "
    "before behind against beside standing stands"
    " stand sitting sits placed located lying picture image photo shows showing "
    "shown depicts see we you can has have which"
    " colored coloured color colour sized size near close next side room pad very"
)
PLACE_WORDS = frozenset(_PLACES.split())
FILLERS = frozenset(_FILLERS.split())
"""Words without information about a feature."""


def mask(*indices: int) -> int:
    """Return the bit mask of value indices.

    >>> mask(0, 3)
    9
    """
    return sum(1 << index for index in indices)


HUES = {
    **{phrase: mask(index) for index, phrase in enumerate(PHRASES[FLOOR])},
    **{word: mask(index) for word, index in _HUE_SYNONYMS.items()},
    "blue": mask(6, 7),
}
"""Colour phrase -> values; ``blue`` alone fits both blues,
``green`` alone is the value green.
"""

COLOUR_WORDS = frozenset(word for phrase in HUES for word in phrase.split()) | {
    "black",
    "white",
    "grey",
    "gray",
    "brown",
}

SCALES = {
    **{
        phrase.replace("-", " "): mask(index)
        for index, phrase in enumerate(PHRASES[SCALE])
    },
    **dict.fromkeys(("minuscule", "teeny", "miniature"), mask(0)),
    "little": mask(1),
    **dict.fromkeys(("medium", "medium size"), mask(2)),
    **dict.fromkeys(
        ("mid sized", "mid size", "average sized", "average size"), mask(2, 3)
    ),
    "middle size": mask(3),
    **dict.fromkeys(("enormous", "massive"), mask(6)),
    **dict.fromkeys(("gigantic", "colossal"), mask(7)),
}
SHAPES = {
    **{phrase: mask(index) for index, phrase in enumerate(PHRASES[SHAPE])},
    **dict.fromkeys(("cube", "box"), mask(0)),
    **dict.fromkeys(("tube", "can", "barrel"), mask(1)),
    **dict.fromkeys(("sphere", "orb", "globe"), mask(2)),
    **dict.fromkeys(("capsule", "lozenge", "tablet"), mask(3)),
}
NOUNS = {
    **dict.fromkeys(("floor", "ground", "carpet"), FLOOR),
    **dict.fromkeys(("wall", "walls", "background", "backdrop"), WALL),
    **dict.fromkeys((*SHAPES, "object", "thing", "shape", "it", "one"), OBJECT),
}
"""Noun -> factor of a colour of that noun."""


def orientations_of(words: list[str]) -> int:
    """Return the orientations that the words of a place such as
    ``close to the left side`` fit; 0 for no place.
    """
    present = set(words)
    middle = any(
        word in ("middle", "center", "centre") and following not in ("sized", "size")
        for word, following in zip(words, (*words[1:], ""))
    )
    left = "left" in present
    right = "right" in present
    near = bool(present & {"near", "close", "next"})
    nearly = bool(present & {"nearly", "almost"})

    if middle:
        if near:
            return mask(4, 10)
        if nearly:
            return mask(5, 9)
        return mask(6, 7, 8) if present & {"in", "at"} else mask(4, 5, 6, 7, 8, 9, 10)

    # both sides, or none: no place
    if left == right:
        return 0

    is_near = near or nearly
    indices = (2,) if is_near else (1,)
    if "corner" in present:
        indices = (0, 3)
        if is_near:
            indices = (3,)
        elif present & {"in", "at"}:
            indices = (0,)

    # the angles of the left side mirror those of the right
    return mask(*(14 - index if left else index for index in indices))
