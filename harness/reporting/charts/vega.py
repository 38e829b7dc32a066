"""Vega-Lite specifications as plain JSON: channels, marks, layers.

Scales, axes and legends are dictionaries with the names of Vega-Lite (https://vega.github.io/vega-lite/docs/). None stands for null,
which takes a title or a legend away.
"""

from __future__ import annotations

from typing import Any

from harness.reporting.charts.chart import Spec

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
"""Version of Vega-Lite for which the specifications are written."""


def nominal(field: str, **options: Any) -> Spec:
    """Return a channel that shows a field of names.

    >>> nominal("system", title=None)
    {'field': 'system', 'type': 'nominal', 'title': None}
    """
    return {"field": field, "type": "nominal", **options}


def quantitative(field: str, **options: Any) -> Spec:
    """Return a channel that shows a field of numbers."""
    return {"field": field, "type": "quantitative", **options}


def when(test: str, then: Spec, otherwise: Spec) -> Spec:
    """Return a channel that is ``then`` for the rows of which a Vega expression is true.

    >>> when("datum.r > 0", {"value": "white"}, {"value": "black"})
    {'condition': {'test': 'datum.r > 0', 'value': 'white'}, 'value': 'black'}
    """
    return {"condition": {"test": test, **then}, **otherwise}


def equal(field: str, value: str) -> Spec:
    """Return the condition that a field has a value."""
    return {"field": field, "equal": value}


def mark(kind: str, look: Spec, *, data: str = "", where: str | Spec = "", **channels: Any) -> Spec:
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


def layer(*layers: Spec, data: str = "", where: str | Spec = "", **options: Any) -> Spec:
    """Return marks on top of each other, with ``data`` and ``where`` for all of them; options are ``width``, ``height``, ``title``."""
    return {**source(data, where), "layer": list(layers), **options}


def source(data: str, where: str | Spec = "") -> Spec:
    """Return the part of a specification that says which rows are drawn.

    >>> source("points", "isValid(datum.x)")
    {'data': {'name': 'points'}, 'transform': [{'filter': 'isValid(datum.x)'}]}
    """
    return {**({"data": {"name": data}} if data else {}), **({"transform": [{"filter": where}]} if where else {})}
