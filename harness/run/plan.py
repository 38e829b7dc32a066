"""Plans of specs: components created, grids expanded, names and parameters checked before anything runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, cast

from harness.contracts import Adapter, Decoding, Metric, Parameters, Reader, TokenScoreMetric, Values
from harness.errors import HarnessError, InputError
from harness.files.secrets import redact
from harness.files.yaml_source import Key
from harness.registry import current, split_spec
from harness.run.metric_plan import AnyMetricPlan, expand_metric_params, metric_plan, unique, with_unique_labels
from harness.run.task_plan import ModelPlan, Plan
from harness.run.view_checks import DECODING_AXES, check_cells, check_views, drop_uncovered_views
from harness.spec.loading import LoadedJudgments, LoadedSpec
from harness.spec.models import DecodingSpec

T = TypeVar("T")


def make_plan(loaded: LoadedSpec) -> Plan:
    """Return the plan of a spec; raise :class:`InputError` with ``file:line`` for an unknown name or parameter."""
    spec = loaded.spec
    reader = cast(Reader, _create(loaded, ("dataset",), "readers", spec.dataset.reader, spec.dataset.params))
    models, metrics = _models(loaded), planned_metrics(loaded)
    plan = Plan(spec, reader, models, decoding_grid(spec.decoding), metrics, spec.reference_counts)
    loaded, plan = drop_uncovered_views(loaded, plan)
    check_views(loaded, plan)
    check_cells(loaded, plan)
    return plan


def decoding_grid(spec: DecodingSpec) -> tuple[Decoding, ...]:
    """Return the product of all list-valued fields, in the order of ``DECODING_AXES``."""
    axes: list[list[Any]] = []
    for name in DECODING_AXES:
        value = getattr(spec, name)
        axes.append(cast("list[Any]", value) if isinstance(value, list) else [value])
    return tuple(Decoding(**dict(zip(DECODING_AXES, values)), options=spec.options) for values in itertools.product(*axes))


# --------------------------------------------------------------------------- components
def _models(loaded: LoadedSpec) -> tuple[ModelPlan, ...]:
    models: list[ModelPlan] = []
    for index, component in enumerate(loaded.spec.models):
        name, params = split_spec(component, "model")
        label = redact(str(params.pop("label", "")) or _short_label(name, params))
        adapter = cast(Adapter, _create(loaded, ("models", index), "adapters", name, params))
        models.append(ModelPlan(label, name, params, adapter))
    labels = unique([model.label for model in models])
    return tuple(replace(model, label=label) for model, label in zip(models, labels))


def _short_label(name: str, params: Parameters) -> str:
    system = params.get("system")
    return f"{name}({system})" if isinstance(system, str) else name


def planned_metrics(loaded: LoadedSpec | LoadedJudgments) -> tuple[AnyMetricPlan, ...]:
    """Return the metrics of a spec, created; raise :class:`InputError` with ``file:line`` for an unknown name or parameter."""
    plans: list[AnyMetricPlan] = []
    for index, component in enumerate(loaded.spec.metrics):
        name, params = split_spec(component, "metric")
        key: Key = ("metrics", index)

        def choices(name: str = name, params: Parameters = params) -> list[Values]:
            return list(expand_metric_params(name, params))

        for choice in _call_with_location(loaded, key, choices):
            metric = cast("Metric | TokenScoreMetric", _create(loaded, key, "metrics", name, choice))
            plans.append(metric_plan(name, choice, metric))
    return tuple(with_unique_labels(plans))


def _create(loaded: LoadedSpec | LoadedJudgments, key: Key, kind: str, name: str, params: Parameters) -> object:
    """Return a component of the spec; an error that names one of its parameters carries the line of that parameter."""

    def create() -> object:
        try:
            return current().create(kind, name, params)
        except InputError as error:
            if not loaded.in_file(*key):  # the command line or a mapping: the error's own place says more
                raise
            below = key if kind == "readers" else (*key, name)
            location = loaded.where(*below, *_parameter_at_fault(params, error))
            raise InputError(str(error), location, parameter=error.parameter, value=error.value) from error

    return _call_with_location(loaded, key, create)


def _parameter_at_fault(params: Parameters, error: HarnessError) -> list[str]:
    """Return the parameter that an error names, or whose value (a path) is the place of the error; else nothing."""
    if error.parameter in params:
        return [str(error.parameter)]
    for name, value in params.items():
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        if any(isinstance(item, str) and item and _is_place(item, error) for item in items):
            return [name]
    return []


def _is_place(value: str, error: HarnessError) -> bool:
    location = error.where or ""
    return error.value == value or location == value or location.startswith(f"{value}:")


def _call_with_location(loaded: LoadedSpec | LoadedJudgments, key: Key, create: Callable[[], T]) -> T:
    """Return ``create()``; raise its errors with the spec's line."""
    try:
        return create()
    except InputError:
        raise
    except HarnessError as error:
        raise InputError(str(error), loaded.where(*key), parameter=error.parameter, value=error.value) from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{'.'.join(map(str, key))}: {error}", loaded.where(*key)) from error
