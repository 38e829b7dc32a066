"""The captions that checks are made on: small, plain, written for this."""

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
NONSENSE = (
    "zorp quindle vask trosk", "quindle vask zorp ulver", "vask quindle ulver plimb", "zorp quindle ulver", "plimb quindle vask zorp",
)  # fmt: skip
"""Captions that share words with each other and none with any scene: a distribution elsewhere."""


def caption_sets(n: int = 3, m: int = 3, count: int = len(SCENES)) -> list[CaptionSet]:
    """``count`` sets of n candidates and m references (n + m <= 8), all texts of a set different."""
    if n + m > len(SCENES[0]):
        raise ValueError(f"a scene has {len(SCENES[0])} captions; {n} + {m} were asked for")
    return [CaptionSet(f"scene-{k}", SCENES[k][:n], SCENES[k][n : n + m]) for k in range(count)]


def examples(m: int = 5, count: int = len(SCENES)) -> list[Example]:
    """``count`` examples with m references and the first of them as source."""
    return [Example(f"scene-{k}", SCENES[k][:m], None, SCENES[k][0]) for k in range(count)]


def with_candidates(item: CaptionSet, texts: Sequence[str]) -> CaptionSet:
    """The set with other candidates, as many as it had (repeated in turn)."""
    n = len(item.candidates)
    return replace(item, candidates=tuple(texts[k % len(texts)] for k in range(n)))


ODD = {
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
"""Texts that must do no harm, by what is odd about them."""
