"""Whether a view has one result for each of its cells: told before a run, from its plan alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harness.errors import InputError

if TYPE_CHECKING:
    from harness.run.plan import Plan
    from harness.spec.loading import LoadedSpec
    from harness.spec.models import ViewSpec

ONE_EACH = ("table", "bar", "heatmap")
"""Plots with one number a cell; lines and scatters show every point."""


def check_cells(loaded: LoadedSpec, plan: Plan) -> None:
    """Raise :class:`InputError` for a view in which two results fall into one cell, naming what they differ in.

    Metrics of level ``model`` have columns that are known only when they are scored; a view of theirs is not looked at.
    """
    if any(item.metric.spec.level == "model" for item in plan.metrics):
        return
    for index, view in enumerate(loaded.spec.views):
        if view.plot not in ONE_EACH or any(
            (axis or "").startswith(("metric:", "sizes")) for axis in (view.x, view.by)
        ):
            continue
        differ = _shared_cell(plan, view)
        if differ:
            name, values = differ
            raise InputError(
                f"the view '{view.title or view.plot}' has one cell for several results, which differ in {name} ({values}): "
                f"make {name} its x or by",
                loaded.where("views", index),
            )


def _shared_cell(plan: Plan, view: ViewSpec) -> tuple[str, str] | None:
    """What two results of one cell differ in, and both values."""
    from harness.reporting.views import lookup  # the report's own grouping

    seen: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for record in _records(plan, view):
        cell = tuple(str(lookup(record, axis)) for axis in (view.x, view.by, "metric") if axis)
        other = seen.setdefault(cell, record)
        axes = dict.fromkeys((*other["decoding"], *record["decoding"]))
        for name in ("model", *(f"decoding.{axis}" for axis in axes)):
            if lookup(other, name) != lookup(record, name):
                return name, f"{lookup(other, name)}, {lookup(record, name)}"
    return None


def _records(plan: Plan, view: ViewSpec) -> Iterator[Mapping[str, Any]]:
    """The records that the plan will give, as far as a view's axes look at them, of the metrics that it shows."""
    wanted = [view.y] if isinstance(view.y, str) else list(view.y)
    names = {item.rpartition(":")[2] for item in wanted}
    for model in plan.models:
        for point in plan.points:
            for count in plan.reference_counts:
                for metric in plan.metrics:
                    if "*" in names or metric.label in names or metric.label in wanted:
                        yield {
                            "model": model.label, "model_params": dict(model.params), "task": plan.spec.task,
                            "decoding": {**point.described(), **({"references": count} if count is not None else {})},
                            "metric": metric.label, "params": dict(metric.params), "level": metric.metric.spec.level,
                            "signature": metric.metric.signature(),
                        }  # fmt: skip
