"""``harness.same``: sources in memory, plans, batches."""

from __future__ import annotations

import pytest

import harness
from harness.decisions.same import plan as same_plan
from harness.errors import HarnessError

DOGS = {str(k): [f"a dog {k} {n}" for n in range(5)] for k in range(6)}
CATS = {str(k): [f"the cat {k} sleeps {n}" for n in range(5)] for k in range(6)}


def test_mappings_are_sources_with_labels():
    result = harness.same(DOGS, CATS, labels=["dogs", "cats"])
    assert [row.labels for row in result] == [("dogs", "cats")]
    assert result[0].verdict == "different" and "dogs and cats" in str(result)
    three = harness.same(DOGS, CATS, DOGS, draws=200)
    assert len(three) == 3 and three.to_arrow().num_rows == 3


def test_batches_stop_at_the_evidence():
    result = harness.same(DOGS, CATS, until=1)
    assert result.different and len(result.batches) <= 5
    assert result.to_dict()["batches"][0]["answers"] == 12


def test_a_plan_is_of_one_source(monkeypatch):
    for name, value in (("PROMPTS", (2,)), ("ANSWERS", (4,)), ("RUNS", 5)):
        monkeypatch.setattr(same_plan, name, value)
    designs = harness.same(DOGS, plan=True, draws=50)
    assert {design.prompts for design in designs} == {2}


@pytest.mark.parametrize(
    "sources, options, message",
    [
        ((DOGS,), {}, "one source; expected at least two"),
        ((DOGS, CATS), {"alpha": 1.0}, "alpha is 1; expected a number between"),
        ((DOGS, CATS), {"draws": 0}, "draws is 0; expected at least 1"),
        ((DOGS, CATS), {"labels": ["x"]}, "1 labels for 2 sources"),
        ((DOGS, CATS, DOGS), {"until": 1}, "until follows two sources; found 3"),
    ],
)
def test_a_mistake_is_one_line(sources, options, message):
    with pytest.raises(HarnessError, match=message):
        harness.same(*sources, **options)
