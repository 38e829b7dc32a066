"""From a spec to what will be done: components made, grids expanded, names and parameters checked before anything runs."""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from harness.contracts import Adapter, Decoding, Reader
from harness.errors import HarnessError, InputError, did_you_mean
from harness.files.yaml_source import Key
from harness.registry import current, split_spec
from harness.reporting.view_checks import check_cells
from harness.run.metric_plan import MetricPlan, expand_params, metric_labels, unique
from harness.spec.loading import LoadedSpec
from harness.spec.models import DecodingSpec, Spec

RECORD_FIELDS = ("model", "metric", "task", "level", "signature", "decoding", "params", "model_params", "sizes")
DECODING_AXES = ("strategy", "temperature", "top_p", "top_k", "beams", "length_penalty", "max_length", "candidates")


@dataclass(frozen=True)
class ModelPlan:
    """One model of the run."""

    label: str
    name: str
    params: Mapping[str, Any]
    adapter: Adapter


@dataclass(frozen=True)
class Point:
    """One decoding of the grid. Points that differ in ``candidates`` alone share one generation."""

    decoding: Decoding
    generation: Decoding

    def described(self) -> dict[str, Any]:
        """The fields that differ from the defaults, for results and tables."""
        default = Decoding()
        return {
            f.name: (dict(value) if f.name == "options" else value)
            for f in fields(Decoding)
            if (value := getattr(self.decoding, f.name)) != getattr(default, f.name)
        }


@dataclass(frozen=True)
class Plan:
    """All that a run will do."""

    spec: Spec
    reader: Reader
    models: tuple[ModelPlan, ...]
    points: tuple[Point, ...]
    metrics: tuple[MetricPlan, ...]
    reference_counts: tuple[int | None, ...]

    def caption_metrics(self) -> list[MetricPlan]:
        """The metrics that score captions (the others judge token scores)."""
        return [plan for plan in self.metrics if plan.metric.spec.level != "model"]

    def generations(self) -> dict[Decoding, list[Point]]:
        """Decodings to draw, each with the points of the grid that share it."""
        groups: dict[Decoding, list[Point]] = {}
        for point in self.points:
            groups.setdefault(point.generation, []).append(point)
        return groups

    def digest(self) -> str:
        """Changes when anything that could change a number changes: spec, data, models, metric parameters, version."""
        from harness import __version__

        spec = self.spec.model_dump(mode="json", exclude={"views", "description", "notice"})
        parts = {
            "version": __version__,
            "spec": spec,
            "data": self.reader.fingerprint(),
            "models": {model.label: model.adapter.fingerprint() for model in self.models},
            "metrics": {metric.label: metric.metric.signature() for metric in self.metrics},
            "code": code_of([self.reader, *(m.adapter for m in self.models), *(m.metric for m in self.metrics)]),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def code_of(components: Sequence[Any]) -> dict[str, str]:
    """Module -> hash of its source, for the components and what they hold (a metric's distance): edited code is another run."""
    parts = list(components) + [
        part for item in components if hasattr(item, "__dict__") for part in vars(item).values()
    ]
    found: dict[str, str] = {}
    for part in parts:
        name = type(part).__module__
        file = getattr(sys.modules.get(name), "__file__", None)
        if name not in found and file and file.endswith(".py") and hasattr(part, "__dict__"):
            found[name] = hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
    return found


def make_plan(loaded: LoadedSpec) -> Plan:
    """The plan of a spec. Raises :class:`InputError` with ``file:line`` for every name or parameter that is not known."""
    spec = loaded.spec
    reader = _created(loaded, ("dataset",), "readers", spec.dataset.reader, spec.dataset.params)
    models = _models(loaded)
    metrics = _metrics(loaded)
    _check_views(loaded, metrics, [model.label for model in models])
    counts = spec.references if isinstance(spec.references, list) else [spec.references]
    plan = Plan(spec, reader, models, decoding_points(spec.decoding), metrics, tuple(dict.fromkeys(counts)))
    check_cells(loaded, plan)
    return plan


def _created(loaded: LoadedSpec, key: Key, kind: str, name: str, params: Mapping[str, Any]) -> Any:
    """A component of the spec; a mistake that names one of its parameters' values (a path) is told where that stands."""

    def make() -> Any:
        try:
            return current().create(kind, name, params)
        except InputError as error:
            if not loaded.in_file(*key):  # the command line or a mapping of the API: the message's own place says more
                raise
            below = key if kind == "readers" else (*key, name)
            raise InputError(str(error), loaded.where(*below, *_parameter_at_fault(params, error))) from error

    return _located(loaded, key, make)


def _parameter_at_fault(params: Mapping[str, Any], error: HarnessError) -> list[str]:
    """Return the parameter that an error names, or whose value (a path) is the place of the error; else nothing."""
    if error.parameter in params:
        return [str(error.parameter)]
    for name, value in params.items():
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, str) and item and _is_place(item, error) for item in items):
            return [name]
    return []


def _is_place(value: str, error: HarnessError) -> bool:
    place = error.where or ""
    return error.value == value or place == value or place.startswith(f"{value}:")


def _located(loaded: LoadedSpec, key: Key, make: Any) -> Any:
    try:
        return make()
    except InputError:
        raise
    except HarnessError as error:
        raise InputError(str(error), loaded.where(*key)) from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{'.'.join(map(str, key))}: {error}", loaded.where(*key)) from error


def _check_views(loaded: LoadedSpec, metrics: Sequence[MetricPlan], models: Sequence[str]) -> None:
    """Raise :class:`InputError` for a view of a metric or model that the run does not have, before the run is made."""
    labels = [plan.label for plan in metrics]
    if any(plan.metric.spec.level == "model" for plan in metrics):  # their columns are known only when they are scored
        return
    for index, view in enumerate(loaded.spec.views):
        for axis in (view.x, view.by):
            _check_axis(axis, loaded.where("views", index))
        if view.against is not None and view.against not in models:
            hint = did_you_mean(view.against, models)
            told = f"the view compares with the model '{view.against}'{hint}; there are {', '.join(models)}"
            raise InputError(told, loaded.where("views", index))
        wanted = [view.y] if isinstance(view.y, str) else list(view.y)
        wanted += [view.x] if view.x.startswith("metric:") else []
        for item in wanted:
            if view.plot == "texts" and ":" in item and not item.startswith("p:"):
                raise InputError(
                    f"a view of texts is ordered by a metric or by p:METRIC; found '{item}'",
                    loaded.where("views", index),
                )
            name = item.rpartition(":")[2]
            if name != "*" and name not in labels and item not in labels:
                hint = did_you_mean(name, labels)
                raise InputError(
                    f"the view asks for the metric '{name}'{hint}; there are {', '.join(labels)}",
                    loaded.where("views", index),
                )


def _check_axis(axis: str | None, where: str) -> None:
    root, _, rest = (axis or "model").partition(".")
    if root.startswith("metric:"):
        return
    if root not in RECORD_FIELDS:
        raise InputError(f"the view's axis '{axis}' is no field of a record{did_you_mean(root, RECORD_FIELDS)}", where)
    known = (*DECODING_AXES, "references", "options")
    if root == "decoding" and rest.split(".")[0] not in known:
        raise InputError(f"the view's axis '{axis}': decoding has no '{rest}'{did_you_mean(rest, known)}", where)


def decoding_points(spec: DecodingSpec) -> tuple[Point, ...]:
    """The product of all list-valued fields, in the order written in :data:`DECODING_AXES`."""
    axes = []
    for name in DECODING_AXES:
        value = getattr(spec, name)
        axes.append(value if isinstance(value, list) else [value])
    sizes = [size for size in axes[-1] if size is not None]
    largest = max(sizes) if sizes else None
    points = []
    for values in itertools.product(*axes):
        decoding = Decoding(**dict(zip(DECODING_AXES, values)), options=spec.options)
        points.append(Point(decoding, replace(decoding, candidates=largest)))
    return tuple(points)


def _models(loaded: LoadedSpec) -> tuple[ModelPlan, ...]:
    made: list[ModelPlan] = []
    for index, component in enumerate(loaded.spec.models):
        name, params = split_spec(component, "model")
        label = str(params.pop("label", "")) or _short_label(name, params)
        key = ("models", index)
        adapter = _created(loaded, key, "adapters", name, params)
        made.append(ModelPlan(label, name, params, adapter))
    labels = unique([model.label for model in made])
    return tuple(replace(model, label=label) for model, label in zip(made, labels))


def _short_label(name: str, params: Mapping[str, Any]) -> str:
    system = params.get("system")
    return f"{name}({system})" if isinstance(system, str) else name


def _metrics(loaded: LoadedSpec) -> tuple[MetricPlan, ...]:
    made: list[MetricPlan] = []
    for index, component in enumerate(loaded.spec.metrics):
        name, params = split_spec(component, "metric")
        key = ("metrics", index)
        factory = _located(loaded, key, lambda name=name: current().load("metrics", name))
        for choice in expand_params(params, getattr(factory, "list_parameters", ())):
            metric = _created(loaded, key, "metrics", name, choice)
            made.append(MetricPlan(metric.spec.name, name, choice, metric))
    return tuple(replace(plan, label=label) for plan, label in zip(made, metric_labels(made)))
