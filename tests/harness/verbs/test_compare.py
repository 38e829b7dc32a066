"""``harness.compare``: pairs, slices, and the equality of two runs."""

from __future__ import annotations

import pytest

import harness
from harness.errors import HarnessError, InputError

PEOPLE = {str(k): [f"a dog number {k}", f"the dog {k} runs"] for k in range(12)}
OLD = {key: f"a dog {key}" for key in PEOPLE}
NEW = {key: f"the dog {key} runs" for key in PEOPLE}


@pytest.fixture(scope="module")
def run():
    """A run of three systems in memory."""
    systems = {"old": OLD, "new": NEW, "other": dict.fromkeys(PEOPLE, "a cat")}
    return harness.score(systems, PEOPLE, ["rouge", "bleu1"]).run


@pytest.fixture(scope="module")
def pair():
    """A run of two systems in memory."""
    return harness.score({"old": OLD, "new": NEW}, PEOPLE, "rouge").run


def test_several_pairs_are_ranked_and_one_shows_examples(run, pair):
    rows = harness.compare(run)
    assert len(rows) == 6 and not rows.examples
    assert [item.system for item in rows.clusters["rouge"]] == ["new", "old", "other"]
    assert len(harness.compare(run, baseline="old", metrics=["bleu1"])) == 2
    one = harness.compare(pair)
    assert len(one.examples) == 3 and one.to_dict()["examples"][0]["score_a"] < 1
    assert not harness.compare(pair, examples=0).examples


def test_examples_belong_to_one_pair(run):
    with pytest.raises(HarnessError, match="examples belongs to one pair of systems"):
        harness.compare(run, examples=2)


@pytest.mark.parametrize(
    "options, name",
    [
        ({"equalise": True}, "equalise=True"),
        ({"anytime": True}, "anytime=True"),
        ({"examples": 2}, "examples=2"),
        ({"run_b": "r"}, "a second run"),
    ],
)
def test_slices_are_not_combined_with_others(run, options, name):
    with pytest.raises(HarnessError, match=f"cannot be combined with {name}"):
        harness.compare(run, by=["kind"], **options)


def test_equal_runs_are_identical_and_others_are_described(run, pair):
    same = harness.compare(pair, pair, identical=True)
    assert same.numbers == 2 and not same.differences
    assert str(same).startswith("identical: 2 results")
    other = harness.compare(run, pair, identical=True)
    assert other.differences and other.to_arrow().num_rows == len(other.differences)
    with pytest.raises(InputError, match="identical=True compares two whole runs"):
        harness.compare("r::old", "r::new", identical=True)
