"""O2NA trained on rendered scenes describes unseen scenes better than captions of other
scenes do.

The option ``-s`` prints the figures of the documentation.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import harness
from harness.contracts import Decoding, Example, TaskView
from harness.registry import resolve
from harness_models.baselines.shuffled import Shuffled
from harness_models.shared.training.recipe import load_trainer, read_recipe
from harness_tasks.a3ds import pixels
from harness_tasks.a3ds.grammar import captions

LESS = {"kind": "short", "scenes": 200, "captions_each": 9, "epochs": 6}
"""Fewer data than the recipes name (600 scenes, exhaustive captions, 10 epochs)."""
DRAWN = Decoding("sample", candidates=5)


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    """Sixty scenes with their 27 short captions;
    their features are computed once before the model runs.
    """
    scenes = np.random.default_rng(9).choice(480_000, 60, replace=False).tolist()
    pixels.features().features(scenes)
    return [Example(str(scene), tuple(captions(scene, "short"))) for scene in scenes]


def judged(generated: list[list[str]], examples: list[Example]) -> tuple[float, float]:
    references = [list(example.references) for example in examples]
    return harness.metric("cider")(generated, references).value, harness.metric(
        "trm", distance="cider"
    )(generated, references).value


def write(adapter, examples: list[Example], decoding: Decoding) -> list[list[str]]:
    return [
        list(g.candidates)
        for g in adapter.generate(examples, decoding, range(len(examples)))
    ]


@pytest.fixture(scope="module")
def baseline(examples) -> tuple[float, float]:
    """CIDEr and TRM of captions of another scene: grammatical and wrong."""
    shuffled = Shuffled()
    shuffled.prepare(TaskView(examples, DRAWN))
    return judged(write(shuffled, examples, DRAWN), examples)


@pytest.mark.slow
def test_it_describes_unseen_scenes(examples, baseline, root, tmp_path):
    trainer = load_trainer("o2na")
    recipe = read_recipe(
        root / "tasks" / "harness_tasks" / "studies" / "recipes" / "o2na.yaml",
        trainer.recipe,
    )
    recipe = replace(recipe, **LESS)
    assert not {example.id for example in examples} & {
        scene for scene, _ in recipe.pairs()
    }

    started = time.process_time()
    trainer.train(recipe, tmp_path)
    seconds = time.process_time() - started

    adapter = resolve("adapters", {"o2na": {"checkpoint": str(tmp_path)}})
    drawn = write(adapter, examples, DRAWN)
    cider, trm = judged(drawn, examples)
    moved = judged([*drawn[1:], drawn[0]], examples)

    print(
        f"o2na: CIDEr {cider:.2f}, TRM {trm:.2f}; given to the next scene "
        f"{moved[0]:.2f}, {moved[1]:.2f}; "
        f"shuffled references {baseline[0]:.2f}, {baseline[1]:.2f}; "
        f"{seconds:.0f} s of training"
    )

    assert cider > 2 * max(baseline[0], moved[0])
    assert trm < min(baseline[1], moved[1]) - 0.3

    requested = write(adapter, examples, replace(DRAWN, options={"objects": ["wall"]}))
    assert all("wall" in text.split() for texts in requested for text in texts)
