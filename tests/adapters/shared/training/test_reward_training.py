"""Training by rewards: digits, resuming, errors, and every system that has it."""

from __future__ import annotations

import json

import pytest
import torch

from harness.cli.main import main
from harness.contracts import Decoding, Example
from harness.errors import HarnessError
from harness.registry import current
from harness_models.captioner.recipe import CaptionerRecipe
from harness_models.captioner.training import train as train_captioner
from harness_models.shared.training.recipe import load_trainer
from harness_models.shared.training.reward_training import (
    RewardRecipe,
    RewardTraining,
    train_by_reward,
)

SCENES = {
    "scenes": 24,
    "kind": "short",
    "samples": 4,
    "batch": 8,
    "learning_rate": 3e-3,
    "max_length": 14,
}
TINY = {
    "tvt": {
        "features": {"scenes": {"frames": 2}},
        "model": {
            "width": 32,
            "heads": 4,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "inner": 32,
        },
    },
    "clipcap": {
        "prefix_length": 2,
        "model": {
            "width": 32,
            "heads": 4,
            "layers": 1,
            "positions": 64,
            "vocabulary": 300,
        },
    },
}


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A captioner after a short training by cross-entropy."""
    folder = tmp_path_factory.mktemp("start")
    train_captioner(
        CaptionerRecipe(scenes=60, captions=6, kind="short", epochs=6, width=24), folder
    )
    return str(folder)


def rewarded(start, folder, **settings):
    rows = []
    values = {"reward": "ciderd", **SCENES, "epochs": 3, **settings}
    train_by_reward(
        "captioner",
        RewardRecipe(checkpoint=start, **values),
        folder,
        resume=folder.exists(),
        report=rows.append,
    )
    return rows


def test_the_reward_rises_and_the_captions_are_those_of_the_adapter(start, tmp_path):
    rows = rewarded(start, tmp_path / "run", epochs=6)
    assert rows[-1]["reward"] > rows[0]["reward"] and rows[0]["kl"] < rows[-1]["kl"]
    assert set(rows[0]) == {
        "epoch",
        "loss",
        "learning_rate",
        "reward",
        "credit",
        "kl",
        "distinct",
    }

    adapter = current().create(
        "adapters", "captioner", {"checkpoint": str(tmp_path / "run")}
    )
    (result,) = adapter.generate(
        [Example("7", ("x",), meta={"target_id": 7})],
        Decoding("sample", candidates=3),
        [0],
    )
    assert len(result.candidates) == 3

    settings = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (
        settings["rewarded"]["reward"] == "ciderd"
        and settings["architecture"] == "merge"
    )


def test_a_resumed_training_gives_the_digits_of_an_uninterrupted_one(start, tmp_path):
    rewarded(start, tmp_path / "whole", kl=0.1)
    rewarded(start, tmp_path / "resumed", kl=0.1, epochs=1)
    rewarded(start, tmp_path / "resumed", kl=0.1)
    for name in ("model.safetensors", "curve.jsonl"):
        assert (tmp_path / "whole" / name).read_bytes() == (
            tmp_path / "resumed" / name
        ).read_bytes()
    with pytest.raises(HarnessError, match="run of another recipe"):
        rewarded(start, tmp_path / "resumed", kl=0.2)


def test_the_random_state_of_the_caller_stays(start, tmp_path):
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    rewarded(start, tmp_path / "run", epochs=1)
    assert torch.equal(torch.rand(3), expected)


def test_scores_have_a_baseline_and_credits_have_none(start, tmp_path):
    recipe = RewardRecipe(
        checkpoint=start, reward={"ciderd": 1, "trm:distance=cider": -2}, **SCENES
    )
    training = RewardTraining("captioner", recipe, tmp_path, False)
    examples = training.examples[:2]
    groups = [list(example.references[:3]) for example in examples]
    names = [example.id for example in examples]

    scores, credits = (
        torch.from_numpy(values(names, groups))
        for values in (training.reward.scores, training.reward.credits)
    )
    expected = (
        torch.stack(
            [
                scores[:, i] - scores[:, [j for j in range(3) if j != i]].mean(1)
                for i in range(3)
            ],
            1,
        )
        + credits
    )

    assert torch.allclose(
        training.advantages(examples, [], groups).double(), expected, atol=1e-5
    )


def test_the_greedy_caption_is_a_baseline_of_scores(start, tmp_path):
    training = RewardTraining(
        "captioner",
        RewardRecipe(checkpoint=start, reward="ciderd", baseline="greedy", **SCENES),
        tmp_path,
        False,
    )
    examples = training.examples[:3]
    inputs = training.inputs[:3]
    _, greedy = training.draw(inputs, examples, torch.arange(3), greedy=True)
    advantages = training.advantages(
        examples, inputs, [[text, text] for text in greedy]
    )
    assert torch.equal(advantages, torch.zeros(3, 2))


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"samples": 1}, "the mean of the other samples is the baseline"),
        (
            {"samples": 1, "baseline": "greedy", "reward": "trm:distance=cider"},
            "scores sets of captions; give samples of at least 2",
        ),
        ({"reward": "cidre"}, "did you mean 'cider'"),
        ({"reward": "vendi:embedding=bow"}, "reads the captions alone"),
        ({"scenes": 0}, "give either captions"),
        ({"kl": -1.0}, "kl"),
    ],
)
def test_mistakes_are_one_line(start, tmp_path, settings, message):
    with pytest.raises(HarnessError, match=message) as caught:
        rewarded(start, tmp_path / "run", **settings)
    assert "\n" not in str(caught.value)


def test_the_command_takes_metrics_and_weights(start, tmp_path, capsys):
    options = [
        "--checkpoint",
        start,
        "--scenes",
        "8",
        "--kind",
        "short",
        "--samples",
        "3",
        "--epochs",
        "1",
        "--max-length",
        "12",
    ]

    reward = '{"ciderd": 1, "trm:distance=cider": -0.5}'
    assert (
        main(
            [
                "train",
                "captioner",
                "--reward",
                reward,
                *options,
                "--output",
                str(tmp_path / "run"),
            ]
        )
        == 0
    )

    printed = capsys.readouterr().out.splitlines()
    assert (
        printed[0].startswith("epoch   1   loss ")
        and " reward " in printed[0]
        and " credit " in printed[0]
        and printed[-1].endswith("model.safetensors")
    )

    assert main(["train", "captioner", "--reward", "ciderd", *options]) == 2
    assert "give --output DIR" in capsys.readouterr().err
    assert main(["train", "rnnlm", "--reward", "ciderd"]) == 2
    assert "'rnnlm' is not trained by rewards" in capsys.readouterr().err


def test_a_trained_model_continues_by_a_reward(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    recipe = {"scenes": 30, "captions": 4, "kind": "short", "epochs": "2", "width": 12}
    params = {
        "model": "captioner",
        "recipe": recipe,
        "reward": {"reward": "ciderd", **SCENES, "epochs": 1, "seed": "2"},
    }
    model = current().create("adapters", "trained", params)

    assert (
        model.fingerprint()
        != current()
        .create("adapters", "trained", {**params, "reward": None})
        .fingerprint()
    )
    assert {path.name for path in tmp_path.iterdir()} == {
        "trained-captioner",
        "rewarded-captioner",
    }

    with pytest.raises(
        HarnessError, match="give a recipe, or a reward with a checkpoint"
    ):
        current().create(
            "adapters",
            "trained",
            {"model": "captioner", "reward": {"reward": "ciderd", "scenes": 3}},
        )


@pytest.mark.slow
@pytest.mark.parametrize("system", ["tvt", "clipcap", "a3ds"])
@pytest.mark.parametrize("baseline", ["leave-one-out", "greedy"])
def test_every_captioner_is_trained_by_rewards(system, baseline, tmp_path):
    checkpoint = "baseline"
    if system in TINY:
        trainer = load_trainer(system)
        trainer.train(
            trainer.recipe(
                scenes=20, captions_each=4, epochs=2, batch=16, **TINY[system]
            ),
            tmp_path / "start",
        )
        checkpoint = str(tmp_path / "start")

    rows = []
    recipe = RewardRecipe(
        checkpoint=checkpoint,
        reward="ciderd",
        scenes=10,
        samples=3,
        batch=10,
        epochs=2,
        baseline=baseline,
        max_length=20,
    )

    train_by_reward(system, recipe, tmp_path / "run", report=rows.append)
    # Before the first update the policy is the start; the passes of both give equal
    # log-probabilities.
    assert rows[0]["kl"] == pytest.approx(0, abs=1e-4) and rows[1]["kl"] != 0
    before, after = (
        current().create("adapters", system, {"checkpoint": path})
        for path in (checkpoint, str(tmp_path / "run"))
    )

    example = Example("5", ("a red ball",), meta={"target_id": 5, "distractor_id": 9})
    scores = [
        next(iter(adapter.score_references([example])))[0].log_probs
        for adapter in (before, after)
    ]
    assert scores[0].shape == scores[1].shape and (scores[0] != scores[1]).any()


@pytest.mark.slow
@pytest.mark.parametrize("system", ["tvt", "clipcap"])
def test_forced_passes_with_gradient_equal_those_of_the_sampling_step(system, tmp_path):
    trainer = load_trainer(system)
    trainer.train(
        trainer.recipe(scenes=12, captions_each=3, epochs=1, batch=16, **TINY[system]),
        tmp_path / "start",
    )

    recipe = RewardRecipe(
        checkpoint=str(tmp_path / "start"),
        reward="ciderd",
        scenes=3,
        samples=2,
        max_length=8,
    )
    training = RewardTraining(system, recipe, tmp_path / "run", False)

    owner = torch.tensor([0, 0, 1, 2])
    tokens, _ = training.draw(training.inputs, training.examples, owner)
    training.policy.model.eval()
    log_probs = training.log_probs(
        training.policy, training.inputs, training.examples, owner, tokens
    )
    log_probs.sum().backward()

    gradients = [
        weight.grad
        for weight in training.policy.model.parameters()
        if weight.requires_grad
    ]
    assert all(
        gradient is not None and torch.isfinite(gradient).all()
        for gradient in gradients
    )
    assert any(gradient.abs().sum() > 0 for gradient in gradients)
