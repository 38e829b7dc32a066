"""The studies of models trained here: their scenes are held out, and their recipes are
ones that the trainers take.
"""

from __future__ import annotations

import pytest
import yaml

from harness.spec.loading import load_specs
from harness_models.captioner.recipe import CaptionerRecipe
from harness_models.shared.training.recipe import load_trainer, read_recipe

STUDIES = (
    "trained-here",
    "nacf-trained-here",
    "temperature-sweep",
    "search-techniques",
    "beam-against-nucleus",
)


def trained(component):
    """Every ``trained`` and ``captioner`` that a model of a spec holds,
    as (name, parameters).
    """
    name, params = (
        next(iter(component.items()))
        if isinstance(component, dict)
        else (component, {})
    )
    if name == "with-decoding":
        yield from trained(params["model"])
    elif name in ("trained", "captioner"):
        yield name, params


@pytest.mark.parametrize("study", STUDIES)
def test_no_scene_of_a_study_is_in_a_recipe(study, root):
    import numpy as np

    from harness_tasks.a3ds.scene import N_SCENES

    (loaded,) = load_specs(
        root / "tasks" / "harness_tasks" / "studies" / f"{study}.yaml"
    )
    from harness.registry import current

    reader = current().create(
        "readers", loaded.spec.dataset.reader, loaded.spec.dataset.params
    )

    shown = {int(example.meta["target_id"]) for example in reader}
    found = [item for component in loaded.spec.models for item in trained(component)]
    assert found

    for name, params in found:
        if name == "captioner":
            recipe = CaptionerRecipe(**params["train"])
            seen = set(
                np.random.default_rng([recipe.seed, 0])
                .choice(N_SCENES, recipe.scenes, replace=False)
                .tolist()
            )
        else:
            kind = load_trainer(params.get("trainer", params["model"])).recipe
            seen = {
                int(scene) for scene, _ in read_recipe(params["recipe"], kind).pairs()
            }
        assert not shown & seen, params


def test_every_recipe_is_taken_and_used(root):
    folder = root / "tasks" / "harness_tasks" / "studies" / "recipes"
    used = set()
    for study in STUDIES:
        text = (
            root / "tasks" / "harness_tasks" / "studies" / f"{study}.yaml"
        ).read_text()
        (loaded,) = load_specs(
            root / "tasks" / "harness_tasks" / "studies" / f"{study}.yaml"
        )
        assert yaml.safe_load(text)["references"] == 20
        for component in loaded.spec.models:
            used |= {
                params["recipe"].rpartition("/")[2]
                for name, params in trained(component)
                if name == "trained"
            }
    assert {path.name for path in folder.glob("*.yaml")} <= used
