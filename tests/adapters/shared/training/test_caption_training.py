"""Order of the steps of a captioner's training."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from harness.errors import HarnessError
from harness_models.shared.training.caption_recipe import CaptionRecipe
from harness_models.shared.training.caption_training import CaptionTraining
from harness_models.shared.weights.checkpoints import load_checkpoint


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
        return ((self.model(torch.ones(len(batch), 1))[:, 0] - self.goals[list(batch)]) ** 2).mean(), len(batch)

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


def test_weights_depend_on_the_recipe_and_the_random_state_of_the_caller_stays(recipe, tmp_path):
    states, weights = [], []
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
