"""Fields of a result record that a metric determines."""

from __future__ import annotations

import pytest

import harness
from harness.contracts import CaptionSet
from harness.registry import current
from harness.run.metric_plan import metric_plans
from harness.run.metric_record import number_fields
from harness.run.score import score_sets
from harness.spec.models import SignificanceSpec

SETS = [CaptionSet(f"e{k}", ("a dog runs",), ("a dog runs fast", "the cat" + " sat" * k)) for k in range(4)]


def fields(metric: str, significance: SignificanceSpec | None = None):
    (plan,) = metric_plans([metric])
    (scored,) = score_sets([plan.metric], SETS, significance, 0)
    return number_fields(plan, scored, significance, 100, 0)


def test_set_sizes_are_named_where_they_are_not_those_of_the_level():
    assert fields("bleu1")["depends_on"] is None
    spec = current().create("metrics", "self-bleu").spec
    expected = None if sorted(spec.depends_on) == ["candidates", "references"] else sorted(spec.depends_on)
    assert fields("self-bleu")["depends_on"] == expected


@pytest.mark.parametrize(("aggregate", "key"), [("fisher-discrete", "calibrated"), ("harmonic-mean", "harmonic_mean")])
def test_the_p_value_is_the_combination_that_was_chosen(aggregate, key):
    significance = SignificanceSpec(method="exact", aggregate=aggregate)
    tested = fields("trm:distance=rouge", significance)
    assert tested["p_value"] == tested["p"][key] and tested["p_method"] == f"exact, {aggregate}" and "p_note" not in tested


def test_a_missing_p_value_has_its_reason_where_one_was_requested():
    assert fields("self-bleu", SignificanceSpec(method="exact"))["p_note"]
    assert not {"p", "p_note", "p_method"} & set(fields("self-bleu"))


def test_results_in_memory_are_records():
    result = harness.score(["a dog"], [["a dog runs"]], "bleu1")["bleu1"]
    assert (result.metric, result.n, result.skipped) == ("bleu1", 1, 0) and result.to_dict()["value"] == result.value
    assert "per_example" not in result.to_dict()
