"""Pragmatic scores: the script's rows, the paper's formulas, and what has no number."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError, InputError
from harness.plugins.pragmatic import formulas
from harness.plugins.pragmatic.authors import looked_for
from harness.plugins.pragmatic.scores import evaluate
from harness.plugins.pragmatic.tagging import nouns_and_adjectives
from harness.tasks.a3ds.scene import N_SCENES, captions, scene_id

TARGET = scene_id([0, 1, 5, 7, 2, 0])  # giant cyan ball, red floor, orange wall, right corner


def row(prediction, target=TARGET, distractor=None, **change):
    if distractor is None:
        names = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
        values = dict(zip(names, [0, 1, 5, 7, 2, 0])) | change
        distractor = scene_id(values)
    return {"prediction": prediction, "target_id": target, "distractor_id": distractor}


def read_csv(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name, order_dependent", [("expected_rowwise", False), ("expected_original", True)])
def test_golden_rows_of_the_authors_script(golden, name, order_dependent):
    folder = golden / "a3ds_pragmatic"
    found = evaluate(read_csv(folder / "input.csv"), "authors-script", order_dependent=order_dependent)
    expected = read_csv(folder / f"{name}.csv")
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected):
        for column, value in theirs.items():
            if column == "prediction":
                assert ours[column] == value
            elif column:
                assert float(ours[column]) == float(value), (column, ours)


def test_golden_expressions_and_tags(golden):
    folder = golden / "a3ds_pragmatic"
    details = json.loads((folder / "details_rowwise.json").read_text())
    for given_row, detail in zip(read_csv(folder / "input.csv"), details):
        assert list(looked_for(int(given_row["target_id"])).expressions) == detail["target_expressions"]
        assert list(looked_for(int(given_row["distractor_id"])).expressions) == detail["distractor_expressions"]
        assert nouns_and_adjectives([given_row["prediction"]]) == [detail["spacy_tokens_NN_JJ"]]


def test_rows_on_which_the_script_stops_have_a_defined_result(golden):
    rows = read_csv(golden / "a3ds_pragmatic/input_z6_script_fails.csv")
    for mode in ("paper", "authors-script"):
        found = evaluate(rows, mode)
        assert np.isnan(found.columns["relevance"]).all()
        assert found.summary()["relevance"] == {
            "mean": pytest.approx(math.nan, nan_ok=True),
            "n": 0,
            "undefined": len(rows),
        }
        assert not np.isnan(found.columns["num_discriminative"]).any()
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
    names = ("discriminativity", "contrastive_efficiency", "relevance", "optimal_discriminativity")
    assert [best[n] for n in names] == [1, 1, 1, 1]
    assert [two[n] for n in names] == [1, 0, 1, 0]  # 1 - (2 - 1) / (2 - 1)
    assert [more[n] for n in names] == [1, 1 - 1 / 3, 0.5, 0]  # k = 4, c = 2
    assert [other[n] for n in names][0::2] == [0, 0.5]
    assert math.isnan(other["contrastive_efficiency"])
    assert (nothing["mentioned_features"], nothing["relevance"]) == (0, 1)
    assert math.isnan(nothing["contrastive_efficiency"])
    assert (false["false_features"], false["num_true"], false["discriminativity"]) == (1, 1, 0)


def test_a_contradiction_is_a_false_feature_and_credits_nothing():
    found = evaluate([row("a cyan ball is green", object_hue=3)])[0]
    assert (found["false_features"], found["is_object_hue"], found["discriminativity"]) == (1, 0, 0)


def test_target_equal_to_distractor_is_defined():
    found = evaluate([row(captions(TARGET)[0], distractor=TARGET)])[0]
    assert (found["num_different"], found["discriminativity"], found["optimal_discriminativity"]) == (0, 0, 0)
    assert (found["relevance"], math.isnan(found["contrastive_efficiency"])) == (0, True)


def test_words_shared_by_two_labels():
    target, distractor = scene_id([0, 1, 5, 7, 2, 6]), scene_id([0, 1, 5, 7, 2, 7])
    rows = [row("a ball in the middle", target, distractor)]
    assert evaluate(rows)[0]["discriminativity"] == 1
    assert evaluate(rows, differences="words")[0]["discriminativity"] == 0


def test_vague_words_are_true_of_both_and_not_contrastive():
    target, distractor = scene_id([0, 1, 6, 7, 2, 0]), scene_id([0, 1, 7, 7, 2, 0])
    vague, exact = evaluate([row("a blue ball", target, distractor), row("a medium blue ball", target, distractor)])
    assert (vague["discriminativity"], vague["num_true"], exact["discriminativity"]) == (0, 2, 1)


def test_several_distractors():
    rows = [
        {**row("the cyan one"), "distractor_id": [scene_id([0, 1, 3, 7, 2, 0]), scene_id([0, 1, 5, 0, 2, 0])]},
        {**row("the giant cyan one"), "distractor_id": [scene_id([0, 1, 3, 7, 2, 0]), scene_id([0, 1, 5, 0, 2, 0])]},
        {**row("the cyan one"), "distractor_id": [scene_id([0, 1, 3, 0, 2, 0])]},
    ]
    one, both, easy = evaluate(rows)
    assert (one["discriminativity"], math.isnan(one["contrastive_efficiency"])) == (0, True)
    assert (both["discriminativity"], both["contrastive_efficiency"], both["optimal_discriminativity"]) == (1, 1, 1)
    assert (easy["discriminativity"], easy["optimal_discriminativity"]) == (1, 1)
    with pytest.raises(InputError, match="one distractor"):
        evaluate(rows, "authors-script")


@given(st.integers(0, N_SCENES - 1), st.integers(0, N_SCENES - 1), st.integers(0, 19))
def test_exhaustive_captions_mention_all_and_only_the_truth(target, distractor, which):
    found = evaluate([row(captions(target)[which], target, distractor)])[0]
    z = found["num_different"]
    assert (found["num_true"], found["false_features"]) == (6, 0)
    assert found["num_discriminative"] == z
    if z:
        assert found["discriminativity"] == 1
        assert found["contrastive_efficiency"] == pytest.approx(1 - (z - 1) / 5)
    assert (math.isnan(found["relevance"])) if z == 6 else found["relevance"] == 0


@given(st.lists(st.integers(0, 6), min_size=3, max_size=3))
def test_formulas_stay_in_bounds(counts):
    c, extra, z = counts
    c = min(c, z)
    k = c + min(extra, 6 - z)
    for values in (
        formulas.contrastive_efficiency(np.array([c]), np.array([k])),
        formulas.relevance(np.array([c]), np.array([k]), np.array([z])),
    ):
        assert math.isnan(values[0]) or 0 <= values[0] <= 1


def test_features_needed_is_the_smallest_cover():
    differs = np.zeros((3, 2, 6), dtype=bool)
    differs[0, 0, 1] = differs[0, 1, 2] = True
    differs[1, :, 4] = True
    assert formulas.features_needed(differs).tolist() == [2, 1, 0]
    assert formulas.features_needed(differs[:, :1]).tolist() == [1, 1, 0]


def test_bad_rows_are_told_in_a_line():
    good = row("a ball", scale=0)
    for change, match in (
        ({"target_id": 480_000}, "row 1: .*from 0 to 479999"),
        ({"distractor_id": -1}, "row 1: .*from 0 to 479999"),
        ({"distractor_id": []}, "row 1: no distractor"),
        ({"prediction": None}, "row 1: 'prediction' is None, expected text"),
        ({"prediction": float("nan")}, "row 1: 'prediction' is nan"),
    ):
        for mode in ("paper", "authors-script"):
            with pytest.raises(InputError, match=match):
                evaluate([good, {**good, **change}], mode)
    with pytest.raises(HarnessError, match="unknown mode"):
        evaluate([good], "thesis")
    with pytest.raises(HarnessError, match="belongs to the mode"):
        evaluate([good], order_dependent=True)
    assert len(evaluate([])) == 0


def test_words_that_no_rule_knows_are_reported():
    found = evaluate([row("a zebra near the right corner")])
    assert found[0]["unread"] == ["zebra"]
    assert found.unread == {0: ("zebra",)}
