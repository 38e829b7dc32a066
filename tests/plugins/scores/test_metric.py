"""Scores of other programs as a metric: found by id and caption, by system,
or in a column of the judgments.
"""

import json

import numpy as np
import pytest

import harness
from harness import api
from harness.contracts import CaptionSet
from harness.errors import InputError
from harness.run import score as scoring
from harness_metrics.scores.metric import Scores

SETS = [
    CaptionSet("1", ("a  dog",), ("r",)),
    CaptionSet("2", ("a cat",), ("r",)),
    CaptionSet("2", ("no cat",), ("r",)),
]
ROWS = [
    {"image_id": 1, "caption": "a dog", "score": 0.5},
    {"image_id": 2, "caption": "a cat", "score": "1e-3"},
    {"image_id": 2, "caption": "no cat", "score": None},
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def values(metric, sets=SETS):
    (result,) = scoring.score_sets([metric], sets)
    return result.per_example(metric)


def test_scores_by_id_and_caption(tmp_path):
    metric = Scores(path=write(tmp_path / "fleur.jsonl", ROWS), name="FLEUR")
    np.testing.assert_array_equal(values(metric), [0.5, 0.001, np.nan])
    assert metric.spec.name == "FLEUR" and metric.signature().startswith(
        "scores|FLEUR|file:"
    )
    assert Scores(path=write(tmp_path / "polos.jsonl", ROWS)).spec.name == "polos"
    objects = {
        str(k): {"caption": row["caption"], "score": k}
        for k, row in enumerate(ROWS[:2], 1)
    }
    (tmp_path / "o.json").write_text(json.dumps(objects, indent=1))
    np.testing.assert_array_equal(
        values(Scores(path=str(tmp_path / "o.json")), SETS[:2]), [1, 2]
    )


def test_a_submission_to_a_shared_task(tmp_path):
    path = tmp_path / "BERTScore_0.3-refA.seg.score"
    path.write_text("a\t0.5\na\t0.75\nb\t-1\nb\tNone\n")
    metric = Scores(path=str(path))
    sets = [
        CaptionSet(
            f"{k}/{system}", (f"{k}",), (), None, None, {"item": k, "system": system}
        )
        for system in "ab"
        for k in "12"
    ]
    np.testing.assert_array_equal(values(metric, sets), [0.5, 0.75, -1, np.nan])
    assert metric.spec.name == "BERTScore_0.3-refA"


def test_scores_of_a_call(tmp_path):
    path = write(tmp_path / "s.jsonl", ROWS)
    result = api.score(
        {"1": ["a dog"], "2": ["a cat"]},
        {"1": ["r"], "2": ["r"]},
        [{"scores": {"path": path, "name": "mine"}}],
    )
    assert result["mine"].per_example.tolist() == [0.5, 0.001]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (ROWS[:2], {}, "no score of the caption 'no cat' of '2'$"),
        (
            [{**row, "image_id": "x"} for row in ROWS],
            {},
            "of '1'; ids there are such as 'x'",
        ),
        (
            [*ROWS, {**ROWS[0], "score": 3}],
            {},
            "s.jsonl:4: 'a dog' of '1' has the scores 0.5 and 3",
        ),
        (
            [{**ROWS[0], "score": "good"}],
            {},
            "s.jsonl:1: the score is 'good'; expected a number",
        ),
        (
            ROWS,
            {"column": "scor"},
            "no column of the score .scor.; the record has image_id, caption, score",
        ),
        ([], {}, "s.jsonl: holds no scores"),
        ([{"caption": "a", "score": 1}], {}, "no column of the id"),
        ([{"id": "1", "score": 1}], {}, "no column of the caption or system"),
    ],
)
def test_mistakes_are_one_line(tmp_path, rows, options, message):
    with pytest.raises(InputError, match=message):
        values(Scores(path=write(tmp_path / "s.jsonl", rows), **options))


def test_a_file_or_a_column_is_needed(tmp_path):
    with pytest.raises(InputError, match="needs a file .* or a column"):
        Scores()
    with pytest.raises(InputError, match="no such file of scores"):
        Scores(path=str(tmp_path / "none.jsonl"))


def judged(tmp_path, **more):
    rows = [
        {
            "id": str(k),
            "system": system,
            "caption": "a dog",
            "human_score": 2 * k + shift,
            "references": ["r"],
            "gpt": k + 0.1 * shift,
        }
        for k in range(4)
        for shift, system in enumerate(("s", "t"))
    ]
    task = {
        "task": "t",
        "judgments": {"form": "captions", "path": write(tmp_path / "j.jsonl", rows)},
        "statistics": ["pearson"],
        **more,
    }
    return {
        r.metric: r for r in harness.evaluate(task, output=tmp_path / "run").records
    }


def test_columns_and_files_stand_in_the_league(tmp_path):
    """Both captions of an item have one text; a column and a system tell them apart."""
    wmt = [
        {"seg_id": k, "system": system, "score": 2 * k + shift}
        for k in range(4)
        for shift, system in enumerate(("s", "t"))
    ]
    file = write(tmp_path / "wmt.jsonl", wmt)
    metrics = [
        {"scores": {"column": "gpt"}},
        {"scores": {"path": file, "higher_is_better": False}},
    ]
    league = judged(tmp_path, metrics=metrics)
    assert league["wmt"].value == pytest.approx(-1.0)
    assert league["wmt"].higher_is_better is False

    k = np.repeat(np.arange(4), 2)
    shift = np.tile([0, 1], 4)
    assert league["gpt"].value == pytest.approx(
        np.corrcoef(k + 0.1 * shift, 2 * k + shift)[0, 1], abs=1e-12
    )
    assert league["gpt"].details["against"]["wmt"]["perm_input"] <= 1
    assert league["gpt"].n == 8


def test_a_column_that_no_caption_has(tmp_path):
    with pytest.raises(
        InputError, match="no caption has a column 'gtp'; did you mean 'gpt'"
    ):
        judged(tmp_path, metrics=[{"scores": {"column": "gtp"}}])


def test_examples_of_one_shape_without_any_score_are_undefined():
    """Captions of one shape are a batch of their own: where the column is there and
    empty, they have no score.
    """
    sets = [
        CaptionSet(str(k), ("a",), ("r",), meta={"gpt": score})
        for k, score in enumerate((None, None, 0.5))
    ]
    metric = Scores(column="gpt")
    assert np.isnan(metric._read_meta(sets[:2])).all() and metric._read_meta(
        sets[2:]
    ).tolist() == [0.5]


def test_outputs_of_capevalkit_have_scores_by_id(tmp_path):
    rows = [{"id": row["image_id"], "caption": row["caption"]} for row in ROWS[:2]]
    predictions = write(tmp_path / "p.jsonl", rows)
    own = {"Polos": {"score": 0.3, "per_item": {"1": 0.5, "2": 0.1}}}
    (tmp_path / "polos.json").write_text(json.dumps(own))
    path = str(tmp_path / "polos.json")
    metric = Scores(path=path, predictions=predictions)
    np.testing.assert_array_equal(values(metric, SETS[:2]), [0.5, 0.1])
    # Another caption of an id has no score.
    with pytest.raises(InputError, match="no score of the caption 'no cat' of '2'"):
        values(metric)
    with pytest.raises(InputError, match="no captions: set predictions to the file"):
        values(Scores(path=path), SETS[:2])

    per_item = {key: {"CLIPScore": 0.7, "RefCLIPScore": 0.8} for key in "12"}
    shared = {"CLIPScore": 0.7, "RefCLIPScore": 0.8, "per_item": per_item}
    (tmp_path / "clip.json").write_text(json.dumps(shared))
    path = str(tmp_path / "clip.json")
    metric = Scores(path=path, predictions=predictions, column="RefCLIPScore")
    np.testing.assert_array_equal(values(metric, SETS[:2]), [0.8, 0.8])
    with pytest.raises(InputError, match=r"several scores: set column .*CLIPScore"):
        values(Scores(path=path, predictions=predictions), SETS[:2])


def test_scores_by_id_alone_take_the_captions_of_predictions(tmp_path):
    rows = [{"id": row["image_id"], "caption": row["caption"]} for row in ROWS[:2]]
    predictions = write(tmp_path / "p.jsonl", rows)
    scores = [{"id": "1", "score": 0.5}, {"id": "2", "score": 0.1}, {"id": "3"}]
    path = write(tmp_path / "polos.jsonl", [*scores[:2], {"id": "9", "score": 7}])
    metric = Scores(path=path, predictions=predictions)
    np.testing.assert_array_equal(values(metric, SETS[:2]), [0.5, 0.1])
    with pytest.raises(InputError, match="no score of the caption 'no cat' of '2'"):
        values(metric)
    with pytest.raises(InputError, match="caption or system, and no file of predicti"):
        values(Scores(path=path), SETS[:2])
    with pytest.raises(InputError, match="no column of the score"):
        values(Scores(path=write(tmp_path / "q.jsonl", scores[2:])), SETS[:2])


def test_a_benchmark_of_capevalkit_has_the_captions(tmp_path):
    items = {
        str(row["image_id"]): {"score": 0.25, "caption": row["caption"]}
        for row in ROWS[:2]
    }
    output = {
        "score_name": "Polos",
        "raw_metric_output": {"Polos": {"score": 0.25, "per_item": items}},
    }
    (tmp_path / "polos.json").write_text(json.dumps(output))
    metric = Scores(path=str(tmp_path / "polos.json"))
    np.testing.assert_array_equal(values(metric, SETS[:2]), [0.25, 0.25])
