"""Fields of records that metrics and scores determine."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet, MeanMetric, MetricSpec, Objects
from harness.registry import current
from harness.run.intervals import NO_EXAMPLES
from harness.run.metric_plan import MetricPlan, TokenMetricPlan, metric_plans
from harness.run.record_fields import metric_fields, number_fields
from harness.run.score import score_sets
from harness.run.scored import Scored
from harness.rundir.records import ResultRecord
from harness.spec.models import SignificanceSpec

SCORED = Scored(
    np.array([[0.5, 0], [np.nan, 1], [np.nan, np.nan], [1.5, 0]]),
    None,
    None,
    "",
    1.234567,
)
SETS = [
    CaptionSet(f"e{k}", ("a dog runs",), ("a dog runs fast", "the cat" + " sat" * k))
    for k in range(4)
]


class Mean(MeanMetric):
    def __init__(self, resampled: bool = True) -> None:
        self.spec = MetricSpec("mean", True, resampled=resampled)


def fields(metric: str, significance: SignificanceSpec | None = None):
    (plan,) = metric_plans([metric])
    (scored,) = score_sets([plan.metric], SETS, significance, 0)
    return number_fields(plan, scored, significance, 100, 0)


def test_records_hold_the_note_only_where_there_is_one():
    assert "interval_note" not in ResultRecord(model="a", metric="b").to_dict()
    record = ResultRecord(model="a", metric="b", interval_note="reason")
    assert record.to_dict()["interval_note"] == "reason"
    assert ResultRecord(**record.to_dict()).interval_note == "reason"


def test_set_sizes_are_named_where_they_are_not_those_of_the_level():
    assert fields("bleu1")["depends_on"] is None
    spec = current().create("metrics", "self-bleu").spec
    expected = (
        None
        if sorted(spec.depends_on) == ["candidates", "references"]
        else sorted(spec.depends_on)
    )
    assert fields("self-bleu")["depends_on"] == expected


@pytest.mark.parametrize(
    ("level", "sizes", "expected"),
    [
        ("item", ["references"], None),
        ("item", [], []),
        ("item", ["candidates", "references"], ["candidates", "references"]),
        ("set", ["candidates", "references"], None),
        ("set", ["candidates"], ["candidates"]),
        ("set", ["references"], ["references"]),
    ],
)
def test_a_record_names_fewer_more_and_other_set_sizes(level, sizes, expected):
    metric = Mean()
    metric.spec = MetricSpec("mean", True, level=level, depends_on=frozenset(sizes))
    scored = Scored(np.arange(5.0)[:, None], None, None, "", 0.0)
    assert (
        number_fields(MetricPlan("m", "mean", {}, metric), scored, None, 0, 0)[
            "depends_on"
        ]
        == expected
    )


@pytest.mark.parametrize(
    ("aggregate", "key"),
    [("fisher-discrete", "calibrated"), ("harmonic-mean", "harmonic_mean")],
)
def test_the_p_value_is_the_combination_that_was_chosen(aggregate, key):
    significance = SignificanceSpec(method="exact", aggregate=aggregate)
    tested = fields("trm:distance=rouge", significance)
    assert (
        tested["p_value"] == tested["p"][key]
        and tested["p_method"] == f"exact, {aggregate}"
        and "p_note" not in tested
    )


def test_a_missing_p_value_has_its_reason_where_one_was_requested():
    assert fields("self-bleu", SignificanceSpec(method="exact"))["p_note"]
    assert not {"p", "p_note", "p_method"} & set(fields("self-bleu"))


def test_results_in_memory_are_records():
    result = harness.score(["a dog"], [["a dog runs"]], "bleu1")["bleu1"]
    assert (result.metric, result.n, result.skipped) == (
        "bleu1",
        1,
        0,
    ) and result.to_dict()["value"] == result.value
    assert "per_example" not in result.to_dict()


class Judge(MeanMetric):
    """Second column: 1 for a refusal, whose score is undefined."""

    def __init__(self, details_of_undefined):
        self.spec = MetricSpec("judge", True, details_of_undefined=details_of_undefined)

    def signature(self):
        return "judge"

    def details(self, stats):
        return {"rows": len(stats), "refused": float(stats[:, 1].sum())}


@pytest.mark.parametrize(
    ("of_undefined", "details"),
    [(True, {"rows": 3, "refused": 1.0}), (False, {"rows": 2, "refused": 0.0})],
)
def test_details_count_rows_of_undefined_examples_where_the_metric_says_so(
    of_undefined, details
):
    found = number_fields(
        MetricPlan("j", "judge", {}, Judge(of_undefined)), SCORED, None, 50, 0
    )
    assert (found["details"], found["n"], found["skipped"], found["value"]) == (
        details,
        2,
        2,
        1.0,
    )
    assert (
        found["metric"],
        found["seconds"],
        found["level"],
        found["higher_is_better"],
    ) == ("j", 1.2346, "item", True)


def test_a_number_of_no_rows_has_no_details():
    nothing = Scored(np.full((2, 2), np.nan), None, None, "", 0.0)
    for of_undefined in (True, False):
        found = number_fields(
            MetricPlan("j", "judge", {}, Judge(of_undefined)), nothing, None, 50, 0
        )
        assert (
            found["details"] is None
            and np.isnan(found["value"])
            and (found["n"], found["skipped"]) == (0, 2)
        )
        assert (found["ci95"], found["interval_note"]) == (None, NO_EXAMPLES)


def test_details_of_objects_are_those_of_the_defined_examples():
    class Texts(Judge):
        def reduce(self, stats, weights=None):
            return 1.0 if weights is None else np.ones(len(weights))

        def details(self, stats):
            return {"texts": [item["text"] for item in stats]}

    objects = Objects.of([{"text": "x"}, None, {"text": "y"}], "judge")
    found = number_fields(
        MetricPlan("t", "judge", {}, Texts(True)),
        Scored(objects, None, None, "", 0.0),
        None,
        0,
        0,
    )
    assert (found["details"], found["n"], found["skipped"]) == (
        {"texts": ["x", "y"]},
        2,
        1,
    )


def test_a_record_has_the_clusters_of_its_defined_examples():
    scored = Scored(np.array([[1.0], [np.nan], [2.0], [4.0]]), None, None, "", 0.0)
    found = number_fields(
        MetricPlan("m", "mean", {}, Mean()),
        scored,
        None,
        50,
        0,
        np.array(["a", "b", "c", "a"]),
    )
    assert found["interval_note"].startswith("2 clusters resampled")


def test_columns_without_a_direction_have_none_in_the_parts_of_a_task_either():
    class Columns:
        def signature(self):
            return "tokens"

        spec = MetricSpec(
            "tokens", False, level="model", column_names=("a", "b"), undirected=("b",)
        )

    plan = TokenMetricPlan("tokens", "tokens", {}, Columns())
    found = {
        column: metric_fields(plan, column)["higher_is_better"]
        for column in ("a", "b", "a, b", "b, a", "")
    }
    assert found == {"a": False, "b": None, "a, b": False, "b, a": None, "": False}
    assert metric_fields(plan, "a") == {
        "higher_is_better": False,
        "level": "model",
        "signature": "tokens",
    }


def test_a_record_has_no_p_value_where_the_method_is_none():
    for significance in (None, SignificanceSpec(method="none")):
        assert not {"p", "p_value", "p_note", "p_method"} & set(
            fields("rouge", significance)
        )
    tested = fields("rouge", SignificanceSpec(method="exact"))
    assert tested["p"]["floor"] == pytest.approx(1 / 3) and tested["p"]["n"] == 4


def test_a_test_of_no_defined_example_says_so():
    class Undefined(Mean):
        def scores(self, batch, features, state):
            return np.full(len(batch), np.nan)

    significance = SignificanceSpec(method="exact")
    (scored,) = score_sets([Undefined()], SETS, significance)
    found = number_fields(
        MetricPlan("mean", "mean", {}, Undefined()), scored, significance, 50, 0
    )
    assert found["p_note"] == "is defined for no example" and "p_value" not in found
