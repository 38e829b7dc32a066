"""Test pairs of the reference game."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness_tasks.a3ds.scene import indices
from harness_tasks.a3ds.testsets import SETS, pairs, set_names


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("outside", ["free", "different"])
def test_pairs_share_the_features_of_their_set(name, outside):
    games = pairs(name, 400, seed=3, outside=outside)
    assert games.shape == (400, 2)
    same = indices(games[:, 0]) == indices(games[:, 1])
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
def test_pairs_depend_on_the_seed_and_are_nested(name, seed, count):
    assert (
        pairs(name, count, seed=seed) == pairs(name, count + 7, seed=seed)[:count]
    ).all()


def test_six_four_and_three_sets():
    assert [len(set_names(group)) for group in ("one", "two", "three")] == [6, 4, 3]
    assert set_names(["one/shape", "one/shape"]) == ["one/shape"]
    assert not np.array_equal(
        pairs("one/shape", 9, seed=1), pairs("one/shape", 9, seed=2)
    )


def test_unknown_names_and_options():
    with pytest.raises(InputError, match="did you mean 'one/shape'") as caught:
        set_names("one/shap")
    assert caught.value.parameter == "sets" and "did you mean 'one/shape'" in str(
        caught.value
    )
    with pytest.raises(InputError, match="unknown A3DS test set 'four'"):
        pairs("four")
    with pytest.raises(InputError, match="free or different"):
        pairs("one/shape", outside="same")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="count is 0"):
        pairs("one/shape", 0)
