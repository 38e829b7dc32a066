"""Agreement of metrics with people: a panel per judgment set, metrics best first, intervals, clusters and published values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from harness.contracts.parameters import Values
from harness.reporting.charts.build import finish_chart, pad_ends, panels
from harness.reporting.charts.chart import Chart, Spec
from harness.reporting.charts.layout import Layout
from harness.reporting.charts.style import BETTER, NEUTRAL, WORSE
from harness.reporting.charts.vega import equal, layer, mark, nominal, quantitative
from harness.reporting.league import League, LeagueSet, PublishedValues, cluster, interval_text, percent_text

BEST, OTHER, PUBLISHED = "best cluster", "other metrics", "published"
MARKS = {BEST: ("circle", BETTER), OTHER: ("square", NEUTRAL), PUBLISHED: ("diamond", WORSE)}
"""Kind of a mark -> shape and colour."""


def agreement(sets: Sequence[LeagueSet]) -> list[Chart]:
    """Return the chart of judgment sets; an empty list where no set has a defined agreement of two metrics."""
    league = League(tuple(sets))
    rows = [row for judged in sets for row in _rows(judged, league)]
    if len({row["metric"] for row in rows}) < 2:
        return []
    caption = (
        "Agreement with people, times 100, with 95 % intervals clustered by item; metrics by the mean rank of their clusters. Circles: no "
        "metric of the set is significantly better."
    )
    if any(row["kind"] == PUBLISHED for row in rows):
        caption += " Diamonds: published values."
    return [Chart("agreement", "Agreement of metrics with people", caption, "agreement", partial(_build, rows))]


def _rows(judged: LeagueSet, league: League) -> list[Values]:
    """Return a row per metric of a set, and one per published value of these metrics."""
    rows: list[Values] = []
    for metric in league.metrics:
        record = judged.headlines.get(metric)
        if record is None or not math.isfinite(record.value):
            continue
        low, high = record.ci95 or (math.nan, math.nan)
        kind = BEST if cluster(record) == 1 else OTHER
        common = {"set": judged.name, "statistic": judged.statistic, "metric": metric}
        text = f"{percent_text(record.value)} ({interval_text(record)})"
        rows.append(
            {**common, "kind": kind, "value": 100 * record.value, "low": 100 * low, "high": 100 * high, "text": text}
        )
        for source in judged.published_values():
            for value in _numbers(source, metric):
                text = f"{value:g}, {source.reference}"
                rows.append({**common, "kind": PUBLISHED, "value": value, "low": None, "high": None, "text": text})
    return rows


def _numbers(source: PublishedValues, metric: str) -> list[float]:
    """Return the published numbers of a metric: none, one, or both ends of a range."""
    value = source.values.get(metric)
    values = value if isinstance(value, (list, tuple)) else [value]
    return [float(item) for item in values if isinstance(item, (int, float))]


def _build(rows: Sequence[Values], layout: Layout) -> Spec:
    metrics, sets = (list(dict.fromkeys(row[name] for row in rows)) for name in ("metric", "set"))
    columns = layout.columns(len(sets), layout.label_space(metrics))
    width = layout.panel_width(columns, layout.label_space(metrics))
    charts = [
        _panel([row for row in rows if row["set"] == name], metrics, layout, width, k % columns == 0)
        for k, name in enumerate(sets)
    ]
    return finish_chart(panels(charts, columns), rows=rows)


def _panel(rows: Sequence[Values], metrics: Sequence[str], layout: Layout, width: float, first: bool) -> Spec:
    ends = pad_ends(row[end] for row in rows for end in ("value", "low", "high"))
    ticks = max(2, min(5, int(width // (4 * layout.font))))
    across = {
        "scale": {"domain": ends, "nice": False, "zero": False},
        "axis": {"title": None, "tickCount": ticks, "format": ".6~g", "labelFlush": True},
    }
    y = nominal(
        "metric", sort=list(metrics), title=None, scale={"domain": list(metrics)},
        axis={"labels": first, "ticks": False, "domain": False, "grid": True},
    )  # fmt: skip
    legend = {"title": None, "orient": "bottom", "columns": max(1, int(width * 1.5 // (9 * layout.font)))}
    shapes, colors = ([look[k] for look in MARKS.values()] for k in (0, 1))
    color = nominal("kind", scale={"domain": list(MARKS), "range": colors}, legend=legend)
    shape = nominal("kind", scale={"domain": list(MARKS), "range": shapes}, legend=legend)
    lines = mark(
        "rule", {"strokeWidth": 0.14 * layout.font}, where="isValid(datum.low)",
        x=quantitative("low", **across), x2={"field": "high"}, y=y, color=color,
    )  # fmt: skip
    points = mark(
        "point", {"filled": True, "opacity": 1, "size": 0.5 * layout.font**2},
        x=quantitative("value", **across), y=y, color=color, shape=shape,
        tooltip=[nominal(name) for name in ("metric", "kind", "text")],
    )  # fmt: skip
    name, statistic = rows[0]["set"], rows[0]["statistic"]
    return layer(
        lines, points, data="rows", where=equal("set", name), width=width, height={"step": 1.5 * layout.font},
        title={"text": name, "subtitle": statistic},
    )  # fmt: skip
