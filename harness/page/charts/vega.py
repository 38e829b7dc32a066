"""Vega-Lite specifications as plain JSON: channels, marks, layers and panels.

Scales, axes and legends are dictionaries with the names of Vega-Lite
(https://vega.github.io/vega-lite/docs/). None stands for null, which takes a title or a
legend away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from harness.contracts.parameters import Parameters, Values
from harness.page.charts.chart import Layout, Spec

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
"""Version of Vega-Lite for which the specifications are written."""
Rows = Sequence[Parameters]


def nominal(field: str, **options: Any) -> Spec:
    """Return a channel that shows a field of names.

    >>> nominal("system", title=None)
    {'field': 'system', 'type': 'nominal', 'title': None}
    """
    return {"field": field, "type": "nominal", **options}


def quantitative(field: str, **options: Any) -> Spec:
    """Return a channel that shows a field of numbers."""
    return {"field": field, "type": "quantitative", **options}


def equal(field: str, value: str) -> Spec:
    """Return the condition that a field has a value."""
    return {"field": field, "equal": value}


def mark(
    kind: str, look: Spec, *, data: str = "", where: str | Spec = "", **channels: Any
) -> Spec:
    """Return one mark per row.

    Parameters
    ----------
    kind : str
        Mark, such as ``rule``.
    look : dict
        Properties that all these marks have in common.
    data : str
        Name of the rows; default: those of the layers around it.
    where : str or dict
        Vega expression or condition of the rows that are drawn; default: all.
    **channels
        What each mark shows, such as ``x``.
    """
    return {**source(data, where), "mark": {"type": kind, **look}, "encoding": channels}


def layer(
    *layers: Spec, data: str = "", where: str | Spec = "", **options: Any
) -> Spec:
    """Return marks on top of each other, with ``data`` and ``where`` for all of them;
    options are ``width``, ``height``, ``title``.
    """
    return {**source(data, where), "layer": list(layers), **options}


def source(data: str, where: str | Spec = "") -> Spec:
    """Return the part of a specification that says which rows are drawn.

    >>> source("points", "isValid(datum.x)")
    {'data': {'name': 'points'}, 'transform': [{'filter': 'isValid(datum.x)'}]}
    """
    part: Spec = {}
    if data:
        part["data"] = {"name": data}
    if where:
        part["transform"] = [{"filter": where}]
    return part


def distinct(rows: Rows, field: str) -> list[Any]:
    """Return the different values of a field, in the order of the rows."""
    return list(dict.fromkeys(row[field] for row in rows))


def finish_chart(chart: Spec, **data: Rows) -> Spec:
    """Return a chart whose parts refer to data by name, with the rows of each name."""
    datasets = {name: [_plain(row) for row in rows] for name, rows in data.items()}
    return {"$schema": SCHEMA, **chart, "datasets": datasets}


def _plain(row: Parameters) -> Values:
    """Return a row for JSON: NaN and infinities become null."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }


def panels(charts: Sequence[Spec], columns: int) -> Spec:
    """Return charts side by side, in rows of ``columns``; a single chart as it is."""
    if len(charts) == 1:
        return charts[0]
    return {"concat": list(charts), "columns": columns}


def panel_grid(
    names: Sequence[str],
    layout: Layout,
    labels: Iterable[str],
    panel: Callable[[str, float, bool], Spec],
) -> Spec:
    """Return a panel per name, in rows as even as possible;
    ``panel(name, width, first)`` draws one, the first of a row with ``labels``.
    """
    space = layout.label_space(labels)
    columns = layout.columns(len(names), space)
    width = layout.panel_width(columns, space)
    charts = [panel(name, width, k % columns == 0) for k, name in enumerate(names)]
    return panels(charts, columns)
