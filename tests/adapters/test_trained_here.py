"""Every architecture, trained by its recipe on rendered scenes, describes unseen scenes
better than captions of other scenes do.

``pytest -s`` prints the figures that the cards quote.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.contracts import Decoding, Example
from harness.registry import resolve
from harness_models.shared.training.recipe import load_trainer, read_recipe
from harness_tasks.a3ds.grammar import captions
from harness_tasks.a3ds.render import render

EPOCHS = 5
"""Epochs of training, of the eight of the recipes;
all models together take four minutes.
"""
TRAINED = ("clipcap", "clipcap-transformer", "vlp", "tvt", "tvt-attentive")


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    """Return forty scenes with their twenty exhaustive captions; the shared geometries
    are rendered before the models run.
    """
    render(range(480))
    scenes = np.random.default_rng(9).choice(480_000, 40, replace=False).tolist()
    return [Example(str(scene), tuple(captions(scene))) for scene in scenes]


def beats_shuffled(adapter, examples: list[Example]) -> dict[str, tuple[float, float]]:
    """Return CIDEr of the greedy caption and TRM of ten samples, each for the model and
    for captions shifted to the next scene.
    """
    seeds = list(range(len(examples)))
    best = [
        list(g.candidates)
        for g in adapter.generate(examples, Decoding("greedy"), seeds)
    ]
    samples = [
        list(g.candidates)
        for g in adapter.generate(examples, Decoding("sample", candidates=10), seeds)
    ]

    references = [list(example.references) for example in examples]
    cider = harness.metric("cider")
    trm = harness.metric("trm", distance="cider")

    scores = {
        "cider": (
            cider(best, references).value,
            cider([*best[1:], best[0]], references).value,
        ),
        "trm": (
            trm(samples, references).value,
            trm([*samples[1:], samples[0]], references).value,
        ),
    }

    assert scores["cider"][0] > 3 * scores["cider"][1]
    assert scores["trm"][0] < scores["trm"][1] - 0.1
    return scores


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
def test_a_trained_model_describes_unseen_scenes(
    name: str, examples: list[Example], root: Path, tmp_path: Path
):
    system = name.partition("-")[0]
    trainer = load_trainer(system)
    recipe = read_recipe(
        root / "tasks" / "harness_tasks" / "studies" / "recipes" / f"{name}.yaml",
        trainer.recipe,
    )
    started = time.process_time()
    recipe = replace(recipe, epochs=min(recipe.epochs, EPOCHS))
    trainer.train(recipe, tmp_path)
    seconds = time.process_time() - started
    assert not {example.id for example in examples} & {
        scene for scene, _ in recipe.pairs()
    }
    scores = beats_shuffled(
        resolve("adapters", {system: {"checkpoint": str(tmp_path)}}), examples
    )
    figures = ", ".join(
        f"{metric} {value:.3f} (shuffled {other:.3f})"
        for metric, (value, other) in scores.items()
    )
    print(f"\n{name}: {figures}; trained in {seconds:.0f} s")
