"""Models and metrics of a spec, created; an error about one of them has its line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TypeVar, cast

from harness.contracts import Adapter, Metric, Parameters, TokenScoreMetric, Values
from harness.errors import HarnessError, InputError
from harness.files.secrets import redact
from harness.files.yaml_source import Key
from harness.registry import current, split_spec
from harness.run.metric_plan import (
    AnyMetricPlan,
    ModelPlan,
    expand_metric_params,
    metric_plan,
    unique,
    with_unique_labels,
)
from harness.spec.loading import AnyLoaded, LoadedSpec

T = TypeVar("T")


def plan_models(loaded: LoadedSpec) -> tuple[ModelPlan, ...]:
    """Return the models of a spec, created, with labels that differ; raise
    :class:`InputError` with ``file:line`` for an unknown name or parameter.
    """
    models: list[ModelPlan] = []
    components = [split_spec(component, "model") for component in loaded.spec.models]
    weights = _name_weights([params.get("model", "") for _, params in components])
    for index, ((name, params), model_name) in enumerate(zip(components, weights)):
        # no parameter of the adapter
        own_label = str(params.pop("label", ""))
        label = redact(own_label or model_name or _short_label(name, params))
        adapter = create_component(loaded, ("models", index), "adapters", name, params)
        models.append(ModelPlan(label, name, params, cast(Adapter, adapter)))

    labels = unique([model.label for model in models])
    return tuple(replace(model, label=label) for model, label in zip(models, labels))


def _short_label(name: str, params: Parameters) -> str:
    system = params.get("system")
    return f"{name}({system})" if isinstance(system, str) else name


def _name_weights(models: Sequence[object]) -> list[str]:
    """Return the last part of each folder or name of a model, with as many parts before
    it as tell different ones apart.

    >>> _name_weights(["org/blip", "out/a/last", "out/b/last/", 3])
    ['blip', 'a/last', 'b/last', '']
    """
    paths = [
        PurePath(model).parts if isinstance(model, str) else () for model in models
    ]
    names: list[str] = []
    for parts in paths:
        others = [other for other in paths if other != parts]
        size = 1
        while size < len(parts):
            if not any(other[-size:] == parts[-size:] for other in others):
                break
            size += 1
        names.append("/".join(part for part in parts[-size:] if part != "/"))
    return names


def planned_metrics(
    loaded: AnyLoaded, *, judges_pairs: bool = False
) -> tuple[AnyMetricPlan, ...]:
    """Return the metrics of a spec, created; raise :class:`InputError` with
    ``file:line`` for an unknown name or parameter, and for metrics that compare two
    captions unless the task ``judges_pairs``.
    """
    plans: list[AnyMetricPlan] = []
    for index, component in enumerate(loaded.spec.metrics):
        name, params = split_spec(component, "metric")
        key: Key = ("metrics", index)

        def choices(name: str = name, params: Parameters = params) -> list[Values]:
            return list(expand_metric_params(name, params))

        for choice in _call_with_location(loaded, key, choices):
            metric = cast(
                "Metric | TokenScoreMetric",
                create_component(loaded, key, "metrics", name, choice),
            )
            if metric.spec.rival and not judges_pairs:
                raise InputError(
                    f"{name} with rival: true needs judged pairs "
                    "(harness run judgments/caparena)",
                    loaded.where(*key),
                )
            plans.append(metric_plan(name, choice, metric))
    return tuple(with_unique_labels(plans))


def create_component(
    loaded: AnyLoaded,
    key: Key,
    kind: str,
    name: str,
    params: Parameters,
) -> object:
    """Return a component of the spec; an error that names one of its parameters carries
    the line of that parameter.
    """

    def create() -> object:
        try:
            return current().create(kind, name, params)
        except InputError as error:
            # the command line or a mapping: the error's own place says more
            if not loaded.in_file(*key):
                raise
            below = key if kind == "readers" else (*key, name)
            location = loaded.where(*below, *_parameter_at_fault(params, error))
            raise InputError(
                str(error), location, parameter=error.parameter, value=error.value
            ) from error

    return _call_with_location(loaded, key, create)


def _parameter_at_fault(params: Parameters, error: HarnessError) -> list[str]:
    """Return the parameter that an error names,
    or whose value (a path) is the place of the error; else nothing.
    """
    if error.parameter in params:
        return [str(error.parameter)]
    for name, value in params.items():
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        for item in items:
            if isinstance(item, str) and item and _is_place(item, error):
                return [name]
    return []


def _is_place(value: str, error: HarnessError) -> bool:
    location = error.where or ""
    return error.value == value or location == value or location.startswith(f"{value}:")


def _call_with_location(loaded: AnyLoaded, key: Key, create: Callable[[], T]) -> T:
    """Return ``create()``; raise its errors with the spec's line."""
    try:
        return create()
    except InputError:
        raise
    except HarnessError as error:
        raise InputError(
            str(error), loaded.where(*key), parameter=error.parameter, value=error.value
        ) from error
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{'.'.join(map(str, key))}: {error}", loaded.where(*key)
        ) from error
