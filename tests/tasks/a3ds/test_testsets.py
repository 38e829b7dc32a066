"""Test pairs: what they share, what they may not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.tasks.a3ds.scene import indices
from harness.tasks.a3ds.testsets import SETS, pairs, set_names
from harness.tasks.readers.a3ds import ReferenceGames


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("outside", ["free", "different"])
def test_pairs_share_what_their_set_says(name, outside):
    found = pairs(name, 400, seed=3, outside=outside)
    assert found.shape == (400, 2)
    same = indices(found[:, 0]) == indices(found[:, 1])
    assert not same.all(1).any()  # never target = distractor
    shared = SETS[name]
    if isinstance(shared, tuple):
        assert same[:, list(shared)].all()
        count = len(shared)
    else:
        assert (same.sum(1) >= shared).all()
        count = shared
    if outside == "different":
        assert (same.sum(1) == count).all()
    else:
        assert same.sum() > count * 400


@given(st.sampled_from(list(SETS)), st.integers(0, 5), st.integers(1, 3000))
def test_pairs_follow_from_the_seed_and_nest(name, seed, count):
    assert (pairs(name, count, seed=seed) == pairs(name, count + 7, seed=seed)[:count]).all()


def test_six_four_and_three_sets():
    assert [len(set_names(group)) for group in ("one", "two", "three")] == [6, 4, 3]
    assert set_names(["one/shape", "one/shape"]) == ["one/shape"]
    assert not np.array_equal(pairs("one/shape", 9, seed=1), pairs("one/shape", 9, seed=2))


def test_reader_gives_games_with_references():
    games = list(ReferenceGames(sets=["one/shape", "three"], pairs=2, references="both"))
    assert [g.id for g in games][:3] == ["one/shape/00000", "three/object/00000", "three/background/00000"]
    assert {len(g.references) for g in games} == {47}
    assert games[0].meta["group"] == "one"
    assert {"target_id", "distractor_id", "category"} <= set(games[0].meta)
    assert len(next(iter(ReferenceGames(pairs=1))).references) == 20
    assert len(next(iter(ReferenceGames(pairs=1, references="short"))).references) == 27
    assert ReferenceGames(pairs=1).fingerprint() != ReferenceGames(pairs=1, seed=1).fingerprint()


def test_wrong_names_are_told():
    with pytest.raises(HarnessError, match="did you mean 'one/shape'"):
        ReferenceGames(sets="one/shap")
    with pytest.raises(HarnessError, match="exhaustive, short or both"):
        ReferenceGames(references="long")  # type: ignore[arg-type]
    with pytest.raises(HarnessError, match="free or different"):
        ReferenceGames(outside="same")  # type: ignore[arg-type]
    with pytest.raises(HarnessError, match="at least 1"):
        ReferenceGames(pairs=0)
