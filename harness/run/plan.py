"""Plans of specs: components created, grids expanded,
names and parameters checked before anything runs.

The views of a spec need known metrics, models and axes, and exactly one result per
table cell.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, TypeVar, cast

from harness.contracts import (
    Adapter,
    Decoding,
    Metric,
    Parameters,
    Reader,
    TokenScoreMetric,
    Values,
)
from harness.errors import HarnessError, InputError, did_you_mean
from harness.files.secrets import redact
from harness.files.yaml_source import Key, Located
from harness.registry import current, split_spec
from harness.run.metric_plan import (
    AnyMetricPlan,
    ModelPlan,
    Plan,
    expand_metric_params,
    metric_plan,
    unique,
    with_unique_labels,
)
from harness.rundir.records import ResultRecord, changed_fields, lookup
from harness.spec.loading import LoadedJudgments, LoadedSpec
from harness.spec.models import DecodingSpec, ViewSpec
from harness.spec.published import EVERY, PublishedTable

T = TypeVar("T")


def make_plan(loaded: LoadedSpec) -> Plan:
    """Return the plan of a spec; raise :class:`InputError` with ``file:line`` for an
    unknown name or parameter.
    """
    spec = loaded.spec
    reader = cast(
        Reader,
        _create(
            loaded, ("dataset",), "readers", spec.dataset.reader, spec.dataset.params
        ),
    )
    models = _models(loaded)
    metrics = planned_metrics(loaded)
    plan = Plan(
        spec,
        reader,
        models,
        decoding_grid(spec.decoding),
        metrics,
        spec.reference_counts,
    )
    check_sources(loaded, plan)
    loaded, plan = drop_uncovered_views(loaded, plan)
    check_views(loaded, plan)
    check_cells(loaded, plan)
    return plan


def decoding_grid(spec: DecodingSpec) -> tuple[Decoding, ...]:
    """Return the product of all list-valued fields,
    in the order of ``DECODING_AXES``.
    """
    axes: list[list[Any]] = []
    for name in DECODING_AXES:
        value = getattr(spec, name)
        axes.append(cast("list[Any]", value) if isinstance(value, list) else [value])
    return tuple(
        Decoding(**dict(zip(DECODING_AXES, values)), options=spec.options)
        for values in itertools.product(*axes)
    )


# --------------------------------------------------------------------------- components
def _models(loaded: LoadedSpec) -> tuple[ModelPlan, ...]:
    models: list[ModelPlan] = []
    components = [split_spec(component, "model") for component in loaded.spec.models]
    weights = _name_weights([params.get("model", "") for _, params in components])
    for index, ((name, params), model_name) in enumerate(zip(components, weights)):
        label = redact(
            str(params.pop("label", "")) or model_name or _short_label(name, params)
        )
        adapter = cast(
            Adapter, _create(loaded, ("models", index), "adapters", name, params)
        )
        models.append(ModelPlan(label, name, params, adapter))
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
        while size < len(parts) and any(
            other[-size:] == parts[-size:] for other in others
        ):
            size += 1
        names.append("/".join(part for part in parts[-size:] if part != "/"))
    return names


def planned_metrics(loaded: LoadedSpec | LoadedJudgments) -> tuple[AnyMetricPlan, ...]:
    """Return the metrics of a spec, created; raise :class:`InputError` with
    ``file:line`` for an unknown name or parameter.
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
                _create(loaded, key, "metrics", name, choice),
            )
            form = (
                loaded.spec.judgments.form
                if isinstance(loaded, LoadedJudgments)
                else "captions"
            )
            if metric.spec.rival and form in ("captions", "mqm"):
                raise InputError(
                    f"{name} with rival: true needs judged pairs (harness run "
                    "judgments/caparena)",
                    loaded.where(*key),
                )
            plans.append(metric_plan(name, choice, metric))
    return tuple(with_unique_labels(plans))


def _create(
    loaded: LoadedSpec | LoadedJudgments,
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
        if any(
            isinstance(item, str) and item and _is_place(item, error) for item in items
        ):
            return [name]
    return []


def _is_place(value: str, error: HarnessError) -> bool:
    location = error.where or ""
    return error.value == value or location == value or location.startswith(f"{value}:")


def _call_with_location(
    loaded: LoadedSpec | LoadedJudgments, key: Key, create: Callable[[], T]
) -> T:
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
        text = (
            "same: one caption of each model per example has a smallest p-value of 1 "
            "(5 captions 2/252); expected candidates: 2 or more"
        )
        raise InputError(
            text,
            loaded.where("decoding", "candidates"),
            parameter="candidates",
            value=1,
        )


RECORD_FIELDS = (
    "model",
    "metric",
    "task",
    "level",
    "signature",
    "decoding",
    "params",
    "model_params",
    "sizes",
)
"""Fields of a record that a view's axis may name."""
DECODING_AXES = (
    "strategy",
    "temperature",
    "top_p",
    "top_k",
    "beams",
    "length_penalty",
    "max_length",
    "candidates",
)
"""Decoding fields that may be lists, in the order of the grid."""
ONE_VALUE_PLOTS = ("table", "bar", "heatmap")
"""Plots with one number per cell; lines and scatters show every point."""


def check_views(loaded: LoadedSpec, plan: Plan) -> None:
    """Raise :class:`InputError` for a view of a metric,
    model or axis that the run does not have.

    Columns of metrics of level ``model`` are known only after scoring; a run with such
    metrics is not checked.
    """
    if plan.token_metrics:
        return
    labels = [item.label for item in plan.metrics]
    models = [item.label for item in plan.models]
    for index, view in enumerate(loaded.spec.views):
        location = loaded.where("views", index)
        for axis in (view.x, view.by):
            _check_axis(axis, location)
        if view.against is not None and view.against not in models:
            hint = did_you_mean(view.against, models)
            text = (
                f"the view compares with the model '{view.against}'{hint}; "
                f"there are {', '.join(models)}"
            )
            raise InputError(text, location, value=view.against)
        for item in (
            *view.metrics,
            *([view.x] if view.x.startswith("metric:") else []),
        ):
            _check_metric(view, item, labels, location)
        _check_published_rows(
            view,
            plan.spec.task,
            labels,
            models,
            loaded.where("views", index, "reference"),
        )


def _check_published_rows(
    view: ViewSpec, task: str, metrics: list[str], models: list[str], location: str
) -> None:
    """Raise :class:`InputError` for published values of a model or metric that the run
    does not have.
    """
    if not isinstance(view.reference, PublishedTable):
        return
    for row in (row for row in view.reference.rows if row.task in (None, task)):
        if (
            view.by == "model"
            and view.x == "metric"
            and row.label not in (None, EVERY, *models)
        ):
            raise InputError(
                "published values of the row "
                f"'{row.label}'{did_you_mean(str(row.label), models)}; "
                "rows of the view are "
                f"{', '.join(models)} (a row of one part of a suite has the key task)",
                location,
                value=row.label,
            )
        unknown = [
            name for name in row.values if view.x == "metric" and name not in metrics
        ]
        if unknown:
            text = (
                "published values of the metric "
                f"'{unknown[0]}'{did_you_mean(unknown[0], metrics)}; "
                f"there are {', '.join(metrics)}"
            )
            raise InputError(text, location, value=unknown[0])


def _check_metric(view: ViewSpec, item: str, labels: list[str], location: str) -> None:
    if view.plot == "texts" and ":" in item and not item.startswith("p:"):
        raise InputError(
            f"a view of texts is ordered by a metric or by p:METRIC; found '{item}'",
            location,
            value=item,
        )
    name = item.rpartition(":")[2]
    if name != "*" and name not in labels and item not in labels:
        hint = did_you_mean(name, labels)
        text = (
            f"the view asks for the metric '{name}'{hint}; "
            f"there are {', '.join(labels)}"
        )
        raise InputError(text, location, value=name)


def _check_axis(axis: str | None, location: str) -> None:
    root, _, field_path = (axis or "model").partition(".")
    if root.startswith("metric:"):
        return
    if root not in RECORD_FIELDS:
        raise InputError(
            f"the view's axis '{axis}' is no field of a "
            f"record{did_you_mean(root, RECORD_FIELDS)}",
            location,
        )
    names = (*DECODING_AXES, "references", "options")
    if root == "decoding" and field_path.split(".")[0] not in names:
        raise InputError(
            f"the view's axis '{axis}': decoding has no "
            f"'{field_path}'{did_you_mean(field_path, names)}",
            location,
        )


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
    seen: dict[tuple[str, ...], ResultRecord] = {}
    for record in _records(plan, view):
        cell = tuple(
            str(lookup(record, axis)) for axis in (view.x, view.by, "metric") if axis
        )
        first_record = seen.setdefault(cell, record)
        axes = dict.fromkeys((*first_record.decoding, *record.decoding))
        for name in ("model", *(f"decoding.{axis}" for axis in axes)):
            if lookup(first_record, name) != lookup(record, name):
                return name, f"{lookup(first_record, name)}, {lookup(record, name)}"
    return None


def _records(plan: Plan, view: ViewSpec) -> Iterator[ResultRecord]:
    """Yield the records that the plan will give of the view's metrics,
    without their numbers.
    """
    names = {item.rpartition(":")[2] for item in view.metrics}
    for model in plan.models:
        for decoding in plan.decodings:
            for count in plan.reference_counts:
                references = {"references": count} if count is not None else {}
                for metric in plan.metrics:
                    if (
                        "*" in names
                        or metric.label in names
                        or metric.label in view.metrics
                    ):
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


CELLS = frozenset({"models", "decoding", "references"})
"""Keys that change how many results a view has in a cell."""


def drop_uncovered_views(loaded: LoadedSpec, plan: Plan) -> tuple[LoadedSpec, Plan]:
    """Return a loaded spec and its plan without the views and parts of views that have
    nothing to show; the notice names them.

    Both are returned as they are where nothing but the file determines them, and where
    the labels of metrics are known only after scoring (level ``model``).
    """
    replaced = loaded.located.replaced & {"metrics", *CELLS}
    changed = replaced | loaded.located.dropped
    if plan.token_metrics:
        return loaded, plan
    views: list[tuple[int, ViewSpec]] = []
    absent: list[str] = []
    partial: list[str] = []
    for index, view in enumerate(loaded.spec.views):
        covered_view, reason = _cover_view(view, plan, changed)
        if covered_view is None:
            absent.append(f"'{view.heading}' ({reason})")
            continue
        views.append((index, covered_view))
        if covered_view != view:
            partial.append(f"'{view.heading}'")
    if not absent and not partial:
        return loaded, plan
    notice = plan.spec.notice
    if replaced:  # a condition names what it leaves out by itself
        lines = [f"Views left out: {', '.join(absent)}."] if absent else []
        lines += [f"Views left out in part: {', '.join(partial)}."] if partial else []
        notice = " ".join([notice, *lines]).strip()
    spec = plan.spec.model_copy(
        update={"views": [view for _, view in views], "notice": notice}
    )
    return replace(
        loaded,
        located=_renumber_views(loaded.located, [index for index, _ in views]),
        spec=spec,
    ), replace(plan, spec=spec)


def _cover_view(
    view: ViewSpec, plan: Plan, changed: frozenset[str]
) -> tuple[ViewSpec | None, str]:
    """Return what remains of a view, or None and the reason why nothing does."""
    metrics = [item.label for item in plan.metrics]
    models = [item.label for item in plan.models]
    if "metrics" in changed:
        if view.x.startswith("metric:") and not _has(view.x, metrics):
            return None, f"no {view.x.removeprefix('metric:')}"
        quantities = [item for item in view.metrics if _has(item, metrics)]
        if not quantities:
            return None, f"no {view.metrics[0].rpartition(':')[2]}"
        view = view.model_copy(
            update={"y": quantities if isinstance(view.y, list) else quantities[0]}
        )
    if "models" in changed and view.against is not None and view.against not in models:
        return None, f"no {view.against}"
    if changed & {"metrics", "models"}:
        view = _keep_published_cells(view, metrics, models)
    difference = shared_cell(plan, view) if changed & CELLS else None
    if difference is not None:
        return None, f"several results in a cell, by {difference[0]}"
    return view, ""


def _has(item: str, metrics: list[str]) -> bool:
    name = item.rpartition(":")[2]
    return name == "*" or name in metrics or item in metrics


def _keep_published_cells(
    view: ViewSpec, metrics: list[str], models: list[str]
) -> ViewSpec:
    """Return a view with the published values of the rows and columns that it has."""
    if not isinstance(view.reference, PublishedTable) or view.x != "metric":
        return view
    rows = [
        row.model_copy(
            update={
                "values": {
                    name: value for name, value in row.values.items() if name in metrics
                }
            }
        )
        for row in view.reference.rows
        if view.by != "model" or row.label in (None, EVERY, *models)
    ]
    rows = [row for row in rows if row.values]
    return view.model_copy(
        update={
            "reference": view.reference.model_copy(update={"rows": rows})
            if rows
            else {}
        }
    )


def _renumber_views(tree: Located, views: list[int]) -> Located:
    """Return the content with the places of the remaining views."""
    number = {old: new for new, old in enumerate(views)}
    locations: dict[Key, tuple[str, int]] = {}
    for key, location in tree.locations.items():
        if key[:1] != ("views",) or len(key) == 1:
            locations[key] = location
        elif isinstance(key[1], int) and key[1] in number:
            locations["views", number[key[1]], *key[2:]] = location
    return replace(tree, locations=locations)
