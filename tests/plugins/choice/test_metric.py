"""The metric ``choice``: columns, intervals, refused parameters,
and a run from a file of token scores.
"""

import json

import numpy as np
import pytest

import harness
from harness.contracts import HasTokenIntervals, TokenScoreMetric, TokenScores
from harness.errors import HarnessError, InputError
from harness.registry.torchvision_guard import guard_torchvision
from harness_metrics.choice.metric import Choice


def choice_scores(*rows):
    return [
        [
            TokenScores(np.array(values, dtype=float), np.zeros(len(values), int))
            for values in row
        ]
        for row in rows
    ]


PLAIN = choice_scores(([-1, -1], [-3]), ([-4], [-1, -1]), ([-1], [-2], [-3]))


def test_columns_of_plain_choices():
    metric = Choice()
    assert isinstance(metric, TokenScoreMetric)
    assert isinstance(metric, HasTokenIntervals)
    values = metric.evaluate_scores(PLAIN)
    assert values == pytest.approx(
        {
            "accuracy": 2 / 3,
            "chance": (0.5 + 0.5 + 1 / 3) / 3,
            "shortest": (0 + 1 + 1 / 3) / 3,
        }
    )
    assert metric.per_example(PLAIN)["accuracy"].tolist() == [1.0, 0.0, 1.0]
    assert (
        Choice(score="mean").evaluate_scores(choice_scores(([-1, -1, -1], [-2])))[
            "accuracy"
        ]
        == 1.0
    )


def test_columns_of_groups():
    metric = Choice(group=2)
    both = choice_scores(([-1], [-2]), ([-1], [-2]))
    # own captions win; caption 1 is more probable for image 0
    text = choice_scores(([-1], [-2]), ([-3], [-4]))
    values = metric.evaluate_scores([*both, *text])
    assert (values["accuracy"], values["text"], values["image"], values["group"]) == (
        1.0,
        1.0,
        0.5,
        0.5,
    )
    assert metric.per_example([*both, *text])["accuracy"].shape == (4,)


def test_a_model_that_ignores_the_image_gains_nothing_and_passes_no_group():
    # each example, then its companion
    blind = choice_scores(([-1], [-2]), ([-1], [-2]), ([-2], [-1]), ([-2], [-1]))
    values = Choice(blind=True).evaluate_scores(blind)
    assert (
        values["accuracy"],
        values["blind accuracy"],
        values["gain"],
        values["debiased accuracy"],
    ) == (0.5, 0.5, 0.0, 0.0)
    assert (
        Choice(group=2).evaluate_scores(choice_scores(([-1], [-2]), ([-2], [-1])))[
            "group"
        ]
        == 0.0
    )
    assert Choice(blind=True).per_example(blind) == {}


def test_the_debiased_score_removes_the_preference_for_a_text():
    # the image makes the first caption more probable, not enough to win
    scores = choice_scores(([-5], [-4]), ([-9], [-4]))
    values = Choice(blind=True).evaluate_scores(scores)
    assert (values["accuracy"], values["debiased accuracy"]) == (0.0, 1.0)


def test_answers_across_examples():
    values = Choice(across=2).evaluate_scores(
        choice_scores(([-0.1],), ([-2.0],), ([-3.0],), ([-2.0],))
    )
    assert (values["accuracy"], values["chance"]) == (0.5, 0.5)


def test_every_column_has_an_interval_or_a_reason():
    metric = Choice(group=2, blind=True)
    row = choice_scores(([-1], [-2]), ([-2], [-1]), ([-1], [-2]), ([-1], [-2]))
    values = metric.evaluate_scores(row * 5)
    ends = metric.intervals(row * 5, 100, 0)
    assert set(values) == set(ends) <= set(metric.spec.column_names)
    assert all(item.ends or item.note for item in ends.values())
    assert ends["chance"].ends is None
    low, high = ends["group"].ends
    assert low < values["group"] <= high


@pytest.mark.parametrize(
    "params",
    [
        {"score": "max"},
        {"group": 0},
        {"across": 1},
        {"options": 1},
        {"options": 3, "group": 2},
        {"group": True},
    ],
)
def test_invalid_parameters(params):
    with pytest.raises(HarnessError, match="(?i)choice: "):
        Choice(**params)


def test_signatures_name_the_settings():
    assert Choice().signature() == "choice|sum"
    assert (
        Choice(score="mean", group=2, across=2, blind=True).signature()
        == "choice|mean|group:2|across:2|blind"
    )


def test_a_run_reads_choices_and_token_scores(tmp_path):
    records = [
        {"id": k, "options": ["a dog", "a cat"], "answer": k % 2} for k in range(4)
    ]
    (tmp_path / "choices.jsonl").write_text("\n".join(map(json.dumps, records)))

    scores = [
        {"id": str(k), "log_probs": [-1.0 - r], "ranks": [r]}
        for k in range(4)
        for r in range(2)
    ]
    (tmp_path / "scores.jsonl").write_text("\n".join(map(json.dumps, scores)))
    spec = {
        "task": "tiny",
        "dataset": {
            "reader": "multiple-choice",
            "path": str(tmp_path / "choices.jsonl"),
        },
        "models": [{"token-scores": {"path": str(tmp_path / "scores.jsonl")}}],
        "metrics": [{"choice": {"options": 2}}],
    }

    run = harness.evaluate(spec)
    numbers = {record.metric: (record.value, record.ci95) for record in run.records}
    assert numbers["choice(accuracy)"][0] == 1.0
    assert numbers["choice(accuracy)"][1] is not None

    spec["metrics"] = [{"choice": {"group": 3}}]
    with pytest.raises(InputError, match="4 examples do not divide"):
        harness.evaluate(spec)


def test_a_captioner_answers_choices_and_polls(tmp_path):
    guard_torchvision()
    pytest.importorskip("transformers")
    from tests.support import tiny_models

    tiny_models.blip(tmp_path / "blip")
    tiny_models.pictures(tmp_path)
    options = [["a dog runs", "a cat runs"], ["a cat runs", "a dog runs"]]
    records = [
        {"id": k, "options": options[k % 2], "answer": 0, "media": f"{k}.png"}
        for k in range(4)
    ]
    (tmp_path / "choices.jsonl").write_text("\n".join(map(json.dumps, records)))
    reader = {
        "reader": "multiple-choice",
        "path": str(tmp_path / "choices.jsonl"),
        "blind": True,
        "blank": "4.png",
    }
    spec = {
        "task": "tiny",
        "dataset": reader,
        "models": [
            {"transformers": {"model": str(tmp_path / "blip"), "images": str(tmp_path)}}
        ],
        "metrics": [{"choice": {"blind": True, "group": 2}}],
    }
    records = harness.evaluate(spec).records
    numbers = {record.metric: record.value for record in records}
    assert set(numbers) == {
        f"choice({name})" for name in Choice().spec.column_names if name != "unparsed"
    }
    assert {record.metric for record in records if record.higher_is_better is None} == {
        "choice(chance)",
        "choice(shortest)",
    }
    # the same image for both captions of a group, each correct once
    assert numbers["choice(blind accuracy)"] == 0.5
    assert numbers["choice(group)"] <= min(
        numbers["choice(text)"], numbers["choice(image)"]
    )

    questions = [
        {"options": ["dog", "cat"], "answer": k % 2, "media": f"{k}.png"}
        for k in range(4)
    ]
    (tmp_path / "polls.jsonl").write_text("\n".join(map(json.dumps, questions)))
    spec["dataset"] = {
        "reader": "multiple-choice",
        "path": str(tmp_path / "polls.jsonl"),
    }
    spec["metrics"] = [{"poll": {"yes": "dog", "no": "cat"}}]
    records = harness.evaluate(spec).records
    rates = {record.metric: record.value for record in records}
    assert rates["poll(yes)"] * 4 in range(5) and [
        r.metric for r in records if r.higher_is_better is None
    ] == ["poll(yes)"]
    assert rates["poll(accuracy)"] * 4 in range(5)


def test_parts_are_the_choices_of_each_value():
    meta = [{"kind": "swap"}, {"kind": "add"}, {"kind": "swap"}]
    metric = Choice(by="kind").of_meta(meta)
    values = metric.evaluate_scores(PLAIN)
    intervals = metric.intervals(PLAIN, 100, 0)
    assert Choice().of_meta(iter(())).evaluate_scores(PLAIN).items() <= values.items()
    assert (values["accuracy, kind=swap"], values["accuracy, kind=add"]) == (1.0, 0.0)
    assert values["shortest, kind=swap"] == pytest.approx(np.mean([0, 1 / 3]))
    assert "chance, kind=swap" not in values
    assert (
        intervals["accuracy, kind=swap"]
        == Choice().intervals([PLAIN[0], PLAIN[2]], 100, 0)["accuracy"]
    )
    assert (
        intervals["accuracy, kind=add"].ends is None
        and "at least two" in intervals["accuracy, kind=add"].note
    )
    assert metric.column_sizes()["accuracy, kind=swap"] == 2
    assert Choice(by="kind").signature() == "choice|sum|by:kind"


def test_parts_of_groups_and_companions_are_whole_units():
    rng = np.random.default_rng(0)
    scores = choice_scores(
        *((list(-rng.random(2)), list(-rng.random(3))) for _ in range(16))
    )
    meta = [{"tag": "ab"[k // 8]} for k in range(16)]
    layout = {"group": 2, "blind": True}
    values = Choice(by="tag", **layout).of_meta(meta).evaluate_scores(scores)
    for part, rows in (("a", slice(0, 8)), ("b", slice(8, 16))):
        alone = Choice(**layout).evaluate_scores(scores[rows])
        assert {
            name: values[f"{name}, tag={part}"] for name in alone if name != "chance"
        } == {name: value for name, value in alone.items() if name != "chance"}

    gain = (
        Choice(by="tag", **layout)
        .of_meta(meta)
        .intervals(scores, 200, 0)["gain, tag=a"]
        .ends
    )
    assert gain is not None and -1 <= gain[0] <= values["gain, tag=a"] <= gain[1] <= 1

    with pytest.raises(InputError, match="belong together and have 'tag'"):
        Choice(by="tag", **layout).of_meta(
            [{"tag": str(k % 2)} for k in range(16)]
        ).evaluate_scores(scores)


def test_parts_need_a_run():
    with pytest.raises(HarnessError, match="it works in runs"):
        Choice(by="kind").evaluate_scores(PLAIN)
    with pytest.raises(InputError, match="has no 'kind'"):
        Choice(by="kind").of_meta([{}])
