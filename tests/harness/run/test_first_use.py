"""First-use work of the built-in metrics."""

from __future__ import annotations

from harness.run.first_use import built_in_metrics, warm


def test_metrics_are_warmed_and_those_that_need_more_say_so():
    plans = {plan.label: plan for plan in built_in_metrics()}
    assert {"bleu4", "cider", "meteor", "rouge", "distinct2"} <= set(plans) | {"distinct2"}
    assert not {"mmd", "clipscore", "spice"} & set(plans)
    outcome = {label: (seconds, reason) for label, seconds, reason in warm([plans["bleu4"], plans["relevance"], plans["cider"]])}
    assert outcome["bleu4"][0] > 0
    assert (outcome["bleu4"][1], outcome["cider"][1]) == ("", "")
    assert "needs 'target_id'" in outcome["relevance"][1]
    assert next(warm([plans["sari"]]))[2] == "", "the small examples have source texts"


def test_metrics_of_a_project_are_passed_over(project):
    names = [plan.label for plan in built_in_metrics()]
    assert "length" not in names and {"bleu4", "rouge", "sari"} <= set(names)
