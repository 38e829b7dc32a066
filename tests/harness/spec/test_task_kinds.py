"""Kinds of task that packages add."""

from __future__ import annotations

import json

import pytest

import harness
from harness.cli.main import main
from harness.errors import InputError
from harness.registry import in_use
from harness.spec.loading import LoadedTask, load_specs
from harness.spec.task_kinds import find_kind, kinds_of_specs, load_kind

KIND = '''

from dataclasses import dataclass, replace
from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class CountSpec(BaseModel):
    """Words of some texts, counted."""

    model_config = ConfigDict(extra="forbid")
    task: str
    notice: str = ""
    variant: str = ""
    seed: int = 0
    metrics: list = []
    counts: list[str]


@dataclass
class CountPlan:
    spec: CountSpec
    kind: ClassVar = "counts"
    metrics: tuple = ()
    absence: str = ""
    obstacle: str = ""

    def describe(self):
        return {"reader": "counts", "statistics": ["words"], "missing": ""}

    def caption_sets(self):
        from harness.contracts import CaptionSet

        return [CaptionSet(text, (text,), (text,)) for text in self.spec.counts]


class Counts:
    """Tasks that count words."""

    spec = CountSpec

    def split(self, spec):
        changes = [{"task": f"{spec.task}-{k}", "counts": [t]}
                   for k, t in enumerate(spec.counts)]
        return [spec.model_copy(update=change) for change in changes]

    def plan(self, loaded):
        if not loaded.spec.counts[0]:
            from harness.errors import InputError

            raise InputError("an empty text", loaded.where("counts"))
        return CountPlan(loaded.spec)

    def execute(self, plan, *, output, mode, show, options):
        import harness

        output.parent.mkdir(exist_ok=True)
        path = output.parent / "texts.jsonl"
        path.write_text('{"id": "1", "references": ["a", "b"]}')
        run = harness.evaluate(
            {"task": plan.spec.task, "dataset": {"reader": "jsonl", "path": str(path)},
             "models": ["human"], "metrics": ["length"]}, output=output)
        content = {**run.provenance.content, "kind": "counts"}
        return replace(run, provenance=type(run.provenance)(content))

    def compare(self, runs, baseline, metrics):
        return []

    def table_of_run(self, run):
        from harness.reporting.table import Table

        return Table(["words"], [["7"]], "r", run.provenance.task)

    def table_of_runs(self, runs):
        from harness.reporting.table import Table

        return Table(["tasks"], [[str(len(runs))]], "r", "all of them")


COUNTS = Counts()
'''
ENTRY = """
task_kinds: {counts: {import: "mine_parts:COUNTS", summary: counts words}}
"""
SPEC = "task: texts\ncounts:\n  - a dog\n  - a cat\n"


@pytest.fixture
def counting(project):
    """A project with a kind of task; the current directory during the test."""
    for name, text in (("mine_parts.py", KIND), ("registry.yaml", ENTRY)):
        with (project / name).open("a") as file:
            file.write(text)
    (project / "counts.yaml").write_text(SPEC)
    in_use._load.cache_clear()
    return project


def test_the_key_of_a_spec_names_its_kind(counting):
    assert find_kind({"task": "t", "counts": []}) == "counts"
    assert find_kind({"task": "t", "judgments": {}}) == "judgments"
    assert find_kind({"task": "t", "dataset": {}}) == ""
    assert {"counts", "judgments"} <= kinds_of_specs().keys()
    assert load_kind("counts").spec.__name__ == "CountSpec"


def test_a_spec_is_split_and_planned_by_its_kind(counting):
    loaded = load_specs("counts.yaml")
    assert all(isinstance(item, LoadedTask) for item in loaded)
    assert [item.spec.task for item in loaded] == ["texts-0", "texts-1"]
    assert [plan.kind for plan in harness.api.plans("counts.yaml")] == ["counts"] * 2


def test_mistakes_have_the_line_of_the_spec(counting):
    (counting / "counts.yaml").write_text("task: texts\ncounts: ['']\n")
    with pytest.raises(InputError, match="counts.yaml:2: an empty text"):
        harness.api.plans("counts.yaml")
    (counting / "counts.yaml").write_text("task: texts\ncounts: [a]\ncount: 1\n")
    with pytest.raises(InputError, match=r"counts.yaml:3: .*'count'"):
        load_specs("counts.yaml")


def test_the_verbs_know_a_kind(counting, capsys):
    assert main(["validate", "counts.yaml"]) == 0
    assert "reader counts" in capsys.readouterr().out
    assert main(["run", "counts.yaml", "--output", "out"]) == 0
    out = capsys.readouterr().out
    assert "texts-0" in out and "texts-1" in out and "all of them" in out
    assert main(["schema"]) == 0
    assert "counts" in json.loads(capsys.readouterr().out)["properties"]
