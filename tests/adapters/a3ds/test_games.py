"""Games for training."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness_models.a3ds.games import batches, draw_games, encode, similar_scenes
from harness_models.a3ds.losses import play, sample_messages, structural_loss
from harness_models.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes
from harness_models.a3ds.vocabulary import END, PAD, START, UNK
from harness_tasks.a3ds.scene import indices


def test_games_depend_on_the_seed_only(one_hot):
    for pairing in ("random", "similar"):
        a, b = (
            draw_games(images=50, captions=3, pairing=pairing, source=one_hot, seed=4)
            for _ in range(2)
        )
        assert (a.targets == b.targets).all()
        assert torch.equal(a.captions, b.captions)
        assert len(a.targets) == 150
        same = indices(a.images[a.targets]) == indices(a.images[a.distractors])
        assert not same.all(1).any()
        if pairing == "similar":
            assert (same.sum(1) >= 3).all()
    assert a.captions.shape == (150, 25)
    short = draw_games(
        images=50, captions=16, pairing="random", source=one_hot, seed=4, kind="short"
    )
    assert not (short.captions == UNK).any()


def test_similar_scenes_share_three_factors_and_differ():
    targets = np.random.default_rng(0).integers(0, 480_000, 500)
    same = indices(targets) == indices(
        similar_scenes(targets, np.random.default_rng(1))
    )
    assert (same.sum(1) >= 3).all()
    assert not same.all(1).any()


@given(st.lists(st.integers(0, 479_999), min_size=1, max_size=5), st.integers(0, 5))
def test_similar_scenes_share_the_requested_number_of_factors(targets, shared):
    scenes = similar_scenes(np.array(targets), np.random.default_rng(0), shared)
    same = indices(np.array(targets)) == indices(scenes)
    assert (same.sum(1) >= shared).all()
    assert not same.all(1).any()


def test_captions_are_padded_and_cut():
    tokens = encode(["a red ball", "a " * 40])
    assert tokens.shape == (2, 25)
    assert tokens[0].tolist() == [START, 4, 6, 29, END, *[PAD] * 20]
    assert tokens[1, -1] == END


def test_batches_hold_every_game_once(one_hot):
    games = draw_games(images=10, captions=2, pairing="random", source=one_hot, seed=1)
    parts = list(batches(games, 7, np.random.default_rng(0)))
    assert [len(features) for features, _ in parts] == [7, 7, 6]
    assert parts[0][0].shape == (7, 2, one_hot.width)
    rows = torch.cat([captions for _, captions in parts])
    assert sorted(map(tuple, rows.tolist())) == sorted(
        map(tuple, games.captions.tolist())
    )


def test_numbers_out_of_range_are_refused(one_hot):
    with pytest.raises(HarnessError, match="expected 2 to 480000"):
        draw_games(images=1, captions=1, pairing="random", source=one_hot, seed=1)
    with pytest.raises(
        HarnessError, match="21 exhaustive captions an image: expected 1 to 20"
    ):
        draw_games(images=2, captions=21, pairing="random", source=one_hot, seed=1)


def test_policy_gradient_equals_its_formula():
    """The gradient of the functional loss equals REINFORCE, computed game by game."""
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(47, 4, 4, 6, 5))
    listener = Listener(ListenerSizes(47, 4, 6, 5))
    features = torch.randn(6, 2, 5)
    captions = torch.randint(4, 47, (6, 9))
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
    gradient = speaker.linear.bias.grad.clone()

    generator = torch.Generator().manual_seed(3)
    messages = sample_messages(speaker, features, 8, generator)
    choice = torch.multinomial(
        listener(features, messages).softmax(-1), 1, generator=generator
    )[:, 0]
    speaker.zero_grad()
    total = torch.zeros(())
    for row in range(6):
        ids = messages[row].tolist()
        ids = ids[: ids.index(END) + 1] if END in ids else ids
        logits = speaker(features[row : row + 1], torch.tensor([[0, *ids[:-1]]]))[0]
        sample = logits.log_softmax(-1)[range(len(ids)), ids].mean()
        total = total - (1.0 if choice[row] == 0 else -1.0) * sample / 6
    total.backward()
    assert torch.allclose(gradient, speaker.linear.bias.grad, atol=1e-5)


def test_samples_end_with_padding_and_can_be_read():
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(47, 4, 4, 6, 5))
    with torch.no_grad():
        speaker.linear.bias[END] = 3.0
    sample = sample_messages(
        speaker, torch.randn(20, 2, 5), 12, torch.Generator().manual_seed(0)
    )
    for row in sample.tolist():
        if END in row:
            assert set(row[row.index(END) + 1 :]) <= {PAD}
    loss = structural_loss(
        speaker, torch.randn(20, 2, 5), torch.randint(4, 47, (20, 13)), sample
    )
    assert math.isfinite(loss.item())


def test_structural_loss_is_the_mean_over_all_slots():
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(47, 4, 4, 6, 5))
    features = torch.randn(3, 2, 5)
    captions = torch.randint(4, 47, (3, 6))
    log_probs = speaker(features, captions[:, :-1]).log_softmax(-1)
    expected = -log_probs.gather(-1, captions[:, 1:, None]).mean()
    assert structural_loss(speaker, features, captions, None).item() == pytest.approx(
        expected.item(), abs=1e-6
    )
