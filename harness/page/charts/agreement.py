"""Agreement of metrics with people: a panel per judgment set, metrics best first,
intervals, clusters and published values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from harness.contracts.parameters import Values
from harness.judgments.league import League, LeagueSet, cluster
from harness.judgments.league_tables import percent_interval, percent_text
from harness.page.charts import axes, shared_marks, vega
from harness.page.charts.chart import BETTER, NEUTRAL, WORSE, Chart, Layout, Spec

BEST = "best cluster"
OTHER = "other metrics"
PUBLISHED = "published"
MARKS = {
    BEST: ("circle", BETTER),
    OTHER: ("square", NEUTRAL),
    PUBLISHED: ("diamond", WORSE),
}
"""Kind of a mark -> shape and colour."""


def agreement(sets: Sequence[LeagueSet]) -> list[Chart]:
    """Return the chart of judgment sets; an empty list where no set has a defined
    agreement of two metrics.
    """
    league = League(tuple(sets))
    rows = [row for judged in sets for row in _rows(judged, league)]
    if len({row["metric"] for row in rows}) < 2:
        return []
    caption = (
        "Agreement with people, times 100, with 95 % intervals clustered by item; "
        "metrics by the mean rank of their clusters. Circles: no "
        "metric of the set is significantly better."
    )
    if any(row["kind"] == PUBLISHED for row in rows):
        caption += " Diamonds: published values."
    return [
        Chart(
            "agreement",
            "Agreement of metrics with people",
            caption,
            "agreement",
            partial(_build, rows),
        )
    ]


def _rows(judged: LeagueSet, league: League) -> list[Values]:
    """Return a row per metric of a set,
    and one per published value of these metrics.
    """
    rows: list[Values] = []
    for metric in league.metrics:
        record = judged.headlines.get(metric)
        if record is None or not math.isfinite(record.value):
            continue
        low, high = record.ci95 or (math.nan, math.nan)
        kind = BEST if cluster(record) == 1 else OTHER
        common = {
            "set": judged.name,
            "statistic": record.metric,
            "metric": league.names[metric],
        }
        text = f"{percent_text(record.value)} ({percent_interval(record.ci95)})"
        own = {
            **common,
            "kind": kind,
            "value": 100 * record.value,
            "low": 100 * low,
            "high": 100 * high,
            "text": text,
        }
        rows.append(own)

        for source in judged.published_values():
            for value in source.numbers(metric):
                published = {
                    **common,
                    "kind": PUBLISHED,
                    "value": value,
                    "low": None,
                    "high": None,
                    "text": f"{value:g}, {source.reference}",
                }
                rows.append(published)
    return rows


def _build(rows: Sequence[Values], layout: Layout) -> Spec:
    metrics = vega.distinct(rows, "metric")

    def panel(name: str, width: float, first: bool) -> Spec:
        judged = [row for row in rows if row["set"] == name]
        ends = (row[end] for row in judged for end in ("value", "low", "high"))
        across = axes.value_axis(ends, width, layout)
        # all panels have the same rows, also those of metrics that a set lacks
        y = axes.name_axis("metric", metrics, labels=first, grid=True)
        y["scale"] = {"domain": metrics}
        legend = {
            "title": None,
            "orient": "bottom",
            "columns": max(1, int(width * 1.5 // (9 * layout.font))),
        }
        tooltip = [vega.nominal(field) for field in ("metric", "kind", "text")]
        points = shared_marks.interval_points(
            "value", across, y, "kind", MARKS, legend, 0.5, layout, tooltip
        )
        title = {"text": name, "subtitle": judged[0]["statistic"]}
        height = {"step": 1.5 * layout.font}
        return vega.layer(
            *points,
            data="rows",
            where=vega.equal("set", name),
            width=width,
            height=height,
            title=title,
        )

    grid = vega.panel_grid(vega.distinct(rows, "set"), layout, metrics, panel)
    return vega.finish_chart(grid, rows=rows)
