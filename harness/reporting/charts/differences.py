"""Forest plot: paired differences between systems with 95 % intervals, a panel per metric, better always to the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from harness.analysis.compare import DRAWS
from harness.analysis.comparisons import LEVEL, Comparison
from harness.contracts.parameters import Values
from harness.reporting.charts.build import finish_chart, pad_ends, panels
from harness.reporting.charts.chart import Chart, Spec
from harness.reporting.charts.comparisons import compared_systems
from harness.reporting.charts.layout import Layout
from harness.reporting.charts.style import BETTER, NEUTRAL, WORSE
from harness.reporting.charts.vega import equal, layer, mark, nominal, quantitative
from harness.reporting.numbers import heading, number, p_text
from harness.run.finished import Run

ALL_PAIRS = 4
"""Largest number of systems whose pairs are all drawn; with more, every system is compared with the first one."""
MOST_SYSTEMS = 40
"""Largest number of systems that are drawn."""
MINUS = " − "
TWO_LINES = f"split(replace(datum.label, '{MINUS}', '\\u0001− '), '\\u0001')"
"""Vega expression that puts the second system of a pair below the first."""
WORDS = ("better", "worse", "not significant")
SHAPES = ("triangle-right", "triangle-left", "circle")


def differences(run: Run) -> list[Chart]:
    """Return the forest plot of a run; an empty list for a run without two systems to compare."""
    if len(run.samples.systems) > MOST_SYSTEMS:
        return []
    compared = compared_systems(run)
    chart = forest(compared.rows, compared.base)
    if chart is None:
        return []
    note = f" {compared.note[0].upper()}{compared.note[1:]}." if compared.note else ""
    return [replace(chart, caption=chart.caption + note)]


def forest(rows: Sequence[Comparison], base: str = "") -> Chart | None:
    """Return the forest plot of comparisons; None without a difference to draw, or with more systems than a plot holds.

    Parameters
    ----------
    rows : sequence of Comparison
        Rows as :func:`harness.analysis.compare.compare_runs` returns them.
    base : str
        System with which the others are compared; empty: all pairs where they are few, else the first system.
    """
    systems = list(dict.fromkeys(name for row in rows for name in (row.system_a, row.system_b)))
    # Pairs grow with the square of the systems; a plot that can be read shows few. The system that all rows have in common is the one
    # that the comparisons were made against.
    if not base and len(systems) > ALL_PAIRS:
        common = [name for name in systems if all(name in (row.system_a, row.system_b) for row in rows)]
        base = [*common, *systems][0]
    pairs = [row for row in rows if not base or base in (row.system_a, row.system_b)]
    lines = [line for row in pairs if (line := _line(row, base)) is not None]
    if not lines or len(systems) > MOST_SYSTEMS:
        return None
    against = f" against {base}" if base else ""
    caption = (
        f"Differences{against} on common examples with 95 % intervals; better is to the right. Triangles: significant at {LEVEL} "
        f"(approximate randomisation, {DRAWS:,} draws, Holm over the pairs of a metric); circles: not."
    )
    title = f"Differences{against or ' between systems'}"
    return Chart("differences", title, caption, "differences", partial(_build, lines))


def _line(row: Comparison, base: str) -> Values | None:
    """Return the row of the chart; None without a comparable difference. ``base`` becomes the second system."""
    if row.difference is None or row.sizes_differ:
        return None
    # Comparisons know no baseline: it may stand on either side. Turned round, the base is always the second system, and the interval
    # changes its ends with the sign.
    flip = bool(base) and row.system_a == base
    sign = -1.0 if flip else 1.0
    a, b = (row.system_b, row.system_a) if flip else (row.system_a, row.system_b)
    low, high = sorted(sign * end for end in row.ci95) if row.ci95 else (None, None)
    word = {"A": "better", "B": "worse"}.get(row.better, "not significant")
    if flip and word != "not significant":
        word = "worse" if word == "better" else "better"
    return {
        "metric": row.metric, "direction": row.higher_is_better, "pair": a if base else f"{a}{MINUS}{b}", "a": a, "b": b,
        "difference": sign * row.difference, "low": low, "high": high, "verdict": word, "p": p_text(row.p_holm),
        "text": number(sign * row.difference),
    }  # fmt: skip


def _build(lines: Sequence[Values], layout: Layout) -> Spec:
    metrics = list(dict.fromkeys(line["metric"] for line in lines))
    names = list(dict.fromkeys(line["pair"] for line in lines))
    stacked = layout.label_space(names) > 0.45 * layout.width  # names of the two systems below each other
    labels = (
        layout.label_space(name_of_system for name in names for name_of_system in name.split(MINUS))
        if stacked
        else layout.label_space(names)
    )
    columns = layout.columns(len(metrics), labels)
    width = layout.panel_width(columns, labels)
    charts = [
        _panel([line for line in lines if line["metric"] == metric], names, layout, width, k % columns == 0, stacked)
        for k, metric in enumerate(metrics)
    ]
    return finish_chart(panels(charts, columns), differences=lines)


def _panel(
    lines: Sequence[Values], names: Sequence[str], layout: Layout, width: float, first: bool, stacked: bool
) -> Spec:
    metric, direction = lines[0]["metric"], lines[0]["direction"]
    ends = pad_ends([0.0, *(line[end] for line in lines for end in ("low", "high", "difference"))])
    ticks = max(2, min(5, int(width // (4 * layout.font))))
    across = {
        "scale": {"domain": ends, "reverse": direction is False, "nice": False, "zero": False},
        "axis": {"title": None, "tickCount": ticks, "format": ".6~g", "labelFlush": True, "labelOverlap": True},
    }
    text = {"labelExpr": TWO_LINES, "labelLineHeight": 1.1 * layout.font} if stacked else {}
    axis = {"labels": first, "ticks": False, "domain": False, "title": None, "grid": False, **text}
    y = nominal("pair", sort=list(names), axis=axis, scale={"domain": list(names)})
    columns = max(1, min(3, int(1.6 * width // (8 * layout.font))))
    legend = {"orient": "bottom", "symbolOpacity": 1, "columns": columns}
    colors = {"domain": list(WORDS), "range": [BETTER, WORSE, NEUTRAL]}
    color = nominal("verdict", scale=colors, legend=legend, title=None)
    shape = nominal("verdict", scale={"domain": list(WORDS), "range": list(SHAPES)}, legend=legend, title=None)
    zero = mark("rule", {"strokeDash": [2, 2], "strokeWidth": 0.08 * layout.font}, x={"datum": 0, **across})
    intervals = mark(
        "rule", {"strokeWidth": 0.14 * layout.font},
        x=quantitative("low", **across), x2={"field": "high"}, y=y, color=color,
    )  # fmt: skip
    points = mark(
        "point", {"filled": True, "opacity": 1, "size": 0.55 * layout.font**2},
        x=quantitative("difference", **across), y=y, color=color, shape=shape,
        tooltip=[nominal(field, title=title) for field, title in _TOOLTIP],
    )  # fmt: skip
    return layer(
        zero, intervals, points, data="differences", where=equal("metric", metric), width=width,
        height={"step": (2.9 if stacked else 1.7) * layout.font}, title=heading(metric, direction),
    )  # fmt: skip


_TOOLTIP = (("metric", "metric"), ("a", "A"), ("b", "B"), ("text", "A − B"), ("verdict", "A is"), ("p", "p (Holm)"))
