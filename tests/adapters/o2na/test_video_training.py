"""Losses of training on videos, and goals of the length predictor."""

from __future__ import annotations

import pytest

from harness_models.o2na.training import O2naRecipe, O2naTraining
from tests.support.toy_videos import toy_recipe, toy_videos


def test_length_goals_are_shares_of_the_captions_of_a_video(tmp_path):
    toy_videos(tmp_path)
    session = O2naTraining(
        O2naRecipe(**toy_recipe(tmp_path, epochs=1)), tmp_path / "run", False
    )
    assert session.length_goals[0].tolist() == pytest.approx([0, 0, 0, 0.5, 0, 0.5, 0])
