"""``harness.gate``: metrics with one margin, or one for each."""

from __future__ import annotations

import pytest

import harness
from harness.errors import HarnessError

PEOPLE = {str(k): [f"a dog number {k}", f"dog {k}"] for k in range(40)}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A directory of a run of two systems with the same captions."""
    folder = tmp_path_factory.mktemp("gate") / "r"
    captions = {key: f"a dog number {key}" for key in PEOPLE}
    systems = {"old": captions, "new": captions}
    harness.score(systems, PEOPLE, ["rouge", "bleu1"], output=folder)
    return f"{folder}::new", f"{folder}::old"


def test_one_margin_is_for_all_metrics(runs):
    result = harness.gate(*runs, ["rouge", "bleu1"], 0.1)
    assert {row.metric for row in result.rows} == {"rouge", "bleu1"}
    assert {row.margin for row in result.rows} == {0.1}
    each = harness.gate(*runs, ["rouge", "bleu1"], max_drop=[0.1, "20%"])
    assert [row.margin for row in each.rows] == [0.1, pytest.approx(0.2)]
    assert each.line == each.sentence and str(each).endswith(each.line)


def test_an_undecided_verdict_says_what_it_counts_as(runs):
    result = harness.gate(*runs, "rouge", 1e-6, undecided="fail")
    assert result.verdict in ("passed", "undecided")
    if result.verdict == "undecided":
        assert result.to_dict()["line"].endswith("(counts as fail)")


def test_numbers_of_metrics_and_margins_that_differ_are_refused(runs):
    with pytest.raises(HarnessError, match="2 metrics and 3 margins"):
        harness.gate(*runs, ["rouge", "bleu1"], [0.1, 0.1, 0.1])
