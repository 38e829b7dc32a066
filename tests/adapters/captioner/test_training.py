"""Training of the captioner: repetition, interruption, stages."""

from __future__ import annotations

import json

import pytest
import torch

from harness.errors import HarnessError, InputError
from harness_models.captioner.model import ARCHITECTURES, Captioner
from harness_models.captioner.recipe import CaptionerRecipe
from harness_models.captioner.training import caption_loss, stage_folder, train

SMALL = {
    "scenes": 40,
    "captions": 2,
    "kind": "short",
    "epochs": 4,
    "width": 12,
    "batch": 16,
    "save_at": [3, 8],
}


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_training_learns_and_is_deterministic(architecture, tmp_path):
    recipe = CaptionerRecipe(
        **{
            **SMALL,
            "architecture": architecture,
            "learning_rate": 0.02,
            "held_out": 0.1,
        }
    )

    for name in ("a", "b"):
        train(recipe, tmp_path / name)
    rows = [
        json.loads(line)
        for line in (tmp_path / "a" / "curve.jsonl").read_text().splitlines()
    ]

    stages = [row for row in rows if "stage" in row]
    assert [row["step"] for row in stages] == list(recipe.stages)
    assert stages[-1]["perplexity"] < 0.5 * stages[0]["perplexity"]

    for stage in range(1, len(recipe.stages) + 1):
        one, two = (
            stage_folder(tmp_path / name, stage) / "model.safetensors"
            for name in ("a", "b")
        )
        assert one.read_bytes() == two.read_bytes()


def test_an_interrupted_training_ends_with_the_same_weights_and_curve(tmp_path):
    recipe = CaptionerRecipe(**SMALL)
    last = train(recipe, tmp_path / "whole")

    def interrupt(row):
        if row.get("stage") == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(recipe, tmp_path / "cut", report=interrupt)
    with pytest.raises(HarnessError, match="or resume it"):
        train(recipe, tmp_path / "cut")
    again = train(recipe, tmp_path / "cut", resume=True)
    assert again.name == last.name
    for name in ("model.safetensors", "config.json"):
        assert (again / name).read_bytes() == (last / name).read_bytes()
    assert (tmp_path / "cut" / "curve.jsonl").read_text() == (
        tmp_path / "whole" / "curve.jsonl"
    ).read_text()
    with pytest.raises(InputError, match="the run has width = 12, not 13"):
        train(CaptionerRecipe(**{**SMALL, "width": 13}), tmp_path / "cut", resume=True)


def test_more_epochs_continue_from_the_last_stage(tmp_path):
    recipe = {key: value for key, value in SMALL.items() if key != "save_at"}
    train(CaptionerRecipe(**{**recipe, "epochs": 2}), tmp_path / "a")
    on = train(CaptionerRecipe(**recipe), tmp_path / "a", resume=True)
    whole = train(CaptionerRecipe(**recipe), tmp_path / "b")
    assert (on / "model.safetensors").read_bytes() == (
        whole / "model.safetensors"
    ).read_bytes()


def test_the_loss_is_the_mean_over_tokens_without_padding():
    torch.manual_seed(0)
    model = Captioner(("a", "b"), "par", 3, 4)
    features = torch.randn(2, 3)
    batch = [(0, (2, 3, 0)), (1, (3, 0))]
    loss, count = caption_loss(model, features, batch)
    total = 0.0
    for row, ids in batch:
        tokens = torch.tensor([ids])
        log_probs = model(features[row : row + 1], tokens).log_softmax(-1)
        total -= log_probs.gather(-1, tokens[..., None]).sum().item()
    assert count == 5
    assert loss.item() == pytest.approx(total / 5, abs=1e-5)
