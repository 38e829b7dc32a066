"""Kinds of task that packages add by the key ``task_kinds`` of their manifest: the key
of a spec that makes it a task of a kind is the name of the entry.

A spec without such a key is a task of models on a data set, and loads none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from harness.contracts import CaptionSet, Parameters, Values
from harness.registry import current

KIND = "task_kinds"
"""Key of a manifest."""


class TaskSpec(Protocol):
    """Keys that the specs of every kind of task have."""

    @property
    def task(self) -> str:
        """Name of the task."""
        ...

    @property
    def notice(self) -> str:
        """Text that is printed before a run."""
        ...

    @property
    def variant(self) -> str:
        """Variant that was chosen."""
        ...

    @property
    def seed(self) -> int:
        """Seed of the run."""
        ...

    @property
    def metrics(self) -> Sequence[Any]:
        """Metrics as the spec has them."""
        ...

    def model_dump(self, *, mode: str = "python") -> dict[str, Any]:
        """Return the spec as JSON values."""
        ...


class KindPlan(Protocol):
    """Plan of a task of a kind."""

    @property
    def kind(self) -> str:
        """Name of the kind, the value of ``kind`` in the manifest of its runs."""
        ...

    @property
    def spec(self) -> TaskSpec:
        """The spec."""
        ...

    @property
    def metrics(self) -> tuple[Any, ...]:
        """Plans of the metrics (:class:`harness.run.metric_plan.MetricPlan`)."""
        ...

    @property
    def absence(self) -> str:
        """One line that says which files are missing; empty where all are there."""
        ...

    @property
    def obstacle(self) -> str:
        """One line that says why the task cannot be run; empty where all is well."""
        ...

    def describe(self) -> Values:
        """Return what ``harness validate`` prints beside task and metrics."""
        ...

    def caption_sets(self) -> Sequence[CaptionSet]:
        """Return the sets that the metrics score; raises the errors of the data."""
        ...


class TaskKind(Protocol):
    """A kind of task: an object with these members, such as
    :class:`harness.judgments.task_kind.JudgmentTasks`.

    Runs and comparisons are those of :mod:`harness.run.finished` and
    :mod:`harness.analysis.comparisons`, tables those of :mod:`harness.reporting.table`.
    """

    @property
    def spec(self) -> type[Any]:
        """Pydantic model of the spec."""
        ...

    def split(self, spec: Any) -> Sequence[Any]:
        """Return the specs of the tasks that a spec describes: itself, or several."""
        ...

    def plan(self, loaded: Any) -> KindPlan:
        """Return the plan of a :class:`~harness.spec.loading.LoadedTask`, checked."""
        ...

    def execute(
        self, plan: Any, *, output: Any, mode: Any, show: bool, options: Any
    ) -> Any:
        """Execute a plan and return the finished run."""
        ...

    def compare(
        self, runs: Sequence[Any], baseline: str | None, metrics: Sequence[str] | None
    ) -> list[Any]:
        """Return the comparisons of ``harness compare`` of runs of the kind."""
        ...

    def table_of_run(self, run: Any) -> Any:
        """Return the table of the results of a run."""
        ...

    def table_of_runs(self, runs: Sequence[Any]) -> Any:
        """Return the table of several runs."""
        ...


def find_kind(content: Parameters) -> str:
    """Return the kind of task whose key the content of a spec has; empty for a task of
    models.
    """
    registry = current()
    names = (registry.bare_name(entry) for entry in registry.entries(KIND))
    return next((name for name in names if name in content), "")


def load_kind(name: str) -> TaskKind:
    """Return a kind of task by its name; raises as
    :meth:`harness.registry.catalogue.Registry.load`.
    """
    return cast(TaskKind, current().load(KIND, name))


def kinds_of_specs() -> Mapping[str, TaskKind]:
    """Return name -> kind of task, all of them."""
    registry = current()
    names = [registry.bare_name(entry) for entry in registry.entries(KIND)]
    return {name: load_kind(name) for name in names}
