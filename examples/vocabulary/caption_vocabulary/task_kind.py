"""Tasks of word lists: how many captions of people have a colour, a number, ...?

task: what-people-say
word_lists:
  captions: references.json
  lists:
    colours: red green blue
    numbers: one two three
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

import harness
from harness.contracts import CaptionSet
from harness.errors import InputError
from harness.reporting.table import Table, number
from harness.results import Comparison, Run
from harness.spec.loading import LoadedTask


class Lists(BaseModel):
    """A file of captions, and lists of words by name."""

    model_config = ConfigDict(extra="forbid")
    captions: str
    lists: dict[str, str] = Field(min_length=1)


class WordListSpec(BaseModel):
    """A task of word lists."""

    model_config = ConfigDict(extra="forbid")
    task: str
    notice: str = ""
    variant: str = ""
    seed: int = 0
    limit: int | None = None
    metrics: list = []
    word_lists: Lists

    @property
    def content(self) -> dict[str, object]:
        """The spec of models that the task is: the captions of people by a metric for
        each list.
        """
        lists = self.word_lists.lists.values()
        people = {"path": self.word_lists.captions, "label": "people"}
        return {
            "task": self.task,
            "dataset": {"reader": "auto", "path": self.word_lists.captions},
            "models": [{"predictions": people}],
            "metrics": [{"word-share": {"words": words}} for words in lists],
            "seed": self.seed,
            "limit": self.limit,
        }


@dataclass
class WordListPlan:
    """A checked task of word lists."""

    spec: WordListSpec
    kind: ClassVar = "word_lists"
    metrics: Sequence = ()
    absence: str = ""
    obstacle: str = ""

    def describe(self) -> dict[str, object]:
        """Return what ``harness validate`` prints."""
        names = list(self.spec.word_lists.lists)
        return {"reader": "auto", "statistics": names, "missing": self.absence}

    def caption_sets(self) -> list[CaptionSet]:
        """Return the captions, for the estimate of the cost."""
        return []


class WordLists:
    """The kind of task ``word_lists``."""

    spec = WordListSpec

    def split(self, spec: WordListSpec) -> list[WordListSpec]:
        """Return the tasks of a spec: one."""
        return [spec]

    def plan(self, loaded: LoadedTask) -> WordListPlan:
        """Return the plan; raise ``InputError`` with ``file:line`` for an empty
        list.
        """
        for name, words in loaded.spec.word_lists.lists.items():
            if not words.split():
                where = loaded.where("word_lists", "lists", name)
                raise InputError(f"the list '{name}' has no words", where)
        return WordListPlan(loaded.spec)

    def execute(
        self,
        plan: WordListPlan,
        *,
        output: Path | None,
        mode: str,
        show: bool,
        options: object,
    ) -> Run:
        """Return the finished run, which is one of models: every verb reads it."""
        return harness.evaluate(plan.spec.content, output=output, mode=mode, show=show)

    def compare(
        self, runs: Sequence[Run], baseline: str | None, metrics: Sequence[str] | None
    ) -> list[Comparison]:
        """Return no comparisons: a run has one system."""
        return []

    def table_of_run(self, run: Run) -> Table:
        """Return a row for each list."""
        rows = [[record.metric, number(record.value)] for record in run.records]
        return Table(["list", "share"], rows, "lr", run.provenance.task)

    def table_of_runs(self, runs: Sequence[Run]) -> Table:
        """Return a row for each run."""
        rows = [[run.provenance.task, str(len(run.records))] for run in runs]
        return Table(["task", "lists"], rows, "lr")


WORD_LISTS = WordLists()
