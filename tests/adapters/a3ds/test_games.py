"""Games for training."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness_models.a3ds.games import batches, draw_games, encode, similar_scenes
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
