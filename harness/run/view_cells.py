"""Cells of the views of a spec, each of which shows one result."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from harness.errors import InputError
from harness.run.metric_plan import Plan
from harness.rundir.records import ResultRecord, changed_fields, lookup
from harness.spec.loading import LoadedSpec
from harness.spec.models import ViewSpec

ONE_VALUE_PLOTS = ("table", "bar", "heatmap")
"""Plots with one number per cell; lines and scatters show every point."""


def check_cells(loaded: LoadedSpec, plan: Plan) -> None:
    """Raise :class:`InputError` for a view with two results in one cell, naming the
    field in which they differ.

    Columns of metrics of level ``model`` are known only after scoring; a run with such
    metrics is not checked.
    """
    if plan.token_metrics:
        return
    for index, view in enumerate(loaded.spec.views):
        difference = shared_cell(plan, view)
        if difference:
            name, values = difference
            raise InputError(
                f"the view '{view.title or view.plot}' has one cell for several "
                f"results, which differ in {name} ({values}): "
                f"make {name} its x or by",
                loaded.where("views", index),
            )


def shared_cell(plan: Plan, view: ViewSpec) -> tuple[str, str] | None:
    """Return the field in which two results of one cell differ, with both values; None
    when no cell has two results.

    Plots that show every point, and axes whose values are known only after scoring,
    have no such cells.
    """
    open_axis = any(
        (axis or "").startswith(("metric:", "sizes")) for axis in (view.x, view.by)
    )
    if view.plot not in ONE_VALUE_PLOTS or open_axis:
        return None

    axes = [axis for axis in (view.x, view.by, "metric") if axis]
    first_of_cell: dict[tuple[str, ...], ResultRecord] = {}
    for record in _records(plan, view):
        cell = tuple(str(lookup(record, axis)) for axis in axes)
        first = first_of_cell.setdefault(cell, record)

        # Systems differ in the model, or in a field of the decoding.
        fields = dict.fromkeys((*first.decoding, *record.decoding))
        for name in ("model", *(f"decoding.{field}" for field in fields)):
            if lookup(first, name) != lookup(record, name):
                return name, f"{lookup(first, name)}, {lookup(record, name)}"
    return None


def _records(plan: Plan, view: ViewSpec) -> Iterator[ResultRecord]:
    """Yield the records that the plan will give of the view's metrics,
    without their numbers.
    """
    # quantities such as p:METRIC are those of the metric
    names = {*view.metrics, *(item.rpartition(":")[2] for item in view.metrics)}
    metrics = [
        metric for metric in plan.metrics if "*" in names or metric.label in names
    ]
    systems = itertools.product(
        plan.models, plan.decodings, plan.reference_counts, metrics
    )
    for model, decoding, count, metric in systems:
        references = {"references": count} if count is not None else {}
        yield ResultRecord(
            model=model.label,
            model_params=model.params,
            task=plan.spec.task,
            decoding={**changed_fields(decoding), **references},
            metric=metric.label,
            params=metric.params,
            level=metric.metric.spec.level,
            signature=metric.metric.signature(),
        )
