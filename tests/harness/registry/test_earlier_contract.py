"""Metrics of an earlier contract get one line that says what to change."""

from __future__ import annotations

import pytest

from harness.contracts import MeanMetric, MetricSpec, SumMetric
from harness.errors import HarnessError
from harness.registry.instance_checks import check_instance


def metric(base=MeanMetric, **members):
    return type("Old", (base,), {"spec": MetricSpec("old", True), **members})()


@pytest.mark.parametrize(
    ("members", "advice"),
    [
        (
            {"partial_fit": None},
            "fit(references, features) fits one shard, and merge(first, second) "
            "joins the states of two",
        ),
        (
            {"held_fixed": "vocabulary"},
            "set MetricSpec(held_fixed=...) in place of the attribute",
        ),
        (
            {"untestable": "reads a scene"},
            "set MetricSpec(untestable=...) in place of the attribute",
        ),
        (
            {"list_parameters": ("names",)},
            "annotate a parameter that is a list as a Sequence in place of naming it",
        ),
        ({"addends": None}, "derive it from SumMetric"),
    ],
)
def test_a_member_of_the_earlier_contract_says_what_to_do(members, advice):
    with pytest.raises(HarnessError) as error:
        check_instance("metrics", "metric 'old'", metric(**members))
    text = str(error.value)
    assert text.startswith(
        f"metric 'old': '{next(iter(members))}' is of an earlier version: {advice}"
    )
    assert "\n" not in text and text.endswith("(docs/plugins.md)")


def test_the_present_contract_passes():
    for base in (MeanMetric, SumMetric):
        check_instance("metrics", "metric 'new'", metric(base))


def test_a_number_of_all_texts_is_a_corpus_metric():
    with pytest.raises(
        HarnessError,
        match="metric 'old': MetricSpec has no field 'shardable'; .* is a CorpusMetric",
    ):
        MetricSpec("old", True, shardable=False)
