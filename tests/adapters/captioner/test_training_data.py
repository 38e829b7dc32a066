"""Training data of the captioner."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness_models.captioner.model import END
from harness_models.captioner.recipe import CaptionerRecipe
from harness_models.captioner.training_data import training_data

SMALL = {
    "scenes": 40,
    "captions": 2,
    "kind": "short",
    "epochs": 4,
    "width": 12,
    "batch": 16,
    "save_at": [3, 8],
}


def test_scenes_are_held_out_and_rare_words_are_unknown():
    recipe = CaptionerRecipe(**{**SMALL, "held_out": 0.25})
    data = training_data(recipe)
    assert len(data.held_out) == 20 and len(data.captions) == 60
    assert {row for row, _ in data.held_out} == set(range(10))
    assert all(ids[-1] == END and END not in ids[:-1] for _, ids in data.captions)
    rare = training_data(CaptionerRecipe(**{**SMALL, "min_count": 10}))
    assert 0 < len(rare.words) < len(data.words)
    assert any(1 in ids for _, ids in rare.captions)


def test_scenes_have_a_limited_number_of_captions():
    with pytest.raises(HarnessError, match="captions is 28; a scene has 27 short ones"):
        training_data(CaptionerRecipe(scenes=3, captions=28, kind="short"))
