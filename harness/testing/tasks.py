"""The checks of a reader and of a task file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from harness.contracts import Example
from harness.errors import HarnessError
from harness.testing import shared_checks as making
from harness.testing import side_effects as watching
from harness.testing.base_subject import add_conduct
from harness.testing.results import Checks, NotApplicable, ensure

READER_CHECKS = Checks("readers")
TASK_CHECKS = Checks("tasks")
FIRST = 200
"""Examples that are looked at."""
FIRST_RUN = 12
"""Examples of the run that is made of a task."""


@dataclass(eq=False)
class ReaderSubject:
    """One reader."""

    reader: Any

    @cached_property
    def _watched(self) -> tuple[list[Any], watching.Doings]:
        with watching.watching() as doings:
            made = list(islice(self.reader, FIRST))
        return made, doings

    @property
    def examples(self) -> list[Any]:
        return self._watched[0]

    @property
    def doings(self) -> watching.Doings:
        return self._watched[1]


@READER_CHECKS.add
def described(subject: ReaderSubject) -> None:
    """The class has a docstring."""
    making.described(subject.reader)


@READER_CHECKS.add
def fingerprint(subject: ReaderSubject) -> None:
    """``fingerprint()`` is one line and steady."""
    making.steady_identity(subject.reader, lambda reader: reader.fingerprint(), "fingerprint")


@READER_CHECKS.add
def examples(subject: ReaderSubject) -> None:
    """It yields Examples with an id each of its own and at least one reference, all text."""
    given = subject.examples
    ensure(given, "yields no example")
    seen: set[str] = set()
    for k, item in enumerate(given):
        ensure(isinstance(item, Example), f"yields {type(item).__name__} at {k}; expected an Example")
        ensure(isinstance(item.id, str) and item.id, f"the id of example {k} is {item.id!r}; expected a text")
        ensure(item.id not in seen, f"the id '{item.id}' comes twice")
        seen.add(item.id)
        plain = isinstance(item.references, tuple) and all(isinstance(text, str) for text in item.references)
        ensure(plain, f"'{item.id}': references are {item.references!r:.60}; expected a tuple of texts")
        ensure(item.references, f"'{item.id}' has no references")


@READER_CHECKS.add
def again(subject: ReaderSubject) -> None:
    """The same examples in the same order when read again."""
    first = subject.examples
    with watching.seeded(1):
        ensure(list(islice(subject.reader, FIRST)) == first, "yields other examples when read again")


add_conduct(READER_CHECKS, offline=False)


@dataclass(eq=False)
class TaskSubject:
    """One task file."""

    path: str | Path

    @cached_property
    def plans(self) -> list[Any]:
        from harness.run.plan import make_plan
        from harness.spec.loading import load_specs

        return [make_plan(loaded) for loaded in load_specs(self.path)]

    @property
    def planned(self) -> list[Any]:
        try:
            return self.plans
        except HarnessError as error:
            raise NotApplicable(f"it is no valid spec ({error}): see 'valid'") from error


@TASK_CHECKS.add
def valid(subject: TaskSubject) -> None:
    """Keys, values, names and parameters are right, as ``harness validate`` sees them."""
    ensure(subject.plans, "holds no run")


@TASK_CHECKS.add
def complete(subject: TaskSubject) -> None:
    """It has a name, at least one model and at least one metric."""
    for plan in subject.planned:
        ensure(plan.spec.task.strip(), "has no name")
        ensure(plan.models, f"{plan.spec.task}: has no model")
        ensure(plan.metrics, f"{plan.spec.task}: has no metric")


@TASK_CHECKS.add
def dataset(subject: TaskSubject) -> None:
    """Its reader meets the contract of readers."""
    for plan in subject.planned:
        failed = [outcome for outcome in READER_CHECKS.run(ReaderSubject(plan.reader)) if outcome.failed]
        ensure(not failed, f"{plan.spec.task}: " + "; ".join(f"{o.check}: {o.reason}" for o in failed))


@TASK_CHECKS.add
def runs(subject: TaskSubject) -> None:
    """Its first examples run from beginning to end, no model fails, and every metric has a number."""
    from harness.api import evaluate

    plans = subject.planned
    done = evaluate(subject.path, limit=FIRST_RUN)
    ensure(not done.failed, f"{len(done.failed)} examples failed: {next(iter(done.failed.items()), '')}")
    numbered = {record["metric"] for record in done.results if isinstance(record["value"], (int, float))}
    missing = {
        metric.label for plan in plans for metric in plan.metrics if metric.metric.spec.level != "model"
    } - numbered
    ensure(not missing, f"no number on the first {FIRST_RUN} examples for {', '.join(sorted(missing))}")
