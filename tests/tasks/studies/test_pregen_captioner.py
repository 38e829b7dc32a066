"""The pre-gen study with trained captioners, at a size that takes seconds."""

import json

import numpy as np
import pytest
import yaml

import harness
from harness.decisions.correlate.correlate import choose, stratified_runs, study
from harness_models.captioner.recipe import CaptionerRecipe
from harness_tasks.a3ds.scene import N_SCENES
from harness_tasks.readers.generated import ReferenceGames

SPEC = "tasks/harness_tasks/studies/pregen-captioner.yaml"


@pytest.fixture(scope="module")
def spec(root):
    text = (root / SPEC).read_text().replace("${CAPTIONS:-exhaustive}", "exhaustive")
    return yaml.safe_load(text)


def test_four_architectures_at_every_stage_of_one_training_each(spec):
    made = [model["captioner"] for model in spec["models"]]
    recipes = {CaptionerRecipe(**params["train"]) for params in made}
    assert sorted(recipe.architecture for recipe in recipes) == [
        "init",
        "merge",
        "par",
        "pre",
    ]
    assert (
        len({(p["train"]["architecture"], p["stage"]) for p in made})
        == len(made)
        == 4 * 8
    )
    assert all(len(recipe.stages) == 8 for recipe in recipes)
    assert all(p["label"] == f"{p['train']['architecture']} {p['stage']}" for p in made)


def test_no_scene_of_the_test_set_is_trained_on(spec):
    train = spec["models"][0]["captioner"]["train"]
    # as recipe.material draws them
    trained = np.random.default_rng([0, 0]).choice(
        N_SCENES, train["scenes"], replace=False
    )
    dataset = {key: value for key, value in spec["dataset"].items() if key != "reader"}
    tested = {game.meta["target_id"] for game in ReferenceGames(**dataset)}
    assert len(tested) == 240 and not tested & set(trained.tolist())


@pytest.mark.slow
def test_it_runs_small_and_its_metrics_correlate(
    spec, tmp_path, tmp_path_factory, monkeypatch
):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    small = {
        "scenes": 60,
        "captions": 4,
        "epochs": 15,
        "width": 16,
        "learning_rate": 0.02,
        "save_at": [5, 40],
        "kind": "short",
    }

    models = [
        {
            "captioner": {
                "label": f"{name} {stage}",
                "stage": stage,
                "train": {**small, "architecture": name},
            }
        }
        for name in ("init", "merge")
        for stage in (1, 2, 3)
    ]
    dataset = {**spec["dataset"], "pairs": 4, "references": "short"}

    file = tmp_path / "small.yaml"
    file.write_text(
        json.dumps(
            {
                **spec,
                "models": models,
                "dataset": dataset,
                "metrics": ["cider", {"pregen": {"all": True}}],
            }
        )
    )

    done = harness.evaluate(file, output=tmp_path / "run")
    found = {}
    for row in done.results:
        found.setdefault(row["model"], {})[row["metric"]] = row["value"]

    for name in ("init", "merge"):
        assert found[f"{name} 3"]["cider"] > found[f"{name} 1"]["cider"]
        assert (
            found[f"{name} 3"]["pregen(geomean_join_pplx_none)"]
            < found[f"{name} 1"]["pregen(geomean_join_pplx_none)"]
        )

    table = stratified_runs([tmp_path / "run"], 2, "cider")
    assert len(table) == 6 * 3
    result = study(table, choose(table, "pregen"), choose(table, "cider"))
    record = result.record("pregen(mean_max_normcount_prefix0)", "cider")
    assert record["n"] == 18 and record["r"] > 0.3
