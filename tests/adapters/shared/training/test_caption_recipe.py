"""Recipes of captioning models: captions of scenes and files, and values that are refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

from harness.errors import HarnessError
from harness_models.shared.training.caption_recipe import CaptionRecipe
from harness_tasks.a3ds.scene import captions


@dataclass(frozen=True, kw_only=True)
class Plain(CaptionRecipe):
    system: ClassVar[str] = "plain"
    sizes: ClassVar[dict[str, int]] = {"width": 8}


def test_scenes_are_the_default_features():
    recipe = Plain(scenes=7, captions_each=3, kind="short")
    assert recipe.source == {"scenes": {}}
    pairs = recipe.pairs()
    assert len(pairs) == 21
    assert len({scene for scene, _ in pairs}) == 7
    assert all(text in captions(int(scene), "short") for scene, text in pairs)
    assert recipe.pairs() == pairs
    assert Plain(scenes=7, captions_each=3, seed=2).pairs() != pairs


def test_captions_of_a_file(tmp_path):
    (tmp_path / "c.json").write_text(json.dumps({"a": ["one", "two"], "b": ["three"]}))
    recipe = Plain(captions=str(tmp_path / "c.json"), features="f.npz")
    assert recipe.pairs() == [("a", "one"), ("a", "two"), ("b", "three")]
    assert recipe.checkpoint_config(3) == {
        "features": "f.npz",
        "recipe": recipe.checkpoint_config(3)["recipe"],
        "epochs": 3,
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "plain: give either captions"),
        ({"captions": "c.json", "scenes": 3}, "plain: give either captions"),
        ({"captions": "c.json"}, "plain: features are missing"),
        ({"scenes": -1}, "plain: scenes is -1; expected a whole number of at least 0"),
        ({"scenes": 3, "epochs": 0}, "epochs is 0; expected a whole number of at least 1"),
        ({"scenes": 3, "batch": 2.5}, "batch is 2.5; expected a whole number of at least 1"),
        (
            {"scenes": 3, "learning_rate": "1e-3"},
            "learning_rate is '1e-3'; expected a number .in YAML write 1.0e-3, not 1e-3",
        ),
        ({"scenes": 3, "model": {"widht": 4}}, "unknown sizes widht; did you mean 'width'"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(values, message):
    with pytest.raises(HarnessError, match=message):
        Plain(**values)


def test_a_number_of_scenes_out_of_range_is_refused():
    with pytest.raises(HarnessError, match="from 1 to 480000; found 480001"):
        Plain(scenes=480_001).pairs()
