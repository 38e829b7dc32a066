"""Plans of specs: components created, grids expanded,
names and parameters checked before anything runs.

The views of a spec need known metrics, models and axes, and exactly one result per
table cell.
"""

from __future__ import annotations

from typing import cast

from harness.contracts import Reader, find_refusal
from harness.errors import HarnessError, InputError
from harness.run.covered_views import drop_uncovered_views
from harness.run.decoding_grid import decoding_grid
from harness.run.event_metrics import NEED, options_by_need
from harness.run.file_options import FileOptions
from harness.run.metric_plan import Plan, caption_plans
from harness.run.planned_components import (
    create_component,
    plan_models,
    planned_metrics,
)
from harness.run.view_cells import check_cells
from harness.run.view_checks import check_views
from harness.spec.loading import LoadedSpec


def make_plan(loaded: LoadedSpec) -> Plan:
    """Return the plan of a spec; raise :class:`InputError` with ``file:line`` for an
    unknown name or parameter.
    """
    spec = loaded.spec
    reader = create_component(
        loaded, ("dataset",), "readers", spec.dataset.reader, spec.dataset.params
    )
    plan = Plan(
        spec,
        cast(Reader, reader),
        plan_models(loaded),
        decoding_grid(spec.decoding),
        planned_metrics(loaded),
        spec.reference_counts,
    )
    check_sources(loaded, plan)
    check_decodings(loaded, plan)
    check_events(loaded, plan)

    # Views are checked last: those that other metrics or models leave empty are no
    # mistakes of the file.
    loaded, plan = drop_uncovered_views(loaded, plan)
    check_views(loaded, plan)
    check_cells(loaded, plan)
    return plan


def check_decodings(loaded: LoadedSpec, plan: Plan) -> None:
    """Raise :class:`InputError` for a model that cannot decode as the run asks, before
    any model is trained.
    """
    for index, model in enumerate(plan.models):
        for decoding in plan.decodings:
            if reason := find_refusal(model.adapter, decoding):
                own = f"label: {model.label}, model: ..., decoding: {{strategy: ...}}"
                raise InputError(
                    f"the model '{model.label}' cannot run: {reason}; give it one of "
                    f"its own with {{with-decoding: {{{own}}}}}",
                    loaded.where("models", index),
                    parameter="strategy",
                    value=decoding.strategy,
                )


def check_events(loaded: LoadedSpec, plan: Plan) -> None:
    """Raise :class:`InputError` for metrics of events beside metrics of captions, and
    for a data set that is not read as they need it.
    """
    of_events = {
        item.label: NEED in item.metric.spec.needs
        for item in caption_plans(plan.metrics)
    }
    setting = str(plan.spec.dataset.params.get("events") or "")
    try:
        needed = options_by_need(of_events, FileOptions(events=setting)).events
    except HarnessError as error:
        raise InputError(error.message, loaded.where("metrics")) from error
    if needed != setting:
        raise InputError(
            "the metrics score sets of events; expected events: sets in the data set "
            "and in each model of predictions",
            loaded.where("dataset"),
            parameter="events",
        )


def check_sources(loaded: LoadedSpec, plan: Plan) -> None:
    """Raise :class:`InputError` for sources of ``same`` that are not different models
    of the run, and for single captions.
    """
    names = plan.spec.same or []
    labels = [model.label for model in plan.models]
    for index, name in enumerate(names):
        if name not in labels:
            raise InputError.of_name(
                "same: there is no model",
                name,
                labels,
                "models are",
                loaded.where("same", index),
            )
        if name in names[:index]:
            raise InputError(
                f"same: the model '{name}' is named twice; expected different models",
                loaded.where("same", index),
            )

    if names and len(plan.decodings) * len(plan.reference_counts) > 1:
        raise InputError(
            "same: compares models under one decoding and number of references; "
            "found a grid",
            loaded.where("same"),
        )
    if names and plan.decodings[0].candidates == 1:
        raise InputError(
            "same: one caption of each model per example has a smallest p-value of 1 "
            "(5 captions 2/252); expected candidates: 2 or more",
            loaded.where("decoding", "candidates"),
            parameter="candidates",
            value=1,
        )
