"""Recipes of the captioner."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.files.yaml_source import Located
from harness_models.captioner.recipe import CaptionerRecipe
from harness_models.shared.training.recipe import recipe_from


def test_stages_of_a_recipe():
    # 5 steps an epoch
    base = {"scenes": 40, "captions": 2, "batch": 16, "held_out": 0.0, "epochs": 4}
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
        ({"scenes": 1}, "scenes is 1; expected a whole number of at least 2"),
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
