"""Checks of a reader and of a task file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harness.contracts import Example
from harness.errors import HarnessError
from harness.judgments.plan import JudgmentPlan
from harness.run.metric_plan import Plan
from harness.testing import shared_checks
from harness.testing.base_subject import BaseSubject
from harness.testing.results import Checks, Instance, NotApplicable, ensure

if TYPE_CHECKING:
    from harness.run.tasks import TaskPlan

READER_CHECKS = Checks("readers")
TASK_CHECKS = Checks("tasks")
MAX_EXAMPLES = 200
"""Maximum number of examples of a reader that are checked."""
RUN_EXAMPLES = 12
"""Number of examples on which a task is run."""


@dataclass(eq=False)
class ReaderSubject(BaseSubject[list[Any]]):
    """A reader, checked on its first examples."""

    noun = "examples"
    base_check = "examples"
    identity_method = "fingerprint"

    def compute(self, component: Instance = None) -> list[Any]:
        """Return the first examples of the reader, at most :data:`MAX_EXAMPLES`."""
        return list(islice(component or self.component, MAX_EXAMPLES))

    def difference(self, expected: list[Any], actual: list[Any]) -> str:
        """Return the first position at which the examples differ."""
        if len(expected) != len(actual):
            return f"{len(expected)} and {len(actual)} examples"

        unequal = [
            k for k, (left, right) in enumerate(zip(expected, actual)) if left != right
        ]
        return f"example {unequal[0]}" if unequal else ""


READER_CHECKS.extend([shared_checks.described, shared_checks.fingerprint])


@READER_CHECKS.add
def examples(subject: ReaderSubject) -> None:
    """The reader yields Examples with distinct ids and at least one reference,
    all texts.
    """
    values = subject.ensure_runs()
    ensure(values, "yields no example")

    ids: set[str] = set()
    for k, item in enumerate(values):
        ensure(
            isinstance(item, Example),
            f"yields {type(item).__name__} at {k}; expected an Example",
        )
        ensure(
            isinstance(item.id, str) and item.id,
            f"the id of example {k} is {item.id!r}; expected a text",
        )
        ensure(item.id not in ids, f"two examples have the id '{item.id}'")
        ids.add(item.id)

        plain = isinstance(item.references, tuple) and all(
            isinstance(text, str) for text in item.references
        )
        ensure(
            plain,
            f"'{item.id}': references are {item.references!r:.60}; "
            "expected a tuple of texts",
        )
        ensure(item.references, f"'{item.id}' has no references")


READER_CHECKS.extend([shared_checks.deterministic, *shared_checks.LOCAL_CONDUCT])


@dataclass(eq=False)
class TaskSubject:
    """A task file."""

    path: str | Path

    @cached_property
    def plans(self) -> list[TaskPlan]:
        """Plans of the runs of the task; raises :class:`HarnessError` for a spec that
        is not valid.
        """
        from harness.api import plans

        return plans(self.path)

    @property
    def valid_plans(self) -> list[TaskPlan]:
        """The plans; raises :class:`NotApplicable` for a spec that is not valid."""
        try:
            return self.plans
        except HarnessError as error:
            raise NotApplicable(
                f"the spec is not valid ({error}): see 'valid'"
            ) from error


@TASK_CHECKS.add
def valid(subject: TaskSubject) -> None:
    """Keys, values, names and parameters are valid, as for ``harness validate``."""
    ensure(subject.plans, "defines no run")


@TASK_CHECKS.add
def complete(subject: TaskSubject) -> None:
    """The task has a name, at least one model (a task of human judgments: a way to get
    its files) and at least one metric.
    """
    for plan in subject.valid_plans:
        ensure(plan.spec.task.strip(), "has no name")
        if isinstance(plan, Plan):
            ensure(plan.models, f"{plan.spec.task}: has no model")
        elif plan.kind == JudgmentPlan.kind:
            judgments = cast(JudgmentPlan, plan).spec.judgments
            ensure(
                judgments.get.strip(),
                f"{plan.spec.task}: judgments.get does not tell how to get the files",
            )
        ensure(plan.metrics, f"{plan.spec.task}: has no metric")


@TASK_CHECKS.add
def dataset(subject: TaskSubject) -> None:
    """The reader of the task meets the contract of readers;
    a judgment set can be read.
    """
    for plan in subject.valid_plans:
        if not isinstance(plan, Plan):
            ensure(plan.caption_sets(), f"{plan.spec.task}: has no captions")
            continue

        failures = [
            outcome
            for outcome in READER_CHECKS.run(ReaderSubject(plan.reader))
            if outcome.failed
        ]
        ensure(
            not failures,
            f"{plan.spec.task}: "
            + "; ".join(f"{o.check}: {o.reason}" for o in failures),
        )


@TASK_CHECKS.add
def runs(subject: TaskSubject) -> None:
    """The first examples run to the end, no example fails,
    and every metric of captions has a number.
    """
    from harness.api import evaluate

    plans = subject.valid_plans
    run = evaluate(subject.path, limit=RUN_EXAMPLES)
    ensure(
        not run.failed,
        f"{len(run.failed)} examples failed: {next(iter(run.failed.items()), '')}",
    )

    numbered = {
        record["metric"]
        for record in run.results
        if isinstance(record["value"], (int, float))
    }
    labels = {
        metric.label
        for plan in plans
        for metric in plan.metrics
        if metric.metric.spec.level != "model"
    }

    missing = ", ".join(sorted(labels - numbered))
    ensure(not missing, f"no number on the first {RUN_EXAMPLES} examples for {missing}")
