"""Write the captions of this example: references of 240 scenes, a baseline,
and three new versions of it.

    python examples/gate/make_captions.py

``good.jsonl`` words its captions anew and loses nothing, ``worse.jsonl`` names a wrong
colour in most of the scenes, and ``unsure.jsonl`` in a few more than the baseline, too
few to decide. All texts are made by this script.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parent
COLOURS = ("red", "blue", "green", "yellow", "purple", "orange")
SHAPES = ("cube", "ball", "cylinder", "capsule")
PLACES = ("in front of", "to the left of", "behind", "to the right of")
WALLS = ("white", "grey", "brown", "pink")
Scene = tuple[str, str, str, str, str]


def draw(number: int) -> Scene:
    """Return shape, colour, place, wall colour and size of a scene."""
    rng = random.Random(number)
    return (
        rng.choice(SHAPES),
        rng.choice(COLOURS),
        rng.choice(PLACES),
        rng.choice(WALLS),
        rng.choice(("small", "large")),
    )


def describe(scene: Scene, form: int) -> str:
    """Return a description in one of four wordings."""
    shape, colour, place, wall, size = scene
    return (
        f"a {size} {colour} {shape} {place} a {wall} wall",
        f"there is a {colour} {shape} standing {place} the {wall} wall",
        f"a {wall} wall with a {size} {colour} {shape} {place} it",
        f"the {shape} is {size} and {colour} and stands {place} a {wall} wall",
    )[form]


def write(
    name: str, count: int, caption: Callable[[int, random.Random], object]
) -> None:
    """Write one record per scene."""
    key = "references" if name == "references" else "caption"
    lines = [
        json.dumps(
            {"id": f"scene-{k:03d}", key: caption(k, random.Random(f"{name}{k}"))}
        )
        for k in range(count)
    ]
    (FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def caption_of(k: int, rng: random.Random, wrong: float) -> str:
    """Return a caption of a scene whose colour is wrong with a probability."""
    scene = draw(k)
    if rng.random() < wrong:
        scene = (
            scene[0],
            rng.choice([colour for colour in COLOURS if colour != scene[1]]),
            *scene[2:],
        )
    return describe(scene, rng.randrange(4))


if __name__ == "__main__":
    write(
        "references",
        240,
        lambda k, rng: [describe(draw(k), form) for form in rng.sample(range(4), 3)],
    )
    write("baseline", 240, lambda k, rng: caption_of(k, rng, 0.1))
    write("good", 240, lambda k, rng: caption_of(k, rng, 0.0))
    write("worse", 240, lambda k, rng: caption_of(k, rng, 0.6))
    write("unsure", 240, lambda k, rng: caption_of(k, rng, 0.2))
