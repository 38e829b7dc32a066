"""ARB, NAB and NACF trained by their recipes on rendered scenes describe unseen scenes
better than captions of other scenes do.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import harness
import harness_tasks
from harness.contracts import Decoding, Example
from harness.registry import resolve
from harness_models.nacf.adapter import NacfAdapter
from harness_models.nacf.training import NacfRecipe, train
from harness_models.shared.training.recipe import read_recipe
from harness_tasks.a3ds.grammar import captions

FOLDER = Path(harness_tasks.__file__).parent / "studies"
pytestmark = pytest.mark.slow
LESS = {"kind": "short", "scenes": 200, "captions_each": 9, "epochs": 6}
"""Fewer data than the recipes name (600 scenes, exhaustive captions, 10 epochs)."""


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    """Sixty scenes with their 27 short captions."""
    scenes = np.random.default_rng(9).choice(480_000, 60, replace=False).tolist()
    return [Example(str(scene), tuple(captions(scene, "short"))) for scene in scenes]


@pytest.mark.parametrize("method", ["arb", "nab", "nacf"])
def test_it_describes_unseen_scenes(method, examples, tmp_path):
    recipe = replace(
        read_recipe(FOLDER / "recipes" / f"{method}.yaml", NacfRecipe), **LESS
    )
    assert not {example.id for example in examples} & {
        scene for scene, _ in recipe.pairs()
    }
    train(recipe, tmp_path)
    generated = NacfAdapter(checkpoint=str(tmp_path)).generate(
        examples, Decoding("sample", candidates=5), range(len(examples))
    )
    drawn = [list(g.candidates) for g in generated]
    references = [list(example.references) for example in examples]
    cider = harness.metric("cider")
    trm = harness.metric("trm", distance="cider")
    moved = [*drawn[1:], drawn[0]]
    assert cider(drawn, references).value > 2 * cider(moved, references).value
    assert trm(drawn, references).value < trm(moved, references).value - 0.3


def test_no_scene_of_the_task_is_in_a_recipe():
    task = yaml.safe_load((FOLDER / "nacf-trained-here.yaml").read_text())
    shown = {
        int(example.meta["target_id"])
        for example in resolve(
            "readers", {task["dataset"].pop("reader"): task["dataset"]}
        )
    }
    recipes = [
        params["trained"]["recipe"] for params in task["models"] if params != "shuffled"
    ]
    assert len(recipes) == 3
    for name in recipes:
        assert not shown & {
            int(scene) for scene, _ in read_recipe(FOLDER / name, NacfRecipe).pairs()
        }
