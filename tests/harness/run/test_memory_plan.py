"""Runs of captions in memory."""

from __future__ import annotations

import pytest

from harness.contracts import CaptionSet
from harness.errors import InputError
from harness.run.execute import execute
from harness.run.memory_plan import plan_in_memory
from harness.run.metric_plan import metric_plans


def sets(*texts: str, references: tuple[str, ...] = ("a dog",)) -> list[CaptionSet]:
    return [CaptionSet(str(k), (text,), references) for k, text in enumerate(texts)]


def test_a_run_in_memory_has_the_records_of_its_systems(tmp_path):
    systems = {"one": sets("a dog", "a cat"), "other": sets("a dog", "dogs")}
    plan = plan_in_memory(systems, metric_plans(["rouge"]), {"seed": 3})
    run = execute(plan, output=tmp_path / "r")
    assert [record.model for record in run.records] == ["one", "other"]
    assert run.provenance.content["seed"] == 3
    assert execute(plan, output=tmp_path / "r").results == run.results, "it is resumed"


def test_other_captions_are_another_run():
    plans = [
        plan_in_memory({"one": sets(text)}, metric_plans(["rouge"]), {})
        for text in ("a dog", "a cat")
    ]
    first, second = (plan.models[0].adapter.fingerprint() for plan in plans)
    assert first != second
    assert plans[0].reader.fingerprint() == plans[1].reader.fingerprint()


def test_systems_have_the_same_references():
    systems = {"one": sets("a dog"), "other": sets("a dog", references=("a cat",))}
    with pytest.raises(InputError, match="other: the references of '0' differ"):
        plan_in_memory(systems, metric_plans(["rouge"]), {})
