"""Views of a spec that a run with other metrics, models or decodings can still fill."""

from __future__ import annotations

from dataclasses import replace

from harness.files.yaml_source import Key, Located
from harness.run.metric_plan import Plan
from harness.run.view_cells import shared_cell
from harness.spec.loading import LoadedSpec
from harness.spec.models import ViewSpec
from harness.spec.published import EVERY, PublishedRow, PublishedTable

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

    views: list[ViewSpec] = []
    numbers: list[int] = []
    absent: list[str] = []
    partial: list[str] = []
    for number, view in enumerate(loaded.spec.views):
        covered_view, reason = _cover_view(view, plan, changed)
        if covered_view is None:
            absent.append(f"'{view.heading}' ({reason})")
            continue
        views.append(covered_view)
        numbers.append(number)
        if covered_view != view:
            partial.append(f"'{view.heading}'")
    if not absent and not partial:
        return loaded, plan

    notice = plan.spec.notice
    if replaced:  # a condition names what it leaves out by itself
        lines = [f"Views left out: {', '.join(absent)}."] if absent else []
        lines += [f"Views left out in part: {', '.join(partial)}."] if partial else []
        notice = " ".join([notice, *lines]).strip()
    spec = plan.spec.model_copy(update={"views": views, "notice": notice})
    located = _renumber_views(loaded.located, numbers)
    return replace(loaded, located=located, spec=spec), replace(plan, spec=spec)


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
        y = quantities if isinstance(view.y, list) else quantities[0]
        view = view.model_copy(update={"y": y})

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
    rows: list[PublishedRow] = []
    for row in view.reference.rows:
        if view.by == "model" and row.label not in (None, EVERY, *models):
            continue
        values = {name: row.values[name] for name in row.values if name in metrics}
        if values:
            rows.append(row.model_copy(update={"values": values}))
    reference: object = {}
    if rows:
        reference = view.reference.model_copy(update={"rows": rows})
    return view.model_copy(update={"reference": reference})


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
