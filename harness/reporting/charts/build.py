"""Shared steps of all charts: names of systems, data by name, panels side by side."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.errors import require
from harness.reporting.charts.chart import Spec
from harness.reporting.charts.layout import Layout
from harness.reporting.charts.style import DASHES, SHAPES
from harness.reporting.numbers import ARROWS
from harness.rundir.records import ResultRecord, decoding_text

if TYPE_CHECKING:
    import altair as alt

Rows = Sequence[Mapping[str, Any]]


def altair() -> Any:
    """Return the module altair; raise :class:`~harness.errors.MissingExtra` where it is not installed."""
    return require("altair", needed_by="charts")


def finished(chart: alt.TopLevelMixin, **data: Rows) -> Spec:
    """Return the JSON of a chart whose parts refer to data by name, with the rows of each name."""
    spec: Spec = chart.to_dict(validate=False)
    spec.pop("config", None)
    return {**spec, "datasets": {name: [_plain(row) for row in rows] for name, rows in data.items()}}


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row for JSON: NaN and infinities become null."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }


def panels(charts: Sequence[Any], columns: int) -> Any:
    """Return charts side by side, in rows of ``columns``; a single chart as it is."""
    alt = altair()
    return charts[0] if len(charts) == 1 else alt.concat(*charts, columns=columns)


def padded(values: Iterable[float | None], share: float = 0.05) -> list[float]:
    """Return the ends of an axis: smallest and largest finite value with a margin; [0, 1] without any."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    margin = share * (high - low) or 0.05 * abs(high) or 0.05
    return [low - margin, high + margin]


def heading(metric: str, higher_is_better: bool | None) -> str:
    """Return a metric with the arrow of its direction."""
    return f"{metric} {ARROWS[higher_is_better]}".strip()


def system_names(records: Iterable[ResultRecord]) -> dict[tuple[str, str], str]:
    """Return (model, decoding key) -> model, with the fields of the decoding in which the systems differ."""
    systems = {(record.model, record.decoding_key): record for record in records}
    decodings = [record.decoding for record in systems.values()]
    fields = list(dict.fromkeys(name for decoding in decodings for name in decoding))
    varying = [name for name in fields if len({repr(decoding.get(name)) for decoding in decodings}) > 1]
    names = {}
    for key, record in systems.items():
        part = {name: record.decoding[name] for name in varying if name in record.decoding}
        names[key] = f"{record.model} {decoding_text(part)}".strip()
    return names


def directions(records: Iterable[ResultRecord]) -> dict[str, bool | None]:
    """Return metric -> direction, in the order of the records."""
    return {record.metric: record.higher_is_better for record in records}


def shape_scale(names: Sequence[str]) -> Any:
    """Return a scale of point shapes for the names, repeated where there are more names than shapes."""
    return altair().Scale(domain=list(names), range=[SHAPES[k % len(SHAPES)] for k in range(len(names))])


def dash_scale(names: Sequence[str]) -> Any:
    """Return a scale of line dashes for the names."""
    return altair().Scale(domain=list(names), range=[DASHES[k % len(DASHES)] for k in range(len(names))])


def color_scale(names: Sequence[str]) -> Any:
    """Return a scale of the category colours of the configuration."""
    return altair().Scale(domain=list(names))


def legend_columns(names: Sequence[str], layout: Layout) -> int:
    """Return the number of columns of a legend of the names below a figure."""
    widest = max(map(layout.text_width, names)) + 3.5 * layout.font
    return max(1, int(layout.width // widest))


def label_list(names: Sequence[str]) -> str:
    """Return a Vega expression that turns a tick 0, 1, ... into the name of that number."""
    return f"{json.dumps(list(names))}[datum.value]"
