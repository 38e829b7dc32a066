"""Views of a spec need metrics, models and axes that the run has."""

from __future__ import annotations

from harness.errors import InputError, did_you_mean
from harness.run.decoding_grid import DECODING_AXES
from harness.run.metric_plan import Plan
from harness.spec.loading import LoadedSpec
from harness.spec.models import ViewSpec
from harness.spec.published import EVERY, PublishedTable

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


def check_views(loaded: LoadedSpec, plan: Plan) -> None:
    """Raise :class:`InputError` for a view of a metric,
    model or axis that the run does not have.

    Columns of metrics of level ``model`` are known only after scoring; a run with such
    metrics is not checked.
    """
    if plan.token_metrics:
        return
    metrics = [item.label for item in plan.metrics]
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

        quantities = list(view.metrics)
        if view.x.startswith("metric:"):
            quantities.append(view.x)
        for quantity in quantities:
            _check_metric(view, quantity, metrics, location)

        place = loaded.where("views", index, "reference")
        _check_published_rows(view, plan.spec.task, metrics, models, place)


def _check_published_rows(
    view: ViewSpec, task: str, metrics: list[str], models: list[str], location: str
) -> None:
    """Raise :class:`InputError` for published values of a model or metric that the run
    does not have.
    """
    # Rows and columns that are no models and metrics may have any names.
    if not isinstance(view.reference, PublishedTable) or view.x != "metric":
        return
    for row in view.reference.rows:
        if row.task not in (None, task):
            continue
        if view.by == "model" and row.label not in (None, EVERY, *models):
            hint = did_you_mean(str(row.label), models)
            raise InputError(
                f"published values of the row '{row.label}'{hint}; "
                f"rows of the view are {', '.join(models)} "
                "(a row of one part of a suite has the key task)",
                location,
                value=row.label,
            )
        for name in row.values:
            if name not in metrics:
                hint = did_you_mean(name, metrics)
                raise InputError(
                    f"published values of the metric '{name}'{hint}; "
                    f"there are {', '.join(metrics)}",
                    location,
                    value=name,
                )


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
        hint = did_you_mean(root, RECORD_FIELDS)
        raise InputError(
            f"the view's axis '{axis}' is no field of a record{hint}", location
        )
    names = (*DECODING_AXES, "references", "options")
    if root == "decoding" and field_path.split(".")[0] not in names:
        hint = did_you_mean(field_path, names)
        raise InputError(
            f"the view's axis '{axis}': decoding has no '{field_path}'{hint}", location
        )
