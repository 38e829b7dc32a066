"""ARB, NAB, NACF and O2NA trained on rendered scenes: on scenes that none of them saw, their captions beat those of another scene.

``-s`` prints the figures that the cards quote."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import harness
from harness.adapters.baselines.shuffled import Shuffled
from harness.adapters.shared.training.recipe import load_trainer, read_recipe
from harness.contracts import Decoding, Example, TaskView
from harness.registry import resolve
from harness.tasks.a3ds import pixels
from harness.tasks.a3ds.scene import captions

LESS = {"kind": "short", "scenes": 200, "captions_each": 9, "epochs": 6}
"""Of what the recipes say (600 scenes, exhaustive captions, 10 epochs): enough for a test."""
DRAWN = Decoding("sample", candidates=5)


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    """Sixty scenes with their 27 short captions; their features are kept by the one network that all models share."""
    scenes = np.random.default_rng(9).choice(480_000, 60, replace=False).tolist()
    pixels.features().features(scenes)
    return [Example(str(scene), tuple(captions(scene, "short"))) for scene in scenes]


def judged(made: list[list[str]], examples: list[Example]) -> tuple[float, float]:
    references = [list(example.references) for example in examples]
    return harness.metric("cider")(made, references).value, harness.metric("trm", distance="cider")(
        made, references
    ).value


def write(adapter, examples: list[Example], decoding: Decoding) -> list[list[str]]:
    return [list(g.candidates) for g in adapter.generate(examples, decoding, range(len(examples)))]


@pytest.fixture(scope="module")
def baseline(examples) -> tuple[float, float]:
    """CIDEr and TRM of captions of another scene: perfectly worded, and wrong."""
    shuffled = Shuffled()
    shuffled.prepare(TaskView(examples, DRAWN))
    return judged(write(shuffled, examples, DRAWN), examples)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arb", "nab", "nacf", "o2na"])
def test_it_describes_unseen_scenes(name, examples, baseline, root, tmp_path):
    system = "o2na" if name == "o2na" else "nacf"
    made = load_trainer(system)
    recipe = read_recipe(root / "tasks" / "studies" / "recipes" / f"{name}.yaml", made.recipe)
    recipe = replace(recipe, **LESS)
    assert not {example.id for example in examples} & {scene for scene, _ in recipe.pairs()}
    started = time.process_time()
    made.train(recipe, tmp_path)
    seconds = time.process_time() - started
    adapter = resolve("adapters", {system: {"checkpoint": str(tmp_path)}})
    drawn = write(adapter, examples, DRAWN)
    cider, trm = judged(drawn, examples)
    moved = judged([*drawn[1:], drawn[0]], examples)
    print(f"{name}: CIDEr {cider:.2f}, TRM {trm:.2f}; given to the next scene {moved[0]:.2f}, {moved[1]:.2f}; "
          f"shuffled references {baseline[0]:.2f}, {baseline[1]:.2f}; {seconds:.0f} s of training")  # fmt: skip
    assert cider > 2 * max(baseline[0], moved[0])
    assert trm < min(baseline[1], moved[1]) - 0.3
    if name == "o2na":
        asked = write(adapter, examples, replace(DRAWN, options={"objects": ["wall"]}))
        assert all("wall" in text.split() for texts in asked for text in texts)
