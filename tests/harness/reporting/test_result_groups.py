"""Records by metric, best first."""

from __future__ import annotations

import math

from harness.reporting.result_groups import divided_metrics, group_records, sort_key
from harness.rundir.records import ResultRecord


def record(metric="m", value=0.5, higher_is_better: bool | None = True, model="a", **values):
    return ResultRecord(metric=metric, value=value, higher_is_better=higher_is_better, model=model, **values)


def test_the_best_value_is_first_and_undefined_values_are_last():
    values = [math.nan, 1.0, 3.0, 2.0]
    (group,) = group_records([record(value=value) for value in values])
    assert [item.value for item in group][:3] == [3.0, 2.0, 1.0]
    (group,) = group_records([record(value=value, higher_is_better=False) for value in values])
    assert [item.value for item in group][:3] == [1.0, 2.0, 3.0]
    assert sort_key(record(value=math.nan)) == math.inf


def test_metrics_keep_their_order_and_without_a_direction_so_do_records():
    groups = group_records([record("b", 1), record("a", 1), record("b", 2), record("c", 2, None), record("c", 3, None)])
    assert [(group[0].metric, [item.value for item in group]) for group in groups] == [
        ("b", [2, 1]), ("a", [1]), ("c", [2, 3]),
    ]  # fmt: skip


def sized(value, n, level="set", **values):
    return record(value=value, level=level, sizes={"candidates": [n], "references": [5]}, **values)


def test_set_metrics_are_divided_by_set_size():
    records = [sized(0.1, 5), sized(0.2, 1), sized(0.3, 5), sized(0.9, 1, model="b")]
    groups = group_records(records)
    assert [[item.value for item in group] for group in groups] == [[0.3, 0.1], [0.9, 0.2]]
    assert divided_metrics(groups) == ["m"]
    items = group_records([sized(0.1, 5, "item"), sized(0.2, 1, "item")])
    assert [[item.value for item in group] for group in items] == [[0.2, 0.1]]
    assert divided_metrics(items) == []


def test_groups_of_one_metric_follow_each_other():
    records = [sized(1, 5), sized(2, 5, metric="k"), sized(3, 1), sized(4, 1, metric="k")]
    assert [group[0].metric for group in group_records(records)] == ["m", "m", "k", "k"]
