"""Shared steps of all charts: names of systems, data by name, panels side by side."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from harness.contracts.parameters import Parameters, Values
from harness.reporting.charts.chart import Spec
from harness.reporting.charts.layout import Layout
from harness.reporting.charts.style import DASHES, SEQUENTIAL, SHAPES
from harness.reporting.charts.vega import SCHEMA, quantitative
from harness.rundir.records import ResultRecord, decoding_text

Rows = Sequence[Parameters]


def finish_chart(chart: Spec, **data: Rows) -> Spec:
    """Return a chart whose parts refer to data by name, with the rows of each name."""
    return {
        "$schema": SCHEMA,
        **chart,
        "datasets": {name: [_plain(row) for row in rows] for name, rows in data.items()},
    }


def _plain(row: Parameters) -> Values:
    """Return a row for JSON: NaN and infinities become null."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }


def panels(charts: Sequence[Spec], columns: int) -> Spec:
    """Return charts side by side, in rows of ``columns``; a single chart as it is."""
    return charts[0] if len(charts) == 1 else {"concat": list(charts), "columns": columns}


def pad_ends(values: Iterable[float | None], share: float = 0.05) -> list[float]:
    """Return the ends of an axis: smallest and largest finite value with a margin; [0, 1] without any."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    margin = share * (high - low) or 0.05 * abs(high) or 0.05
    return [low - margin, high + margin]


def system_names(records: Iterable[ResultRecord]) -> dict[tuple[str, str], str]:
    """Return (model, decoding key) -> model, with the fields of the decoding in which the systems differ."""
    systems = {(record.model, record.decoding_key): record for record in records}
    decodings = [record.decoding for record in systems.values()]
    fields = list(dict.fromkeys(name for decoding in decodings for name in decoding))
    varying = [name for name in fields if len({repr(decoding.get(name)) for decoding in decodings}) > 1]
    names = {}
    for key, record in systems.items():
        varying_fields = {name: record.decoding[name] for name in varying if name in record.decoding}
        names[key] = f"{record.model} {decoding_text(varying_fields)}".strip()
    return names


def directions(records: Iterable[ResultRecord]) -> dict[str, bool | None]:
    """Return metric -> direction, in the order of the records."""
    return {record.metric: record.higher_is_better for record in records}


def shape_scale(names: Sequence[str]) -> Spec:
    """Return a scale of point shapes for the names, repeated where there are more names than shapes."""
    return {"domain": list(names), "range": _shift_rounds(SHAPES, len(names))}


def _shift_rounds(values: Sequence[Any], count: int) -> list[Any]:
    """Return ``count`` values; each round begins one later, so that shape and colour together name up to 49 series."""
    return [values[(k + k // len(values)) % len(values)] for k in range(count)]


def dash_scale(names: Sequence[str]) -> Spec:
    """Return a scale of line dashes for the names."""
    return {"domain": list(names), "range": _shift_rounds(DASHES, len(names))}


def color_scale(names: Sequence[str]) -> Spec:
    """Return a scale of the category colours of the configuration."""
    return {"domain": list(names)}


def position_color(layout: Layout) -> Spec:
    """Return the colours of ``position``, from 0 for the worst to 1 for the best value."""
    scale = {"domain": [0, 1], "range": list(SEQUENTIAL), "interpolate": "lab"}
    legend = {
        "title": None, "orient": "bottom", "values": [0, 1], "labelExpr": "datum.value ? 'best' : 'worst'",
        "gradientLength": 10 * layout.font, "gradientThickness": 0.8 * layout.font,
    }  # fmt: skip
    return quantitative("position", scale=scale, legend=legend)


def legend_columns(names: Sequence[str], layout: Layout) -> int:
    """Return the number of columns of a legend of the names below a figure."""
    widest = max(map(layout.text_width, names)) + 3.5 * layout.font
    return max(1, int(layout.width // widest))


def label_list(names: Sequence[str]) -> str:
    """Return a Vega expression that turns a tick 0, 1, ... into the name of that number."""
    return f"{json.dumps(list(names))}[datum.value]"
