"""Recipes of the captioner."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.files.yaml_source import Located
from harness_models.captioner.image_features import image_features
from harness_models.captioner.model import END
from harness_models.captioner.recipe import CaptionerRecipe
from harness_models.captioner.training_data import training_data
from harness_models.shared.training.recipe import recipe_from
from harness_tasks.a3ds.scene import SIZES, indices

SCENES = (5, 123_456, 479_999)
SMALL = {
    "images": 40,
    "captions": 2,
    "kind": "short",
    "epochs": 4,
    "width": 12,
    "batch": 16,
    "save_at": [3, 8],
}


def test_stages_of_a_recipe():
    # 5 steps an epoch
    base = {"images": 40, "captions": 2, "batch": 16, "held_out": 0.0, "epochs": 4}
    assert CaptionerRecipe(**base).stages == (5, 10, 15, 20)
    assert CaptionerRecipe(**base, save_every=8).stages == (8, 16, 20)
    assert CaptionerRecipe(**base, save_at=(1, 4, 99)).stages == (1, 4, 20)


def test_the_key_depends_on_every_setting():
    keys = {
        CaptionerRecipe().key(),
        CaptionerRecipe(seed=1).key(),
        CaptionerRecipe(save_at=(3,)).key(),
    }
    assert len(keys) == 3
    assert (
        CaptionerRecipe(save_at=(3,)).key()
        == recipe_from(Located({"save_at": [3]}), CaptionerRecipe).key()
    )


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"images": 1}, "images is 1; expected a whole number of at least 2"),
        ({"epochs": True}, "epochs is True"),
        ({"kind": "long"}, "kind is 'long'; expected exhaustive or short"),
        (
            {"held_out": 1.0},
            "held_out is 1.0; expected a number of at least 0 and below 1",
        ),
        ({"save_at": [5, 3]}, "expected rising numbers of steps"),
        ({"save_at": [0]}, "expected a list of whole numbers of at least 1"),
        ({"save_at": [5], "save_every": 3}, "save_every or save_at, not both"),
        ({"epoch": 3}, "no parameter 'epoch'; did you mean 'epochs'"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(HarnessError, match=message):
        recipe_from(Located(settings), CaptionerRecipe)


def test_factor_features():
    one_hot = image_features("factors").features(SCENES)
    assert one_hot.shape == (3, 57) and (one_hot.sum(1) == 6).all()
    assert len({row.tobytes() for row in one_hot}) == 3
    assert image_features("values").features([0, 479_999]).tolist() == [
        [0.0] * 6,
        [1.0] * 6,
    ]
    with pytest.raises(HarnessError, match="unknown image features 'efficientnet'"):
        image_features("efficientnet")


@given(st.lists(st.integers(0, 479_999), min_size=1, max_size=4))
def test_one_hot_features_encode_the_factors(scenes):
    one_hot = image_features("factors").features(scenes)
    ends = np.cumsum(SIZES)
    parts = np.split(one_hot, ends[:-1], axis=1)
    assert (
        np.stack([part.argmax(1) for part in parts], axis=1) == indices(scenes)
    ).all()
    values = image_features("values").features(scenes)
    assert values.min() >= 0
    assert values.max() <= 1


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
        training_data(CaptionerRecipe(images=3, captions=28, kind="short"))
