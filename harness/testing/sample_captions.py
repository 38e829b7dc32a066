"""Sample captions of the checks, written for them: six scenes, nonsense, and unusual texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.contracts import CaptionSet, Example

SCENES = (
    (
        "a brown dog runs across the wet grass", "the dog is running on a lawn after the rain",
        "a dog chases something over green grass", "one brown dog running outside",
        "a wet dog sprints through a garden", "the brown dog runs over the lawn",
        "some dog is playing in the yard", "a dog, brown and wet, runs fast",
    ),
    (
        "two children eat ice cream on a bench", "a boy and a girl are eating ice cream",
        "children sitting on a wooden bench with ice cream", "two kids enjoy their ice cream in the park",
        "a girl and a boy sit on a bench", "the children eat something sweet",
        "two kids on a bench in summer", "ice cream melts in the hands of two children",
    ),
    (
        "a red bus stops at the corner", "the bus is waiting beside a shop",
        "a double decker bus in a busy street", "people get on a red bus",
        "a large red bus parked in the city", "the red bus stops near a crossing",
        "passengers wait while the bus arrives", "a bus turns left at the corner",
    ),
    (
        "an old man reads a newspaper at the table", "a man with glasses is reading",
        "the man sits at a table with the news", "an elderly man drinks coffee and reads",
        "a man reads the paper over breakfast", "an old man holding a newspaper",
        "somebody reads at a kitchen table", "the old man reads while his coffee gets cold",
    ),
    (
        "a plate with rice, beans and a fried egg", "food on a white plate beside a fork",
        "the plate holds rice and an egg", "a meal of beans and rice with an egg on top",
        "rice and beans on a plate", "someone is about to eat rice with beans",
        "a fried egg lies on top of some rice", "a simple lunch on a white plate",
    ),
    (
        "three sailing boats leave the harbour", "boats with white sails on blue water",
        "sailing boats are moving out to sea", "the harbour with three small boats",
        "white sails in the wind near the coast", "three boats sail away from the harbour",
        "a few boats on the sea in the morning", "small boats sail past a lighthouse",
    ),
)  # fmt: skip
"""Eight captions of each scene, all different."""
NONSENSE = (
    "zorp quindle vask trosk", "quindle vask zorp ulver", "vask quindle ulver plimb", "zorp quindle ulver", "plimb quindle vask zorp",
)  # fmt: skip
"""Captions that share words with each other and none with any scene."""


def caption_sets(n: int = 3, m: int = 3, count: int = len(SCENES)) -> list[CaptionSet]:
    """Return ``count`` sets of n candidates and m references; the texts of a set differ.

    Raises :class:`ValueError` when a scene has fewer than n + m captions (8).
    """
    if n + m > len(SCENES[0]):
        raise ValueError(f"a scene has {len(SCENES[0])} captions; expected at least {n} + {m}")
    return [CaptionSet(f"scene-{k}", SCENES[k][:n], SCENES[k][n : n + m]) for k in range(count)]


def examples(m: int = 5, count: int = len(SCENES)) -> list[Example]:
    """Return ``count`` examples with m references; the first of them is the source."""
    return [Example(f"scene-{k}", SCENES[k][:m], None, SCENES[k][0]) for k in range(count)]


def repeat_to(texts: Sequence[str], count: int) -> tuple[str, ...]:
    """Return ``count`` texts: the first ones, repeated from the start where there are fewer.

    >>> repeat_to(("a", "b"), 3)
    ('a', 'b', 'a')
    """
    return tuple(texts[k % len(texts)] for k in range(count))


def with_candidates(item: CaptionSet, texts: Sequence[str]) -> CaptionSet:
    """Return the set with other candidates, repeated in turn up to its number of candidates."""
    return replace(item, candidates=repeat_to(texts, len(item.candidates)))


UNUSUAL_TEXTS = {
    "empty": ("",),
    "blank": ("   ", "\t"),
    "single word": ("dog", "bus"),
    "punctuation": ("...", "?!"),
    "unicode": (
        "ein Hündchen läuft 🐕 über die Wiese",
        "一只狗在草地上奔跑",
        "كلب يركض",
        "e\u0301te\u0301 \u200b naïve",
    ),
    "long": (" ".join(SCENES[0]) + " " + " ".join(" ".join(scene) for scene in SCENES),),
}
"""Unusual texts that every component must accept, by description."""
