"""Two questions against each other, such as quality against diversity, with the
frontier of systems that no other one dominates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from harness.contracts.parameters import Values
from harness.errors import HarnessError
from harness.page.charts import axes, vega
from harness.page.charts.chart import Chart, Layout, Spec
from harness.registry import current
from harness.reporting.result_groups import directions, headings, system_names
from harness.reporting.table import interval_text, number, shown_names
from harness.results import ResultRecord, Run

MOST_PLANES = 3
"""Largest number of planes of a run."""
MOST_LABELS = 16
"""Largest number of points that have their names beside them; of more points,
those of the frontier have.
"""
MOST_LEGEND = 49
"""Largest number of models with a legend: as many as shapes and colours tell apart."""


def planes(run: Run) -> list[Chart]:
    """Return a plane for the first question of the run's metrics against each other
    question, by the first metric of each.
    """
    questions = metric_questions(run)
    first: dict[str, str] = {}
    for metric, question in questions.items():
        first.setdefault(question, metric)
    if len(first) < 2 or len(system_names(run.records)) < 2:
        return []

    (first_question, across), *others = first.items()
    names = shown_names(run.records)
    charts: list[Chart] = []
    for question, up in others:
        caption = (
            f"Across, {names[across]}: {_small(first_question)} Up, {names[up]}: "
            f"{_small(question)} Better is to the right "
            "and up. Bars are 95 % intervals; the line joins the systems that no "
            "other one surpasses in both."
        )
        title = f"{names[across]} against {names[up]}"
        chart = plane_chart(run.records, across, up, title, caption, "trade-offs")
        if chart is not None:
            charts.append(chart)

    charts = charts[:MOST_PLANES]
    if len(others) == 1:
        return charts
    return [replace(chart, id=f"plane-{k}") for k, chart in enumerate(charts, 1)]


def metric_questions(run: Run) -> dict[str, str]:
    """Return metric label -> question that it answers, for metrics with a direction
    whose component is known here.
    """
    directed = {
        record.metric for record in run.records if record.higher_is_better is not None
    }
    questions: dict[str, str] = {}
    for item in run.provenance.metrics:
        try:
            question = current().get("metrics", item.name).question
        except HarnessError:  # a plugin that is not installed here
            continue
        if question and item.label in directed:
            questions[item.label] = question
    return questions


def _small(question: str) -> str:
    """Return a question within a sentence, with its question mark."""
    return f"{question[:1].lower()}{question[1:].rstrip('?')}?"


def plane_chart(
    records: Sequence[ResultRecord],
    across: str,
    up: str,
    title: str,
    caption: str,
    group: str,
) -> Chart | None:
    """Return the plane of two metrics, a point per system; None without two points."""
    points = plane_points(records, across, up)
    if len(points) < 2:
        return None
    direction = directions(records)
    heads = headings(records)
    titles = (heads[across], heads[up])
    build = partial(build_plane, points, titles, (direction[across], direction[up]))
    return Chart("plane", title, caption, group, build)


def plane_points(records: Sequence[ResultRecord], across: str, up: str) -> list[Values]:
    """Return a row per system with both values, their intervals, and ``frontier``: its
    place on the frontier, or None.
    """
    names = system_names(records)
    values = {
        metric: {(r.model, r.decoding_key): r for r in records if r.metric == metric}
        for metric in (across, up)
    }
    points: list[Values] = []
    for key, name in names.items():
        x = values[across].get(key)
        y = values[up].get(key)
        if x is None or y is None:
            continue
        if not math.isfinite(x.value) or not math.isfinite(y.value):
            continue

        point = {
            "system": name,
            "model": key[0],
            "frontier": None,
            "sx": _sign(x) * x.value,
            "sy": _sign(y) * y.value,
        }
        for axis, record in (("x", x), ("y", y)):
            low, high = record.ci95 or (None, None)
            text = f"{number(record.value)} ({interval_text(record.ci95)})"
            point |= {axis: record.value, f"{axis}_low": low, f"{axis}_high": high}
            point[f"{axis}_text"] = text
        points.append(point)

    # from the best across: a point is on the frontier where it is the best up so far
    best = -math.inf
    ordered = sorted(points, key=lambda point: (-point["sx"], -point["sy"]))
    for position, point in enumerate(ordered):
        if point["sy"] > best:
            point["frontier"] = position
            best = point["sy"]
    return points


def _sign(record: ResultRecord) -> float:
    return -1.0 if record.higher_is_better is False else 1.0


def build_plane(
    points: Sequence[Values],
    titles: tuple[str, str],
    better: tuple[bool | None, bool | None],
    layout: Layout,
) -> Spec:
    """Return the plane; axes of metrics of which less is better are reversed."""
    width = min(layout.panel_width(1, 4 * layout.font), 46 * layout.font)
    height = 0.72 * width
    across, up = _value_axes(points, titles, better, width, layout)
    ends = [axis["scale"]["domain"] for axis in (across, up)]

    # names beside the points where they have room, else a legend
    models = vega.distinct(points, "model")
    labelled = points
    if len(points) > MOST_LABELS:
        labelled = [point for point in points if point["frontier"] is not None]
    labels: list[Values] = []
    if len(labelled) <= MOST_LABELS:
        labels = _labels(labelled, ends, better, (width, height), layout)
    hidden = len(labels) == len(points) == len(models) or len(models) > MOST_LEGEND
    legend = None if hidden else axes.legend_below(models, layout, least=1)
    color, shape, _ = axes.series_channels("model", models, legend)
    layers = _system_marks(across, up, color, shape, titles, layout)

    if labels:
        look = {"fontSize": layout.font, "baseline": "middle"}
        names = vega.mark(
            "text",
            look,
            data="labels",
            x=vega.quantitative("x", **across),
            y=vega.quantitative("y", **up),
            text=vega.nominal("system"),
        )
        chart = vega.layer(
            *({**vega.source("points"), **segment} for segment in layers),
            names,
            width=width,
            height=height,
        )
    else:
        chart = vega.layer(*layers, data="points", width=width, height=height)
    return vega.finish_chart(chart, points=points, labels=labels)


def _value_axes(
    points: Sequence[Values],
    titles: tuple[str, str],
    better: tuple[bool | None, bool | None],
    width: float,
    layout: Layout,
) -> tuple[Spec, Spec]:
    """Return the axes across and up, with room for the intervals of all points."""
    across, up = (
        axes.value_axis(
            (p[f"{axis}{end}"] for p in points for end in ("", "_low", "_high")),
            width,
            layout,
            0.08,
        )
        for axis in "xy"
    )
    for axis, direction, title in zip((across, up), better, titles):
        axis["scale"]["reverse"] = direction is False
        axis["axis"] = {"tickCount": 5, "format": axes.NUMBERS, "title": title}
    return across, up


def _system_marks(
    across: Spec,
    up: Spec,
    color: Spec,
    shape: Spec,
    titles: tuple[str, str],
    layout: Layout,
) -> list[Spec]:
    """Return the line along the frontier, the bars of both intervals, and the points
    with their tooltips.
    """
    x = vega.quantitative("x", **across)
    y = vega.quantitative("y", **up)
    texts = [vega.nominal("system")]
    for axis, title in zip("xy", titles):
        texts.append(vega.nominal(f"{axis}_text", title=title))
    bar = {"opacity": 0.55, "strokeWidth": 0.1 * layout.font}
    return [
        vega.mark(
            "line",
            {
                "strokeDash": [4, 2],
                "strokeWidth": 0.1 * layout.font,
                "color": "#808080",
            },
            where="isValid(datum.frontier)",
            x=x,
            y=y,
            order=vega.quantitative("frontier"),
        ),
        vega.mark(
            "rule",
            bar,
            x=vega.quantitative("x_low", **across),
            x2={"field": "x_high"},
            y=y,
            color=color,
        ),
        vega.mark(
            "rule",
            bar,
            y=vega.quantitative("y_low", **up),
            y2={"field": "y_high"},
            x=x,
            color=color,
        ),
        vega.mark(
            "point",
            {"filled": True, "opacity": 1, "size": 0.7 * layout.font**2},
            x=x,
            y=y,
            color=color,
            shape=shape,
            tooltip=texts,
        ),
    ]


def _labels(
    points: Sequence[Values],
    ends: Sequence[Sequence[float]],
    better: Sequence[bool | None],
    size: tuple[float, float],
    layout: Layout,
) -> list[Values]:
    """Return the centre of the name of each point in the units of the axes; points
    without room for their name have none.
    """
    positions = np.array([[point["x"], point["y"]] for point in points])
    low, high = np.array(ends).T
    flip = np.array([direction is False for direction in better])
    share = (positions - low) / (high - low)
    share = np.where(flip, 1 - share, share)
    boxes = label_places(
        share * size,
        [layout.text_width(point["system"]) for point in points],
        1.1 * layout.font,
        size,
    )
    labels: list[Values] = []
    for point, centre in zip(points, boxes):
        if centre is not None:
            back = np.asarray(centre) / size
            x, y = low + np.where(flip, 1 - back, back) * (high - low)
            labels.append({"system": point["system"], "x": float(x), "y": float(y)})
    return labels


def label_places(
    points: np.ndarray,
    widths: Sequence[float],
    height: float,
    size: tuple[float, float],
) -> list[tuple[float, float] | None]:
    """Return the centres of labels beside their points, without overlaps of labels and
    points; None where there is no room.

    Parameters
    ----------
    points : ndarray, shape (P, 2)
        Points, from the lower left corner.
    widths : sequence of float
        Widths of the labels.
    height : float
        Height of a label.
    size : tuple of float
        Width and height of the plot.
    """
    taken: list[tuple[float, float, float, float]] = []
    centres: list[tuple[float, float] | None] = []
    margin = 0.3 * height
    for k, ((x, y), width) in enumerate(zip(points, widths)):
        dx = width / 2 + 0.6 * height
        dy = height
        sides = [(0, dy), (0, -dy), (dx, 0), (-dx, 0)]
        corners = [(a, b) for b in (dy, -dy) for a in (dx, -dx)]

        # the first place without an overlap: above, below, beside, at a corner, farther
        choice = None
        for ox, oy in (*sides, *corners, (0, 2 * dy), (0, -2 * dy)):
            box = (
                x + ox - width / 2,
                y + oy - height / 2,
                x + ox + width / 2,
                y + oy + height / 2,
            )
            in_panel = (
                box[0] >= 0 and box[1] >= 0 and box[2] <= size[0] and box[3] <= size[1]
            )
            hit = any(
                box[0] - margin < px < box[2] + margin
                and box[1] - margin < py < box[3] + margin
                for j, (px, py) in enumerate(points)
                if j != k
            )
            overlap = any(
                box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3]
                for b in taken
            )
            if in_panel and not hit and not overlap:
                choice = (x + ox, y + oy)
                taken.append(box)
                break
        centres.append(choice)
    return centres
