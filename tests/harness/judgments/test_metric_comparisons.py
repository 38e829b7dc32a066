"""Comparisons of the metrics of a run of judgments."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.judgments.metric_comparisons import metric_comparisons
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable


@pytest.fixture
def judged():
    """A run of judgments with the agreement of three metrics,
    and a value of another statistic.
    """
    values = {"a": 0.5, "b": 0.25, "c": 0.125}
    tests = {"perm_input": 0.01, "perm_input_holm": 0.03}
    headline = [
        ResultRecord(
            model="",
            metric=name,
            value=value,
            n=10 + k,
            statistic="kendall_c",
            group="all",
            details={
                "headline": True,
                "against": {rival: tests for rival in values if rival != name},
            },
        )
        for k, (name, value) in enumerate(values.items())
    ]
    other = ResultRecord(
        model="", metric="d", value=0.5, statistic="pearson", group="all"
    )
    return Run(
        Provenance({"kind": "judgments", "task": "t"}),
        (*headline, other),
        SampleTable.empty(),
    )


@pytest.mark.parametrize(
    ("baseline", "metrics", "expected"),
    [
        (None, None, ["a b", "a c", "b c"]),
        (None, ["c", "a"], ["a c"]),
        (None, ["a"], []),
        ("b", None, ["a b", "c b"]),
        ("b", ["c"], ["c b"]),
        ("b", ["b", "a"], ["a b"]),
    ],
)
def test_metrics_are_compared_in_pairs_or_with_the_baseline(
    judged, baseline, metrics, expected
):
    rows = metric_comparisons([judged], baseline, metrics)
    assert [f"{row.system_a} {row.system_b}" for row in rows] == expected


def test_the_comparison_of_two_metrics_has_the_tests_of_the_run(judged):
    row = metric_comparisons([judged], "a", ["c"])[0]
    assert (row.a, row.b, row.difference, row.n) == (0.125, 0.5, -0.375, 10)
    assert (row.p_value, row.p_holm, row.better) == (0.01, 0.03, "B")
    for baseline, metrics in (("d", None), ("a", ["d"])):
        with pytest.raises(
            HarnessError, match="there is no metric 'd'.*; there are a, b, c"
        ):
            metric_comparisons([judged], baseline, metrics)
    with pytest.raises(
        HarnessError,
        match="the metrics of one run of judgments are compared, not two runs",
    ):
        metric_comparisons([judged, judged])
