"""Training of the agents: learning, resuming, invalid plans."""

from __future__ import annotations

import json
import math

import pytest
import torch
from safetensors.torch import load_file

from harness.errors import HarnessError, InputError
from harness_models.a3ds.games import draw_games
from harness_models.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes
from harness_models.a3ds.training import TrainingPlan, train

SMALL = {
    "images": 60,
    "captions": 4,
    "hidden": 32,
    "visual": 16,
    "embed": 8,
    "batch": 32,
}


def plan(folder, **change):
    return TrainingPlan(
        **{"stage": "baseline", "output": str(folder), "epochs": 2, **SMALL, **change}
    )


@pytest.fixture
def baseline(one_hot, tmp_path):
    return train(plan(tmp_path / "base"))


def test_the_baseline_learns_and_writes_its_files(one_hot, tmp_path):
    rows = []
    path = train(plan(tmp_path, epochs=4), report=rows.append)
    whole = [row["structural"] for row in rows if row.get("whole_epoch")]
    assert whole[-1] < whole[0] < math.log(47)
    assert [
        json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()
    ] == rows
    speaker = Speaker.load(path)
    assert speaker.meta["stage"] == "baseline"
    assert speaker.meta["features"] == one_hot.name
    assert (
        tmp_path / "epochs/004.speaker.safetensors"
    ).read_bytes() == path.read_bytes()


def test_the_saved_speaker_takes_unstandardised_features(one_hot, tmp_path):
    """The game continues with the same function,
    although it standardises the features.
    """
    path = train(plan(tmp_path / "base", epochs=1))
    from harness_models.a3ds.training import _A3dsTraining

    games = draw_games(images=20, captions=1, pairing="random", source=one_hot, seed=9)
    trainer = _A3dsTraining(
        plan(tmp_path / "rp", stage="rp", speaker=str(path)), games, one_hot.name, None
    )
    raw = games.table.float()[:6].reshape(3, 2, -1)
    with torch.no_grad():
        inside = trainer.speaker(
            (raw - trainer.mean) / trainer.deviation, games.captions[:3, :-1]
        )
        outside = Speaker.load(path)(raw, games.captions[:3, :-1])
        with trainer._fold_features():
            assert torch.allclose(
                trainer.speaker(raw, games.captions[:3, :-1]), outside, atol=1e-4
            )
    assert torch.allclose(inside, outside, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["baseline", "rp", "sp"])
def test_a_resumed_run_gives_the_same_weights(one_hot, tmp_path, stage):
    start = (
        {}
        if stage == "baseline"
        else {"speaker": str(train(plan(tmp_path / "b", epochs=1)))}
    )
    whole = train(plan(tmp_path / "whole", stage=stage, epochs=2, **start))
    train(plan(tmp_path / "parts", stage=stage, epochs=1, **start))
    parts = train(plan(tmp_path / "parts", stage=stage, epochs=2, **start), resume=True)
    for key, value in load_file(whole).items():
        assert torch.equal(value, load_file(parts)[key]), key
    with pytest.raises(InputError, match="batch = 32, not 16"):
        train(
            plan(tmp_path / "parts", stage=stage, epochs=3, batch=16, **start),
            resume=True,
        )


@pytest.mark.slow
def test_the_game_trains_the_listener_and_leaves_its_word_vectors(
    one_hot, tmp_path, baseline
):
    rows = []
    train(
        plan(tmp_path / "rp", stage="rp", speaker=str(baseline), epochs=1, images=150),
        report=rows.append,
    )

    assert {
        "structural",
        "functional",
        "entropy",
        "accuracy",
        "listener",
        "length",
    } <= set(rows[-1])
    assert math.isfinite(rows[-1]["functional"])

    trained = Listener.load(tmp_path / "rp/listener.safetensors")
    torch.manual_seed(1)
    fresh = Listener(ListenerSizes(47, 8, 32, one_hot.width))
    # float16 in the file
    assert torch.allclose(trained.rnn.embed.weight, fresh.rnn.embed.weight, atol=1e-3)
    assert not torch.allclose(
        trained.encoder.embed.bias, fresh.encoder.embed.bias, atol=1e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["baseline", "rp"])
def test_bfloat16_trains_nearly_the_same(one_hot, tmp_path, baseline, stage):
    rows = {}
    for bfloat16 in (False, True):
        change = {"stage": stage, "epochs": 1, "images": 100, "bfloat16": bfloat16}
        if stage == "rp":
            change["speaker"] = str(baseline)
        curve = []
        path = train(plan(tmp_path / str(bfloat16), **change), report=curve.append)
        rows[bfloat16] = curve[-1]
        assert all(value.dtype == torch.float16 for value in load_file(path).values())
    assert rows[True]["structural"] == pytest.approx(
        rows[False]["structural"], rel=0.02
    )


def test_invalid_plans_are_refused(one_hot, tmp_path):
    for change, match in (
        ({"images": 1}, "expected 2 to 480000"),
        ({"captions": 21}, "expected 1 to 20"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"stage": "xp"}, "expected baseline, rp or sp"),
        ({"structural": 1.5}, r"must lie in \[0, 1\]"),
        ({"stage": "rp", "speaker": str(tmp_path / "none")}, "no such checkpoint"),
    ):
        with pytest.raises(HarnessError, match=match):
            train(plan(tmp_path / "x", **change))
    Speaker(SpeakerSizes(47, 4, 4, 6, 5)).save(tmp_path / "s.safetensors")
    with pytest.raises(InputError, match="takes 5 features an image"):
        train(plan(tmp_path / "x", stage="rp", speaker=str(tmp_path / "s.safetensors")))
