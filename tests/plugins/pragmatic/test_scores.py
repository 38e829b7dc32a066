"""giant cyan ball, red floor, orange wall, right corner."""

from __future__ import annotations

import csv
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError, InputError
from harness_metrics.pragmatic.scores import evaluate
from harness_tasks.a3ds.grammar import captions
from harness_tasks.a3ds.scene import N_SCENES, scene_id

# giant cyan ball, red floor, orange wall, right corner
TARGET = scene_id([0, 1, 5, 7, 2, 0])


def row(prediction, target=TARGET, distractor=None, **change):
    if distractor is None:
        names = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
        values = dict(zip(names, [0, 1, 5, 7, 2, 0])) | change
        distractor = scene_id(values)
    return {"prediction": prediction, "target_id": target, "distractor_id": distractor}


def read_csv(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "name, order_dependent", [("expected_rowwise", False), ("expected_original", True)]
)
def test_golden_rows_of_the_authors_script(golden, name, order_dependent):
    folder = golden / "a3ds_pragmatic"
    scores = evaluate(
        read_csv(folder / "input.csv"),
        "authors-script",
        order_dependent=order_dependent,
    )
    expected = read_csv(folder / f"{name}.csv")
    assert len(scores) == len(expected)
    for ours, theirs in zip(scores, expected):
        for column, value in theirs.items():
            if column == "prediction":
                assert ours[column] == value
            elif column:
                assert float(ours[column]) == float(value), (column, ours)


def test_rows_on_which_the_script_fails_have_a_result(golden):
    rows = read_csv(golden / "a3ds_pragmatic/input_z6_script_fails.csv")
    for mode in ("paper", "authors-script"):
        scores = evaluate(rows, mode)
        assert np.isnan(scores.columns["relevance"]).all()
        assert scores.summary()["relevance"] == {
            "mean": pytest.approx(math.nan, nan_ok=True),
            "n": 0,
            "undefined": len(rows),
        }
        assert not np.isnan(scores.columns["num_discriminative"]).any()
    assert evaluate([row("")], "authors-script")[0]["num_mentioned_features"] == 0


def test_paper_scores_of_small_cases():
    both = {"object_hue": 3, "scale": 0}  # z = 2
    best, two, more, other, nothing, false = evaluate(
        [
            row("it is cyan", **both),
            row("giant cyan thing", **both),
            row("a giant cyan ball on red floor", **both),
            row("a ball on red floor", **both),
            row("look at that", **both),
            row("a green ball", **both),
        ]
    )
    names = (
        "discriminativity",
        "contrastive_efficiency",
        "relevance",
        "optimal_discriminativity",
    )

    assert [best[n] for n in names] == [1, 1, 1, 1]
    assert [two[n] for n in names] == [1, 0, 1, 0]  # 1 - (2 - 1) / (2 - 1)
    assert [more[n] for n in names] == [1, 1 - 1 / 3, 0.5, 0]  # k = 4, c = 2
    assert [other[n] for n in names][0::2] == [0, 0.5]
    assert math.isnan(other["contrastive_efficiency"])
    assert (nothing["mentioned_features"], nothing["relevance"]) == (0, 1)
    assert math.isnan(nothing["contrastive_efficiency"])
    assert (false["false_features"], false["num_true"]) == (1, 1)
    assert false["discriminativity"] == 0


def test_a_contradiction_is_a_false_feature_and_no_true_one():
    scores = evaluate([row("a cyan ball is green", object_hue=3)])[0]
    assert (
        scores["false_features"],
        scores["is_object_hue"],
        scores["discriminativity"],
    ) == (1, 0, 0)
    scores = evaluate([row("on a red floor and a green floor", object_hue=3)])[0]
    assert (scores["false_features"], scores["mentioned_features"]) == (1, 1)


def test_target_equal_to_distractor_is_defined():
    scores = evaluate([row(captions(TARGET)[0], distractor=TARGET)])[0]
    assert (
        scores["num_different"],
        scores["discriminativity"],
        scores["optimal_discriminativity"],
    ) == (0, 0, 0)
    assert (scores["relevance"], math.isnan(scores["contrastive_efficiency"])) == (
        0,
        True,
    )


def test_words_shared_by_two_labels():
    target = scene_id([0, 1, 5, 7, 2, 6])
    distractor = scene_id([0, 1, 5, 7, 2, 7])
    rows = [row("a ball in the middle", target, distractor)]
    assert evaluate(rows)[0]["discriminativity"] == 1
    assert evaluate(rows, differences="words")[0]["discriminativity"] == 0


def test_vague_words_are_true_of_both_and_not_contrastive():
    target = scene_id([0, 1, 6, 7, 2, 0])
    distractor = scene_id([0, 1, 7, 7, 2, 0])
    vague, exact = evaluate(
        [
            row("a blue ball", target, distractor),
            row("a medium blue ball", target, distractor),
        ]
    )
    assert (
        vague["discriminativity"],
        vague["num_true"],
        exact["discriminativity"],
    ) == (0, 2, 1)


def test_several_distractors():
    two = [scene_id([0, 1, 3, 7, 2, 0]), scene_id([0, 1, 5, 0, 2, 0])]
    rows = [
        {**row("the cyan one"), "distractor_id": two},
        {**row("the giant cyan one"), "distractor_id": two},
        {**row("the cyan one"), "distractor_id": [scene_id([0, 1, 3, 0, 2, 0])]},
    ]
    one, both, easy = evaluate(rows)

    # one feature excludes one of the two distractors
    assert one["discriminativity"] == 0
    assert math.isnan(one["contrastive_efficiency"])
    assert both["discriminativity"] == both["optimal_discriminativity"] == 1
    assert both["contrastive_efficiency"] == 1
    assert (easy["discriminativity"], easy["optimal_discriminativity"]) == (1, 1)

    with pytest.raises(InputError, match="one distractor"):
        evaluate(rows, "authors-script")


@given(st.integers(0, N_SCENES - 1), st.integers(0, N_SCENES - 1), st.integers(0, 19))
def test_exhaustive_captions_mention_all_and_only_the_truth(target, distractor, which):
    scores = evaluate([row(captions(target)[which], target, distractor)])[0]
    z = scores["num_different"]
    assert (scores["num_true"], scores["false_features"]) == (6, 0)
    assert scores["num_discriminative"] == z
    if z:
        assert scores["discriminativity"] == 1
        assert scores["contrastive_efficiency"] == pytest.approx(1 - (z - 1) / 5)
    assert (math.isnan(scores["relevance"])) if z == 6 else scores["relevance"] == 0


def test_unknown_words_are_reported():
    scores = evaluate([row("a zebra near the right corner")])
    assert scores[0]["unread"] == ["zebra"]
    assert scores.unread == {0: ("zebra",)}


def test_unknown_options():
    options: dict[str, Any] = {
        "mode": "thesis",
        "differences": "angles",
        "order_dependent": True,
    }
    for parameter, value in options.items():
        with pytest.raises(HarnessError, match=parameter) as caught:
            evaluate([row("a ball", scale=0)], **{parameter: value})
        assert caught.value.parameter == parameter


def test_scores_are_a_sequence_of_rows():
    scores = evaluate([row("a cyan ball", object_hue=3), row("a ball", object_hue=3)])
    assert [item["discriminativity"] for item in scores] == [1.0, 0.0]
    assert (
        scores[-1]["prediction"]
        == scores[1:][0]["prediction"]
        == list(scores)[1]["prediction"]
        == "a ball"
    )
    assert scores.summary()["contrastive_efficiency"] == {
        "mean": 1.0,
        "n": 1,
        "undefined": 1,
    }
