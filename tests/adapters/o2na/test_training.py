"""Training of O2NA on artificial videos."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import pytest
import torch
import yaml

from harness.errors import HarnessError
from harness_models.o2na import training
from harness_models.o2na.training import O2naRecipe, O2naTraining, train
from harness_models.shared.weights.checkpoints import load_checkpoint
from tests.support.toy_videos import toy_recipe, toy_videos


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    return folder, toy_videos(folder)


@pytest.mark.slow
def test_a_resumed_run_equals_an_uninterrupted_one(data, tmp_path):
    recipe = O2naRecipe(**toy_recipe(data[0], epochs=2))
    train(recipe, tmp_path / "once")
    train(replace(recipe, epochs=1), tmp_path / "twice")
    train(recipe, tmp_path / "twice", resume=True)
    one, two = (load_checkpoint(tmp_path / name).tensors for name in ("once", "twice"))
    assert all(torch.equal(one[key], two[key]) for key in one)


def test_invalid_recipes_are_refused(data, tmp_path):
    folder, _ = data
    for number, (params, message) in enumerate(
        (
            (
                {"objects": ["pil"]},
                "o2na: objects: no caption has the word 'pil'; did you mean 'pill'",
            ),
            ({"objects": ["pill", "pill"]}, "o2na: objects: expected different words"),
            (
                {"objects": str(folder / "none.json")},
                "none.json: no such list of object words",
            ),
            ({"least_objects": 1000}, "o2na: the captions contain no object words"),
        )
    ):
        with pytest.raises(HarnessError, match=message):
            train(O2naRecipe(**toy_recipe(folder, **params)), tmp_path / str(number))
    with pytest.raises(HarnessError, match="hide_objects is 1; expected a number"):
        O2naRecipe(**toy_recipe(folder, hide_objects=1))


def test_object_words_can_come_from_a_file(data, tmp_path):
    (tmp_path / "objects.json").write_text(json.dumps(["pill", "ball"]))
    recipe = O2naRecipe(
        **toy_recipe(data[0], objects=str(tmp_path / "objects.json"), epochs=1)
    )
    session = O2naTraining(recipe, tmp_path / "run", False)
    assert [session.words.words[i] for i in session.model.object_predictor.words] == [
        "pill",
        "ball",
    ]


def test_the_command_trains_from_yaml(data, tmp_path, capsys):
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(toy_recipe(data[0], epochs=1)))
    parser = argparse.ArgumentParser()
    training.add_arguments(parser)
    assert (
        training.run(
            parser.parse_args(
                [str(tmp_path / "r.yaml"), "--output", str(tmp_path / "out")]
            )
        )
        == 0
    )
    assert "epoch   1   loss" in capsys.readouterr().out
    assert load_checkpoint(tmp_path / "out").settings["method"] == "O2NA"
