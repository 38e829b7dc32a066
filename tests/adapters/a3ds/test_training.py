"""Training: it learns, it resumes to the same weights, it says what is wrong."""

from __future__ import annotations

import argparse
import json
import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from harness.adapters.a3ds import train_cli
from harness.adapters.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes
from harness.adapters.a3ds.games import draw_games, similar_scenes
from harness.adapters.a3ds.losses import play, sample_messages, structural_loss
from harness.adapters.a3ds.training import TrainingPlan, train
from harness.adapters.a3ds.vocabulary import END, PAD, UNK
from harness.errors import HarnessError, InputError
from harness.tasks.a3ds.scene import indices

SMALL = {"images": 60, "captions": 4, "hidden": 32, "visual": 16, "embed": 8, "batch": 32}


def plan(folder, **change):
    return TrainingPlan(**{"stage": "baseline", "output": str(folder), "epochs": 2, **SMALL, **change})


@pytest.fixture
def baseline(one_hot, tmp_path):
    return train(plan(tmp_path / "base"))


def test_games_are_drawn_from_the_seed(one_hot):
    for pairing in ("random", "similar"):
        a, b = (draw_games(images=50, captions=3, pairing=pairing, source=one_hot, seed=4) for _ in range(2))
        assert (a.targets == b.targets).all()
        assert torch.equal(a.captions, b.captions)
        assert len(a.targets) == 150
        same = indices(a.images[a.targets]) == indices(a.images[a.distractors])
        assert not same.all(1).any()
        if pairing == "similar":
            assert (same.sum(1) >= 3).all()
    assert a.captions.shape == (150, 25)
    short = draw_games(images=50, captions=16, pairing="random", source=one_hot, seed=4, kind="short")
    assert not (short.captions == UNK).any()


def test_similar_scenes_share_three_factors_and_differ():
    targets = np.random.default_rng(0).integers(0, 480_000, 500)
    same = indices(targets) == indices(similar_scenes(targets, np.random.default_rng(1)))
    assert (same.sum(1) >= 3).all()
    assert not same.all(1).any()


def test_baseline_learns_and_writes_what_it_promises(one_hot, tmp_path):
    rows = []
    path = train(plan(tmp_path, epochs=4), report=rows.append)
    whole = [row["structural"] for row in rows if row.get("whole_epoch")]
    assert whole[-1] < whole[0] < math.log(47)
    assert [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()] == rows
    speaker = Speaker.load(path)
    assert speaker.meta["stage"] == "baseline"
    assert speaker.meta["features"] == one_hot.name
    assert (tmp_path / "epochs/004.speaker.safetensors").read_bytes() == path.read_bytes()


def test_stored_speaker_takes_features_as_they_come(one_hot, tmp_path):
    """Mean and deviation are folded in: unfolding them for the game gives back the same function."""
    path = train(plan(tmp_path / "base", epochs=1))
    from harness.adapters.a3ds.training import _Trainer

    games = draw_games(images=20, captions=1, pairing="random", source=one_hot, seed=9)
    trainer = _Trainer(plan(tmp_path / "rp", stage="rp", speaker=str(path)), games, one_hot.name, None)
    raw = games.table.float()[:6].reshape(3, 2, -1)
    with torch.no_grad():
        inside = trainer.speaker((raw - trainer.mean) / trainer.deviation, games.captions[:3, :-1])
        outside = Speaker.load(path)(raw, games.captions[:3, :-1])
        with trainer._folded():
            assert torch.allclose(trainer.speaker(raw, games.captions[:3, :-1]), outside, atol=1e-4)
    assert torch.allclose(inside, outside, atol=1e-4)


@pytest.mark.parametrize("stage", ["baseline", "rp", "sp"])
def test_a_resumed_run_gives_the_same_weights(one_hot, tmp_path, stage):
    start = {} if stage == "baseline" else {"speaker": str(train(plan(tmp_path / "b", epochs=1)))}
    whole = train(plan(tmp_path / "whole", stage=stage, epochs=2, **start))
    train(plan(tmp_path / "parts", stage=stage, epochs=1, **start))
    parts = train(plan(tmp_path / "parts", stage=stage, epochs=2, **start), resume=True)
    for key, value in load_file(whole).items():
        assert torch.equal(value, load_file(parts)[key]), key
    with pytest.raises(InputError, match="batch = 32, not 16"):
        train(plan(tmp_path / "parts", stage=stage, epochs=3, batch=16, **start), resume=True)


def test_the_game_trains_the_listener_and_leaves_its_word_vectors(one_hot, tmp_path, baseline):
    rows = []
    train(plan(tmp_path / "rp", stage="rp", speaker=str(baseline), epochs=1, images=150), report=rows.append)
    assert {"structural", "functional", "entropy", "accuracy", "listener", "length"} <= set(rows[-1])
    assert math.isfinite(rows[-1]["functional"])
    trained = Listener.load(tmp_path / "rp/listener.safetensors")
    torch.manual_seed(1)
    fresh = Listener(ListenerSizes(47, 8, 32, one_hot.width))
    assert torch.allclose(trained.rnn.embed.weight, fresh.rnn.embed.weight, atol=1e-3)  # float16 in the file
    assert not torch.allclose(trained.encoder.embed.bias, fresh.encoder.embed.bias, atol=1e-3)


def test_policy_gradient_is_the_formula():
    """The functional loss's gradient against REINFORCE written out for one sampled batch."""
    torch.manual_seed(0)
    speaker, listener = Speaker(SpeakerSizes(47, 4, 4, 6, 5)), Listener(ListenerSizes(47, 4, 6, 5))
    features, captions = torch.randn(6, 2, 5), torch.randint(4, 47, (6, 9))
    played = play(
        speaker,
        listener,
        features,
        captions,
        torch.Generator().manual_seed(3),
        structural_weight=0.0,
        entropy_weight=0.0,
    )
    played.speaker.backward()
    found = speaker.linear.bias.grad.clone()

    generator = torch.Generator().manual_seed(3)
    messages = sample_messages(speaker, features, 8, generator)
    choice = torch.multinomial(listener(features, messages).softmax(-1), 1, generator=generator)[:, 0]
    speaker.zero_grad()
    total = torch.zeros(())
    for row in range(6):
        ids = messages[row].tolist()
        ids = ids[: ids.index(END) + 1] if END in ids else ids
        logits = speaker(features[row : row + 1], torch.tensor([[0, *ids[:-1]]]))[0]
        own = logits.log_softmax(-1)[range(len(ids)), ids].mean()
        total = total - (1.0 if choice[row] == 0 else -1.0) * own / 6
    total.backward()
    assert torch.allclose(found, speaker.linear.bias.grad, atol=1e-5)


def test_samples_end_with_padding_and_own_samples_can_be_read():
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(47, 4, 4, 6, 5))
    with torch.no_grad():
        speaker.linear.bias[END] = 3.0
    own = sample_messages(speaker, torch.randn(20, 2, 5), 12, torch.Generator().manual_seed(0))
    for row in own.tolist():
        if END in row:
            assert set(row[row.index(END) + 1 :]) <= {PAD}
    loss = structural_loss(speaker, torch.randn(20, 2, 5), torch.randint(4, 47, (20, 13)), own)
    assert math.isfinite(loss.item())


def test_wrong_plans_are_told(one_hot, tmp_path):
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


def test_command_line(one_hot, tmp_path, capsys):
    parser = argparse.ArgumentParser()
    train_cli.add_arguments(parser)
    given = f"--stage baseline --images 20 --captions 2 --epochs 1 --batch 16 --output {tmp_path}"
    assert train_cli.run(parser.parse_args(given.split())) == 0
    found = capsys.readouterr()
    assert found.out.strip() == str(tmp_path / "speaker.safetensors")
    assert "epoch 1" in found.err
