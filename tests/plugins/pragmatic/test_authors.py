"""The authors' evaluation script."""

from __future__ import annotations

import csv
import json

import pytest

from harness.errors import InputError
from harness_metrics.pragmatic.authors import evaluate_script, expressions_of
from harness_metrics.pragmatic.rows import check_rows
from harness_tasks.a3ds.scene import scene_id

TARGET = scene_id([0, 1, 5, 7, 2, 0])
OTHER = scene_id([0, 1, 3, 7, 2, 0])


def test_golden_expressions(golden):
    folder = golden / "a3ds_pragmatic"
    details = json.loads((folder / "details_rowwise.json").read_text())
    with (folder / "input.csv").open() as file:
        rows = list(csv.DictReader(file))
    for item, detail in zip(rows, details):
        assert (
            list(expressions_of(int(item["target_id"])).expressions)
            == detail["target_expressions"]
        )
        assert (
            list(expressions_of(int(item["distractor_id"])).expressions)
            == detail["distractor_expressions"]
        )


def test_hues_of_several_parts_need_their_noun():
    target = expressions_of(scene_id([1, 1, 2, 4, 2, 3]))
    assert target.expressions[:3] == ("orange floor", "orange wall", "yellow")
    assert target.shape == "ball"


def script(*games, **params):
    rows = [
        {"prediction": text, "target_id": target, "distractor_id": other}
        for text, target, other in games
    ]
    return evaluate_script(check_rows(rows), **params)


def test_false_words_that_are_true_of_the_distractor_are_counted():
    columns = script(("a green ball", TARGET, OTHER), ("a purple ball", TARGET, OTHER))
    assert columns["num_false"].tolist() == [1, 1]
    assert columns["num_false_true_of_dist"].tolist() == [1, 0]


def test_the_object_hue_flag_is_reset_unless_order_dependent():
    games = (("a cyan ball", TARGET, OTHER), ("a ball", TARGET, OTHER))
    assert script(*games)["is_object_hue"].tolist() == [1, 0]
    assert script(*games, order_dependent=True)["is_object_hue"].tolist() == [1, 1]


def test_several_distractors_are_refused():
    with pytest.raises(InputError, match="one distractor per row"):
        script(("a ball", TARGET, [OTHER, 0]))
