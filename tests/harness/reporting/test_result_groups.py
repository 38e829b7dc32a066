"""Records by metric, best first."""

from __future__ import annotations

import math

import harness
from harness import page
from harness.reporting.console import print_run
from harness.reporting.result_groups import (
    divided_metrics,
    group_records,
    interval_notes,
    p_notes,
    sort_key,
    system_names,
    usage_notes,
)
from harness.rundir.records import UNDEFINED, ResultRecord


def record(
    metric="m", value=0.5, higher_is_better: bool | None = True, model="a", **values
):
    return ResultRecord(
        metric=metric,
        value=value,
        higher_is_better=higher_is_better,
        model=model,
        **values,
    )


def test_the_best_value_is_first_and_undefined_values_are_last():
    values = [math.nan, 1.0, 3.0, 2.0]
    (group,) = group_records([record(value=value) for value in values])
    assert [item.value for item in group][:3] == [3.0, 2.0, 1.0]
    (group,) = group_records(
        [record(value=value, higher_is_better=False) for value in values]
    )
    assert [item.value for item in group][:3] == [1.0, 2.0, 3.0]
    assert sort_key(record(value=math.nan)) == math.inf


def test_metrics_keep_their_order_and_without_a_direction_so_do_records():
    groups = group_records(
        [
            record("b", 1),
            record("a", 1),
            record("b", 2),
            record("c", 2, None),
            record("c", 3, None),
        ]
    )
    assert [(group[0].metric, [item.value for item in group]) for group in groups] == [
        ("b", [2, 1]),
        ("a", [1]),
        ("c", [2, 3]),
    ]


def sized(value, n, level="set", **values):
    return record(
        value=value, level=level, sizes={"candidates": [n], "references": [5]}, **values
    )


def test_set_metrics_are_divided_by_set_size():
    records = [sized(0.1, 5), sized(0.2, 1), sized(0.3, 5), sized(0.9, 1, model="b")]
    groups = group_records(records)
    assert [[item.value for item in group] for group in groups] == [
        [0.3, 0.1],
        [0.9, 0.2],
    ]
    assert divided_metrics(groups) == ["m"]
    items = group_records([sized(0.1, 5, "item"), sized(0.2, 1, "item")])
    assert [[item.value for item in group] for group in items] == [[0.2, 0.1]]
    assert divided_metrics(items) == []


def test_groups_of_one_metric_follow_each_other():
    records = [
        sized(1, 5),
        sized(2, 5, metric="k"),
        sized(3, 1),
        sized(4, 1, metric="k"),
    ]
    assert [group[0].metric for group in group_records(records)] == ["m", "m", "k", "k"]


def test_reasons_for_missing_p_values_have_each_metric_once():
    scene = "reads a scene"
    records = [
        record("spice", p_note=scene),
        record("spice", p_note=scene, model="b"),
        record("cider"),
        record("x", p_note=scene),
    ]
    assert p_notes([*records, record("y", p_note="has no direction")]) == {
        scene: ["SPICE", "x"],
        "has no direction": ["y"],
    }


def test_the_usage_of_a_judge_has_answers_and_tokens_of_any_name():
    usage = {
        "answers": {"abstained": 2},
        "requests": 3,
        "tokens": {"cached": 1000},
        "cost": 0.5,
    }
    assert usage_notes([record(details=usage)]) == [
        "m: 2 abstained, 3 requests, 1,000 cached tokens, cost 0.5"
    ]


def test_systems_have_the_fields_in_which_they_differ():
    records = [
        ResultRecord(
            model=model, metric="m", decoding={"strategy": "nucleus", "temperature": t}
        )
        for model in "ab"
        for t in (0.5, 1.0)
    ]
    assert list(system_names(records).values()) == [
        "a T=0.5",
        "a T=1",
        "b T=0.5",
        "b T=1",
    ]
    assert list(system_names(records[:1]).values()) == ["a"]


def noted(
    model: str, metric: str, note: str | None, ci95: tuple[float, float] | None = None
) -> ResultRecord:
    return ResultRecord(model=model, metric=metric, ci95=ci95, interval_note=note)


def test_a_value_that_is_undefined_has_its_reason():
    note = f"{UNDEFINED}outside the curve"
    records = [ResultRecord(model="a", metric="qdisc", interval_note=note)]
    assert interval_notes(records) == ["no value: QDisc (undefined: outside the curve)"]


def test_metrics_of_one_note_share_a_line():
    records = [
        noted("a", "distinct2", "n-grams"),
        noted("b", "distinct2", "n-grams"),
        noted("a", "vocabulary", "n-grams"),
        noted("a", "cider", "held fixed", (0.0, 1.0)),
        noted("a", "bleu4", None, (0.0, 1.0)),
        noted("b", "bleu4", "no spread"),
    ]
    assert interval_notes(records) == [
        "no 95 % interval: Distinct-2, Vocabulary (n-grams)",
        "95 % interval: CIDEr-D (held fixed)",
        "no 95 % interval: BLEU-4 of b (no spread)",
    ]
    assert interval_notes([]) == []


def test_the_table_and_the_page_show_the_reason(project, capsys):
    run = harness.evaluate("spec.yaml", output="r")
    print_run(run)
    line = (
        "no 95 % interval: length (every resample of the examples gives the same "
        "number)"
    )
    assert line in capsys.readouterr().out
    assert line in page.build(["r"])


def test_details_that_are_no_usage_of_a_judge_have_no_line():
    assert (
        usage_notes(
            [
                ResultRecord(model="a", metric="m", details={"requests": 3}),
                ResultRecord(model="a", metric="m"),
            ]
        )
        == []
    )
