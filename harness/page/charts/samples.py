"""Charts of the numbers per example: distributions of scores, p-values beside the
uniform distribution, correlations of metrics.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from harness.contracts.parameters import Values
from harness.page.charts import axes, shared_marks, vega
from harness.page.charts.chart import (
    DIVERGING,
    MILD,
    WHITE_TEXT_OF_R,
    Chart,
    Layout,
    Spec,
)
from harness.reporting.captions import system_heads
from harness.reporting.result_groups import directions, headings
from harness.reporting.table import number, shown_names
from harness.results import Run, System
from harness.stats.correlation import average_ranks

MOST_SYSTEMS = 12
"""Largest number of systems of a chart of numbers per example; further ones are left
out, which the caption says.
"""
BINS = 20
"""Largest number of bins of a histogram of p-values."""
CUT = 5
"""Height at which bars of a histogram are cut off,
in shares of the uniform distribution.
"""
POINTS = 60
"""Points of a density curve."""
LEAST = 5
"""Smallest number of examples of which a distribution is drawn."""
NARROW = 0.01
"""Share of the range of a metric below which the middle half of its scores is one line,
and no distribution.
"""


def score_distributions(run: Run) -> list[Chart]:
    """Return the distributions of the scores per example: a panel per metric,
    a curve per system.
    """
    systems, names, note = _systems(run)
    heads = headings(run.records)
    per_example = set(run.samples.metrics)
    scores: dict[str, dict[str, np.ndarray]] = {}
    for metric in directions(run.records):
        if metric in per_example:
            by_system = (system.scores(metric) for system in systems)
            scores[heads[metric]] = dict(zip(names, by_system))
    chart = distributions(scores, note)
    return [] if chart is None else [chart]


def distributions(
    scores: Mapping[str, Mapping[str, np.ndarray]], note: str = ""
) -> Chart | None:
    """Return the distributions of scores per example, by metric and system; None where
    no metric has enough different scores.

    Parameters
    ----------
    scores : mapping
        Heading of a metric -> system -> scores of shape (B,), NaN where undefined; the
        same systems for every metric.
    note : str
        Sentence at the end of the caption, with a blank before it.
    """
    names = list(next(iter(scores.values()), {}))
    curves: list[Values] = []
    marks: list[Values] = []
    flat: list[str] = []
    for metric, by_system in scores.items():
        defined = [values[np.isfinite(values)] for values in by_system.values()]
        enough = any(len(values) >= LEAST for values in defined)
        lines = _curves(metric, defined) if enough else []
        if not lines:
            flat.append(metric)
            continue
        curves += lines
        for row, (name, values) in enumerate(zip(names, defined)):
            if len(values):
                marks.append(_quartiles(metric, row, name, values))
    if not curves:
        return None

    if flat:
        note += (
            " Not drawn, because at least half of the scores are equal: "
            f"{', '.join(flat)}."
        )
    caption = (
        "Distribution of the scores per example (Gaussian kernel density, "
        "Silverman's bandwidth, each as high as its row). "
        f"Bars are quartiles, white ticks medians.{note}"
    )
    build = partial(_build_scores, curves, marks, names)
    return Chart("scores", "Scores per example", caption, "scores", build)


def _quartiles(metric: str, row: int, name: str, values: np.ndarray) -> Values:
    low, middle, high = (
        float(value) for value in np.quantile(values, [0.25, 0.5, 0.75])
    )
    mean = float(values.mean())
    return {
        "metric": metric,
        "row": row,
        "system": name,
        "low": low,
        "median": middle,
        "high": high,
        "mean": mean,
        "text": number(middle),
        "mean_text": number(mean),
    }


def _systems(run: Run) -> tuple[list[System], list[str], str]:
    """Return the systems to draw, their names,
    and a sentence on those that are left out.
    """
    all_systems = list(run.samples.systems)
    names = list(system_heads(all_systems))
    note = ""
    if len(all_systems) > MOST_SYSTEMS:
        note = f" The first {MOST_SYSTEMS} of {len(all_systems)} systems."
    return all_systems[:MOST_SYSTEMS], names[:MOST_SYSTEMS], note


def _curves(metric: str, scores: Sequence[np.ndarray]) -> list[Values]:
    """Return points of the densities of one metric,
    as heights above and below the row of their system.
    """
    drawn = [(row, values) for row, values in enumerate(scores) if len(values) >= LEAST]
    low = min(values.min() for _, values in drawn)
    high = max(values.max() for _, values in drawn)
    if all(_quartile_distance(values) <= NARROW * (high - low) for _, values in drawn):
        return []

    grid = np.linspace(low, high, POINTS)
    points: list[Values] = []
    for row, values in drawn:
        curve = density(values, grid, (high - low) / POINTS)
        # each curve is as high as its row, with a gap to the next one
        for x, half in zip(grid, 0.42 * curve / curve.max()):
            point = {
                "metric": metric,
                "row": row,
                "x": float(f"{x:.5g}"),
                "top": round(row - float(half), 4),
                "bottom": round(row + float(half), 4),
            }
            points.append(point)
    return points


def _quartile_distance(values: np.ndarray) -> float:
    return float(np.subtract(*np.quantile(values, [0.75, 0.25])))


def density(values: np.ndarray, grid: np.ndarray, smallest_width: float) -> np.ndarray:
    """Return the Gaussian kernel density of values (B,) at grid points (P,), by
    Silverman's rule, bandwidth at least ``smallest_width``.
    """
    # Silverman's rule takes the smaller of standard deviation and scaled quartile
    # distance, so that a few outliers do not smooth the rest away; a quartile distance
    # of 0 (most scores equal) says nothing and is left out.
    scaled = _quartile_distance(values) / 1.34 or np.inf
    spread = min(float(values.std()), scaled)
    width = max(0.9 * spread * len(values) ** -0.2, smallest_width)

    # binned: the cost does not grow with the number of examples
    edges = np.linspace(grid[0], grid[-1], 8 * len(grid) + 1)
    counts, _ = np.histogram(values, edges)
    centres = (edges[1:] + edges[:-1]) / 2
    kernel = np.exp(-0.5 * ((grid[:, None] - centres[None, :]) / width) ** 2)
    return kernel @ counts / (len(values) * width * np.sqrt(2 * np.pi))


def _build_scores(
    curves: Sequence[Values],
    marks: Sequence[Values],
    names: Sequence[str],
    layout: Layout,
) -> Spec:
    size = layout.font
    short = layout.short_names(names)
    labels = label_list([short.get(name, name) for name in names])

    def panel(metric: str, width: float, first: bool) -> Spec:
        only = vega.equal("metric", metric)
        look = {
            "labels": first,
            "labelExpr": labels,
            "ticks": False,
            "domain": False,
            "title": None,
        }
        rows = {
            "scale": {
                "domain": [-0.6, len(names) - 0.4],
                "reverse": True,
                "nice": False,
                "zero": False,
            },
            "axis": {"values": list(range(len(names))), "grid": False, **look},
        }
        ends = (curve["x"] for curve in curves if curve["metric"] == metric)
        x = vega.quantitative("x", **axes.value_axis(ends, width, layout, 0.02))
        top = vega.quantitative("top", **rows)
        y = vega.quantitative("row", **rows)
        tooltip = [
            vega.nominal("system"),
            vega.nominal("text", title="median"),
            vega.nominal("mean_text", title="mean"),
        ]
        shapes = vega.mark(
            "area",
            {"color": MILD, "interpolate": "monotone"},
            data="curves",
            where=only,
            x=x,
            y=top,
            y2={"field": "bottom"},
            detail=vega.nominal("row"),
        )
        boxes = vega.mark(
            "rule",
            {"strokeWidth": 0.55 * size, "color": "#17517f"},
            data="marks",
            where=only,
            x=vega.quantitative("low"),
            x2={"field": "high"},
            y=y,
            tooltip=tooltip,
        )
        medians = vega.mark(
            "tick",
            {"color": "white", "thickness": 0.2 * size, "height": 0.55 * size},
            data="marks",
            where=only,
            x=vega.quantitative("median"),
            y=y,
            tooltip=tooltip,
        )
        return vega.layer(
            shapes,
            boxes,
            medians,
            width=width,
            height=2.3 * size * len(names),
            title=metric,
        )

    grid = vega.panel_grid(vega.distinct(curves, "metric"), layout, names, panel)
    return vega.finish_chart(grid, curves=curves, marks=marks)


def label_list(names: Sequence[str]) -> str:
    """Return a Vega expression that turns a tick 0, 1,
    ... into the name of that number.
    """
    return f"{json.dumps(list(names))}[datum.value]"


def p_histograms(run: Run) -> list[Chart]:
    """Return histograms of the p-values per example beside the uniform distribution: a
    row per system, a column per metric.
    """
    systems, names, note = _systems(run)
    values: list[tuple[str, str, np.ndarray]] = []
    for metric, metric_name in shown_names(run.records).items():
        for name, system in zip(names, systems):
            p = system.p_values(metric)
            if p is not None and np.isfinite(p).sum() >= LEAST:
                values.append((metric_name, name, p[np.isfinite(p)]))
    if not values:
        return []

    # The exact test of a small set has few p-values, multiples of the smallest one:
    # with more bins than these most would be empty.
    floors = [
        float(record.p["floor"])
        for record in run.records
        if record.p and record.p.get("floor")
    ]
    bins = max(2, min([BINS, *(round(1 / floor) for floor in floors)]))

    bars: list[Values] = []
    for metric_name, name, p in values:
        # a p-value on an edge belongs to the bin that ends there, despite rounding
        places = np.clip(np.ceil(p * bins - 1e-9).astype(np.int64) - 1, 0, bins - 1)
        for k, count in enumerate(np.bincount(places, minlength=bins).tolist()):
            bar = {
                "metric": metric_name,
                "system": name,
                "low": k / bins,
                "high": (k + 1) / bins,
                "share": count / len(p),
                "count": count,
            }
            bars.append(bar)

    caption = (
        f"Shares of the p-values per example in {bins} bins. "
        "The line is the uniform distribution, which p-values have where candidates "
        "and references come from one distribution. "
        f"Bars beyond {min(1.0, CUT / bins):.0%} are cut off; "
        f"their share stands beside them.{note}"
    )
    build = partial(_build_histograms, bars)
    return [Chart("p-values", "P-values per example", caption, "p-values", build)]


def _build_histograms(bars: Sequence[Values], layout: Layout) -> Spec:
    metrics = vega.distinct(bars, "metric")
    systems = vega.distinct(bars, "system")
    labels = layout.label_space(systems) + 3 * layout.font
    head = min(max(map(layout.text_width, metrics)), 11 * layout.font)
    narrow = replace(layout, panel=max(5.5 * layout.font, 1.1 * head))
    columns = narrow.columns(len(metrics), labels)
    width = layout.panel_width(columns, labels, 0.8 * layout.font)
    rows = [
        metrics[start : start + columns] for start in range(0, len(metrics), columns)
    ]
    charts = [_histogram_row(bars, row, systems, layout, width) for row in rows]
    chart = charts[0] if len(charts) == 1 else {"vconcat": charts}
    return vega.finish_chart(chart, bars=bars)


def _histogram_row(
    rows: Sequence[Values],
    metrics: Sequence[str],
    systems: Sequence[str],
    layout: Layout,
    width: float,
) -> Spec:
    size = layout.font
    label = {"title": None, "labelFontSize": size}
    above = {
        **label,
        "labelFontWeight": "bold",
        "labelLimit": width,
        "labelPadding": 0.3 * size,
    }
    beside = {
        **label,
        "labelAngle": 0,
        "labelAlign": "left",
        "labelLimit": layout.label_limit,
        **axes.short_labels(systems, layout),
    }
    x_axis = {
        "title": None,
        "values": [0, 0.5, 1],
        "format": axes.NUMBERS,
        "labelFlush": True,
        "grid": False,
    }
    bins = round(1 / (rows[0]["high"] - rows[0]["low"]))
    cut_off = min(1.0, CUT / bins)
    up = {
        "scale": {"domain": [0, cut_off], "nice": False},
        "axis": {
            "title": None,
            "values": [1 / bins, cut_off],
            "format": ".0%",
            "grid": False,
        },
    }
    bars = vega.mark(
        "rect",
        {"color": MILD, "clip": True},
        where="datum.count > 0",
        x=vega.quantitative("low", scale={"domain": [0, 1]}, axis=x_axis),
        x2={"field": "high"},
        y=vega.quantitative("share", **up),
        y2={"datum": 0},
        tooltip=[
            vega.nominal(name) for name in ("system", "metric", "low", "high", "count")
        ],
    )
    uniform = vega.mark(
        "rule",
        {"color": "#CC5500", "strokeWidth": 0.1 * size},
        y={"datum": 1 / bins, **up},
    )
    cut = vega.mark(
        "text",
        {"align": "left", "baseline": "top", "dx": 0.5 * size, "fontSize": 0.85 * size},
        where=f"datum.share > {cut_off}",
        x=vega.quantitative("high"),
        y={"datum": cut_off, **up},
        text=vega.quantitative("share", format=".0%"),
    )
    return {
        **vega.source("bars", {"field": "metric", "oneOf": list(metrics)}),
        "facet": {
            "column": vega.nominal("metric", sort=list(metrics), header=above),
            "row": vega.nominal("system", sort=list(systems), header=beside),
        },
        "spec": vega.layer(bars, uniform, cut, width=width, height=3 * size),
        "spacing": 0.8 * size,
    }


def metric_correlations(run: Run) -> list[Chart]:
    """Return the matrix of rank correlations between metrics, over the examples of a
    system, averaged over systems.
    """
    direction = directions(run.records)
    heads = headings(run.records)
    metrics = [metric for metric in direction if metric in set(run.samples.metrics)]
    if len(metrics) < 3 or not run.samples.systems:
        return []
    matrix = mean_rank_correlation(run.samples.systems, metrics, direction)
    drawn = [
        k for k in range(len(metrics)) if np.isfinite(np.delete(matrix[k], k)).any()
    ]
    if len(drawn) < 3:
        return []

    matrix = matrix[np.ix_(drawn, drawn)]
    labels = [heads[metrics[k]] for k in drawn]
    order = leaf_order(matrix)
    cells = [
        {
            "x": labels[j],
            "y": labels[i],
            "r": float(matrix[i, j]),
            "text": f"{round(matrix[i, j], 2) + 0.0:.2f}".replace("-", "−"),
        }
        for i in order
        for j in order
        if np.isfinite(matrix[i, j])
    ]
    caption = (
        "Spearman's rank correlation of the scores per example, "
        "mean over the systems of the run; metrics of which less is better are "
        "negated, so that 1 is agreement throughout. "
        "Similar metrics stand together (average linkage)."
    )
    build = partial(_build_matrix, cells, [labels[k] for k in order])
    title = "Agreement between metrics"
    return [Chart("metric-correlations", title, caption, "metrics", build)]


def mean_rank_correlation(
    systems: Sequence[System], metrics: Sequence[str], direction: dict[str, bool | None]
) -> np.ndarray:
    """Return the mean over systems of the Spearman correlations (M, M) of oriented
    scores; NaN where none is defined.
    """
    total = np.zeros((len(metrics), len(metrics)))
    count = np.zeros((len(metrics), len(metrics)))
    # Ranks are those among the examples where a metric is defined. They are computed
    # once per metric; only a pair of metrics with different gaps ranks again, over the
    # examples that both define.
    for system in systems:
        oriented = [
            system.scores(metric) * (-1 if direction[metric] is False else 1)
            for metric in metrics
        ]
        scores = np.stack(oriented)
        finite = np.isfinite(scores)
        ranks = [
            average_ranks(row[present, None])[:, 0]
            for row, present in zip(scores, finite)
        ]
        for i in range(len(metrics)):
            for j in range(i + 1):
                defined = finite[i] & finite[j]
                if defined.sum() < LEAST:
                    continue
                a, b = (
                    ranks[k]
                    if defined.sum() == len(ranks[k])
                    else average_ranks(scores[k][defined, None])[:, 0]
                    for k in (i, j)
                )
                if np.ptp(a) > 0 and np.ptp(b) > 0:
                    r = float(np.corrcoef(a, b)[0, 1])
                    for at in {(i, j), (j, i)}:
                        total[at] += r
                        count[at] += 1
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def leaf_order(matrix: np.ndarray) -> list[int]:
    """Return an order of the rows of a correlation matrix (M, M) in which similar ones
    follow each other.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    distance = 1 - np.nan_to_num(matrix, nan=0.0)
    condensed = distance[np.triu_indices(len(matrix), 1)]
    tree = linkage(condensed, "average", optimal_ordering=True)
    return [int(k) for k in leaves_list(tree)]


def _build_matrix(
    cells: Sequence[Values], labels: Sequence[str], layout: Layout
) -> Spec:
    room = layout.panel_width(1, layout.label_space(labels))
    side = min(room, 3.4 * layout.font * len(labels))
    legend = {
        "title": "rank correlation",
        "orient": "right",
        "values": [-1, -0.5, 0, 0.5, 1],
        "format": axes.NUMBERS,
        "gradientThickness": layout.font,
        "gradientLength": min(side, 12 * layout.font),
    }
    scale = {"domain": [-1, 1], "range": list(DIVERGING), "interpolate": "lab"}
    marks = shared_marks.squares(
        axes.name_axis("x", labels, labelAngle=-45),
        axes.name_axis("y", labels),
        vega.quantitative("r", scale=scale, legend=legend),
        WHITE_TEXT_OF_R,
        {"strokeWidth": 0.5},
        layout,
        [
            vega.nominal("y", title="metric"),
            vega.nominal("x", title="with"),
            vega.nominal("text", title="r"),
        ],
    )
    # without texts where they have no room
    layers = marks if side / len(labels) >= 2.2 * layout.font else marks[:1]
    chart = vega.layer(*layers, data="cells", width=side, height=side)
    return vega.finish_chart(chart, cells=cells)
