"""Agreement of metrics with people: a panel per judgment set, metrics best first, intervals, clusters and published values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from harness.reporting.charts.build import altair, finished, padded, panels
from harness.reporting.charts.chart import Chart, Spec
from harness.reporting.charts.layout import Layout
from harness.reporting.charts.style import BETTER, NEUTRAL, WORSE
from harness.reporting.league import League, LeagueSet, PublishedRow, cluster, hundred, interval_text

BEST, OTHER, PUBLISHED = "best cluster", "other metrics", "published"
MARKS = {BEST: ("circle", BETTER), OTHER: ("square", NEUTRAL), PUBLISHED: ("diamond", WORSE)}
"""Kind of a mark -> shape and colour."""


def agreement(sets: Sequence[LeagueSet]) -> list[Chart]:
    """Return the chart of judgment sets; an empty list where no set has a defined agreement of two metrics."""
    league = League(tuple(sets))
    rows = [row for one in sets for row in _rows(one, league)]
    if len({row["metric"] for row in rows}) < 2:
        return []
    caption = (
        "Agreement with people, times 100, with 95 % intervals clustered by item; metrics by the mean rank of their clusters. Circles: no "
        "metric of the set is significantly better."
    )
    if any(row["kind"] == PUBLISHED for row in rows):
        caption += " Diamonds: published values."
    return [Chart("agreement", "Agreement of metrics with people", caption, "agreement", partial(_build, rows))]


def _rows(one: LeagueSet, league: League) -> list[dict[str, Any]]:
    """Return a row per metric of a set, and one per published value of these metrics."""
    rows: list[dict[str, Any]] = []
    for metric in league.metrics:
        record = one.headlines.get(metric)
        if record is None or not math.isfinite(record.value):
            continue
        low, high = record.ci95 or (math.nan, math.nan)
        kind = BEST if cluster(record) == 1 else OTHER
        common = {"set": one.name, "statistic": one.statistic, "metric": metric}
        text = f"{hundred(record.value)} ({interval_text(record)})"
        rows.append(
            {**common, "kind": kind, "value": 100 * record.value, "low": 100 * low, "high": 100 * high, "text": text}
        )
        for source in one.published():
            for value in _numbers(source, metric):
                text = f"{value:g}, {source.reference}"
                rows.append({**common, "kind": PUBLISHED, "value": value, "low": None, "high": None, "text": text})
    return rows


def _numbers(source: PublishedRow, metric: str) -> list[float]:
    """Return the published numbers of a metric: none, one, or both ends of a range."""
    value = source.values.get(metric)
    values = value if isinstance(value, (list, tuple)) else [value]
    return [float(item) for item in values if isinstance(item, (int, float))]


def _build(rows: Sequence[dict[str, Any]], layout: Layout) -> Spec:
    metrics, sets = (list(dict.fromkeys(row[name] for row in rows)) for name in ("metric", "set"))
    columns = layout.columns(len(sets), layout.label_space(metrics))
    width = layout.panel_width(columns, layout.label_space(metrics))
    charts = [
        _panel([row for row in rows if row["set"] == name], metrics, layout, width, k % columns == 0)
        for k, name in enumerate(sets)
    ]
    return finished(panels(charts, columns), rows=rows)


def _panel(rows: Sequence[dict[str, Any]], metrics: Sequence[str], layout: Layout, width: float, first: bool) -> Any:
    alt = altair()
    scale = alt.Scale(
        domain=padded(row[end] for row in rows for end in ("value", "low", "high")), nice=False, zero=False
    )
    x_axis = alt.Axis(
        title=None, tickCount=max(2, min(5, int(width // (4 * layout.font)))), format=".6~g", labelFlush=True
    )
    y = alt.Y(
        "metric:N", sort=list(metrics), title=None, scale=alt.Scale(domain=list(metrics)),
        axis=alt.Axis(labels=first, ticks=False, domain=False, grid=True),
    )  # fmt: skip
    legend = alt.Legend(title=None, orient="bottom", columns=max(1, int(width * 1.5 // (9 * layout.font))))
    color = alt.Color(
        "kind:N", scale=alt.Scale(domain=list(MARKS), range=[c for _, c in MARKS.values()]), legend=legend
    )
    shape = alt.Shape(
        "kind:N", scale=alt.Scale(domain=list(MARKS), range=[s for s, _ in MARKS.values()]), legend=legend
    )
    base = alt.Chart().encode(y=y)
    line = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=0.14 * layout.font)
    point = base.mark_point(filled=True, opacity=1, size=0.5 * layout.font**2)
    tooltip = [alt.Tooltip(f"{name}:N") for name in ("metric", "kind", "text")]
    return (
        alt.layer(
            line.encode(x=alt.X("low:Q", scale=scale, axis=x_axis), x2="high:Q", color=color),
            point.encode(x=alt.X("value:Q", scale=scale, axis=x_axis), color=color, shape=shape, tooltip=tooltip),
            data=alt.NamedData(name="rows"),
        )
        .transform_filter(alt.FieldEqualPredicate(field="set", equal=rows[0]["set"]))
        .properties(
            width=width,
            height=alt.Step(1.5 * layout.font),
            title=alt.Title(rows[0]["set"], subtitle=rows[0]["statistic"]),
        )
    )
