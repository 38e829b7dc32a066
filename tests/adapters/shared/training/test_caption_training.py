"""Order of the steps of a captioner's training."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from harness.errors import HarnessError
from harness_models.shared.training.caption_training import (
    CaptionRecipe,
    CaptionTraining,
)
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_tasks.a3ds.grammar import captions


@dataclass(frozen=True, kw_only=True)
class Plain(CaptionRecipe):
    system: ClassVar[str] = "plain"
    sizes: ClassVar[dict[str, int]] = {"width": 8}


def test_scenes_are_the_default_features():
    recipe = Plain(scenes=7, captions_each=3, kind="short")
    assert recipe.source == {"scenes": {}}
    pairs = recipe.pairs()
    assert len(pairs) == 21
    assert len({scene for scene, _ in pairs}) == 7
    assert all(text in captions(int(scene), "short") for scene, text in pairs)
    assert recipe.pairs() == pairs
    assert Plain(scenes=7, captions_each=3, seed=2).pairs() != pairs


def test_captions_of_a_file(tmp_path):
    (tmp_path / "c.json").write_text(json.dumps({"a": ["one", "two"], "b": ["three"]}))
    recipe = Plain(captions=str(tmp_path / "c.json"), features="f.npz")
    assert recipe.pairs() == [("a", "one"), ("a", "two"), ("b", "three")]
    assert recipe.checkpoint_config(3) == {
        "features": "f.npz",
        "recipe": recipe.checkpoint_config(3)["recipe"],
        "epochs": 3,
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "plain: give either captions"),
        ({"captions": "c.json", "scenes": 3}, "plain: give either captions"),
        ({"captions": "c.json"}, "plain: features are missing"),
        ({"scenes": -1}, "plain: scenes is -1; expected a whole number of at least 0"),
        (
            {"scenes": 3, "epochs": 0},
            "epochs is 0; expected a whole number of at least 1",
        ),
        (
            {"scenes": 3, "batch": 2.5},
            "batch is 2.5; expected a whole number of at least 1",
        ),
        (
            {"scenes": 3, "learning_rate": "1e-3"},
            "learning_rate is '1e-3'; expected a number .in YAML write 1.0e-3, "
            "not 1e-3",
        ),
        (
            {"scenes": 3, "model": {"widht": 4}},
            "unknown sizes widht; did you mean 'width'",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused(values, message):
    with pytest.raises(HarnessError, match=message):
        Plain(**values)


def test_a_number_of_scenes_out_of_range_is_refused():
    with pytest.raises(HarnessError, match="from 1 to 480000; found 480001"):
        Plain(scenes=480_001).pairs()


@dataclass(frozen=True, kw_only=True)
class ToyRecipe(CaptionRecipe):
    system: ClassVar[str] = "toy"


class ToyTraining(CaptionTraining):
    """A number per caption that learns the length of the caption."""

    seed_word = "toy"

    def read_data(self):
        self.goals = torch.tensor([float(len(text)) for _, text in self.pairs])

    def build(self):
        return torch.nn.Linear(1, 1)

    def batch_loss(self, batch):
        return (
            (self.model(torch.ones(len(batch), 1))[:, 0] - self.goals[list(batch)]) ** 2
        ).mean(), len(batch)

    def settings(self):
        return {"names": [example.id for example in self.examples]}

    def write_vocabulary(self):
        (self.folder / "vocabulary").touch()


@pytest.fixture
def recipe(tmp_path):
    (tmp_path / "c.json").write_text(json.dumps({"b": ["xx", "yyy"], "a": ["z"]}))
    return ToyRecipe(captions=str(tmp_path / "c.json"), features="f", epochs=2)


def test_a_training_writes_weights_settings_and_vocabulary(recipe, tmp_path):
    rows = []
    path = ToyTraining.train(recipe, tmp_path / "run", report=rows.append)
    assert [row["epoch"] for row in rows] == [1, 2]
    assert rows[1]["loss"] < rows[0]["loss"]
    settings = load_checkpoint(path.parent).settings
    assert settings["names"] == ["b", "a"]
    assert settings["epochs"] == 2
    assert settings["recipe"]["captions"] == recipe.captions


def test_weights_depend_on_the_recipe_and_the_random_state_of_the_caller_stays(
    recipe, tmp_path
):
    states = []
    weights = []
    for name in "ab":
        torch.manual_seed(ord(name))
        before = torch.get_rng_state()
        training = ToyTraining(recipe, tmp_path / name, resume=False)
        states.append(torch.equal(before, torch.get_rng_state()))
        weights.append(training.model.weight.item())
    assert all(states)
    assert weights[0] == weights[1]


def test_a_refused_training_writes_no_vocabulary(recipe, tmp_path):
    ToyTraining.train(recipe, tmp_path / "run")
    (tmp_path / "run" / "vocabulary").unlink()
    with pytest.raises(HarnessError, match="holds a run already"):
        ToyTraining.train(recipe, tmp_path / "run")
    assert not (tmp_path / "run" / "vocabulary").exists()
