"""Sample captions of the checks, written for them: six scenes, nonsense,
and unusual texts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.contracts import CaptionSet, Example

_TEXTS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
SCENES: tuple[tuple[str, ...], ...] = tuple(map(tuple, _TEXTS["scenes"]))
"""Eight captions of each scene, all different."""
NONSENSE: tuple[str, ...] = tuple(_TEXTS["nonsense"])
"""Captions that share words with each other and none with any scene."""
UNUSUAL_TEXTS: dict[str, tuple[str, ...]] = {
    **{
        description: tuple(texts)
        for description, texts in _TEXTS["unusual texts"].items()
    },
    "long": (
        " ".join(SCENES[0]) + " " + " ".join(" ".join(scene) for scene in SCENES),
    ),
}
"""Unusual texts that every component must accept, by description."""


def caption_sets(n: int = 3, m: int = 3, count: int = len(SCENES)) -> list[CaptionSet]:
    """Return ``count`` sets of n candidates and m references;
    the texts of a set differ.

    Raises :class:`ValueError` when a scene has fewer than n + m captions (8).
    """
    if n + m > len(SCENES[0]):
        raise ValueError(
            f"a scene has {len(SCENES[0])} captions; expected at least {n} + {m}"
        )
    return [
        CaptionSet(f"scene-{k}", SCENES[k][:n], SCENES[k][n : n + m])
        for k in range(count)
    ]


def examples(m: int = 5, count: int = len(SCENES)) -> list[Example]:
    """Return ``count`` examples with m references; the first of them is the source."""
    return [
        Example(f"scene-{k}", SCENES[k][:m], None, SCENES[k][0]) for k in range(count)
    ]


def repeat_to(texts: Sequence[str], count: int) -> tuple[str, ...]:
    """Return ``count`` texts: the first ones,
    repeated from the start where there are fewer.

    >>> repeat_to(("a", "b"), 3)
    ('a', 'b', 'a')
    """
    return tuple(texts[k % len(texts)] for k in range(count))


def with_candidates(item: CaptionSet, texts: Sequence[str]) -> CaptionSet:
    """Return the set with other candidates, repeated in turn up to its number of
    candidates.
    """
    return replace(item, candidates=repeat_to(texts, len(item.candidates)))
