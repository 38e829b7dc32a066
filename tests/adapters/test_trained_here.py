"""Every architecture that is defined here, trained by its shipped recipe on rendered scenes: on scenes that it never saw, what it says
of a scene must beat what it says of another. ``-s`` prints the figures that the cards quote."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.adapters.shared.training.recipe import load_trainer, read_recipe
from harness.contracts import Decoding, Example
from harness.registry import resolve
from harness.tasks.a3ds.render import render
from harness.tasks.a3ds.scene import captions

EPOCHS = 5
"""Of the eight that the recipes say: four minutes for all are enough for a test."""
TRAINED = ("clipcap", "clipcap-transformer", "vlp", "tvt", "tvt-attentive")


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    """Forty scenes with their twenty exhaustive captions; the geometries that all models see are rendered here."""
    render(range(480))
    scenes = np.random.default_rng(9).choice(480_000, 40, replace=False).tolist()
    return [Example(str(scene), tuple(captions(scene))) for scene in scenes]


def beats_shuffled(adapter, examples: list[Example]) -> dict[str, tuple[float, float]]:
    """(its own, shuffled) CIDEr of the greedy caption and TRM of ten samples; shuffled: the same captions given to the next scene."""
    seeds = list(range(len(examples)))
    best = [list(g.candidates) for g in adapter.generate(examples, Decoding("greedy"), seeds)]
    drawn = [list(g.candidates) for g in adapter.generate(examples, Decoding("sample", candidates=10), seeds)]
    references = [list(example.references) for example in examples]
    cider, trm = harness.metric("cider"), harness.metric("trm", distance="cider")
    found = {
        "cider": (cider(best, references).value, cider([*best[1:], best[0]], references).value),
        "trm": (trm(drawn, references).value, trm([*drawn[1:], drawn[0]], references).value),
    }
    assert found["cider"][0] > 3 * found["cider"][1]
    assert found["trm"][0] < found["trm"][1] - 0.1
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
def test_it_describes_unseen_scenes(name: str, examples: list[Example], root: Path, tmp_path: Path):
    system = name.partition("-")[0]
    made = load_trainer(system)
    recipe = read_recipe(root / "tasks" / "studies" / "recipes" / f"{name}.yaml", made.recipe)
    started = time.process_time()
    recipe = replace(recipe, epochs=min(recipe.epochs, EPOCHS))
    made.train(recipe, tmp_path)
    seconds = time.process_time() - started
    assert not {example.id for example in examples} & {scene for scene, _ in recipe.pairs()}
    found = beats_shuffled(resolve("adapters", {system: {"checkpoint": str(tmp_path)}}), examples)
    told = ", ".join(f"{metric} {own:.3f} (shuffled {other:.3f})" for metric, (own, other) in found.items())
    print(f"\n{name}: {told}; trained in {seconds:.0f} s")
