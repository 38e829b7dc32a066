"""Forest plot: paired differences between systems with 95 % intervals, a panel per
metric, better always to the right.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from harness.analysis.compare import DRAWS
from harness.analysis.comparisons import LEVEL
from harness.contracts.parameters import Values
from harness.page.charts import axes, shared_marks, vega
from harness.page.charts.chart import BETTER, NEUTRAL, WORSE, Chart, Layout, Spec
from harness.reporting.compared_systems import compared_systems
from harness.reporting.table import heading, number, p_text, shown_name
from harness.results import Comparison, Run

ALL_PAIRS = 4
"""Largest number of systems whose pairs are all drawn; with more, every system is
compared with the first one.
"""
MOST_SYSTEMS = 40
"""Largest number of systems that are drawn."""
MINUS = " − "
VERDICTS = {
    "better": ("triangle-right", BETTER),
    "worse": ("triangle-left", WORSE),
    "not significant": ("circle", NEUTRAL),
}
"""Verdict -> shape and colour."""
_TOOLTIP = (
    ("metric", "metric"),
    ("a", "A"),
    ("b", "B"),
    ("text", "A − B"),
    ("verdict", "A is"),
    ("p", "p (Holm)"),
)


def differences(run: Run) -> list[Chart]:
    """Return the forest plot of a run; an empty list for a run without two systems to
    compare.
    """
    if len(run.samples.systems) > MOST_SYSTEMS:
        return []
    compared = compared_systems(run)
    chart = forest(compared.rows, compared.base)
    if chart is None:
        return []
    note = f" {compared.note[0].upper()}{compared.note[1:]}." if compared.note else ""
    return [replace(chart, caption=chart.caption + note)]


def forest(rows: Sequence[Comparison], base: str = "") -> Chart | None:
    """Return the forest plot of comparisons; None without a difference to draw, or with
    more systems than a plot holds.

    Parameters
    ----------
    rows : sequence of Comparison
        Rows as :func:`harness.compare` returns them.
    base : str
        System with which the others are compared; empty: all pairs where they are few,
        else the first system.
    """
    systems = list(
        dict.fromkeys(name for row in rows for name in (row.system_a, row.system_b))
    )
    # Pairs grow with the square of the systems; a plot that can be read shows few. The
    # system that all rows have in common is the one that the comparisons were made
    # against.
    if not base and len(systems) > ALL_PAIRS:
        common = [
            name
            for name in systems
            if all(name in (row.system_a, row.system_b) for row in rows)
        ]
        base = [*common, *systems][0]

    pairs = [row for row in rows if not base or base in (row.system_a, row.system_b)]
    candidates = (_line(row, base) for row in pairs)
    lines = [line for line in candidates if line is not None]
    if not lines or len(systems) > MOST_SYSTEMS:
        return None

    against = f" against {base}" if base else ""
    caption = (
        f"Differences{against} on common examples with 95 % intervals; "
        f"better is to the right. Triangles: significant at {LEVEL} "
        f"(approximate randomisation, {DRAWS:,} draws, "
        "Holm over the pairs of a metric); circles: not."
    )
    title = f"Differences{against or ' between systems'}"
    return Chart("differences", title, caption, "differences", partial(_build, lines))


def _line(row: Comparison, base: str) -> Values | None:
    """Return the row of the chart; None without a comparable difference.

    ``base`` becomes the second system.
    """
    if row.difference is None or row.sizes_differ:
        return None

    # Comparisons know no baseline: it may stand on either side. Turned round, the base
    # is always the second system, and the interval changes its ends with the sign.
    flip = bool(base) and row.system_a == base
    sign = -1.0 if flip else 1.0
    a, b = (row.system_b, row.system_a) if flip else (row.system_a, row.system_b)
    low, high = sorted(sign * end for end in row.ci95) if row.ci95 else (None, None)
    word = {"A": "better", "B": "worse"}.get(row.better, "not significant")
    if flip and word != "not significant":
        word = "worse" if word == "better" else "better"
    return {
        "metric": shown_name(row),
        "direction": row.higher_is_better,
        "pair": a if base else f"{a}{MINUS}{b}",
        "a": a,
        "b": b,
        "difference": sign * row.difference,
        "low": low,
        "high": high,
        "verdict": word,
        "p": p_text(row.p_holm),
        "text": number(sign * row.difference),
    }


def _build(lines: Sequence[Values], layout: Layout) -> Spec:
    names = vega.distinct(lines, "pair")
    # long names of the two systems stand below each other
    stacked = layout.label_space(names) > 0.45 * layout.width
    if stacked:
        labels = [part for name in names for part in name.split(MINUS)]
        text = _stacked_labels(lines, layout)
    else:
        labels = names
        text = axes.short_labels(names, layout)

    def panel(metric: str, width: float, first: bool) -> Spec:
        rows = [line for line in lines if line["metric"] == metric]
        direction = rows[0]["direction"]
        ends = [row[end] for row in rows for end in ("low", "high", "difference")]
        across = axes.value_axis(
            [0.0, *ends], width, layout, reverse=direction is False
        )
        across["axis"]["labelOverlap"] = True
        # all panels have the same rows, also those of pairs that a metric lacks
        y = axes.name_axis("pair", names, labels=first, grid=False, **text)
        y["scale"] = {"domain": names}

        columns = max(1, min(3, int(1.6 * width // (8 * layout.font))))
        legend = {
            "title": None,
            "orient": "bottom",
            "symbolOpacity": 1,
            "columns": columns,
        }
        zero = vega.mark(
            "rule",
            {"strokeDash": [2, 2], "strokeWidth": 0.08 * layout.font},
            x={"datum": 0, **across},
        )
        tooltip = [vega.nominal(field, title=title) for field, title in _TOOLTIP]
        points = shared_marks.interval_points(
            "difference", across, y, "verdict", VERDICTS, legend, 0.55, layout, tooltip
        )
        return vega.layer(
            zero,
            *points,
            data="differences",
            where=vega.equal("metric", metric),
            width=width,
            height={"step": (2.9 if stacked else 1.7) * layout.font},
            title=heading(metric, direction),
        )

    grid = vega.panel_grid(vega.distinct(lines, "metric"), layout, labels, panel)
    return vega.finish_chart(grid, differences=lines)


def _stacked_labels(lines: Sequence[Values], layout: Layout) -> Spec:
    """Return the properties of an axis that put the second system of a pair below the
    first, shortened where they have no room.
    """
    pairs: dict[str, list[str]] = {}
    for line in lines:
        alone = line["pair"] == line["a"]
        pairs[line["pair"]] = [line["a"]] if alone else [line["a"], line["b"]]
    short = layout.short_names(name for pair in pairs.values() for name in pair)
    texts = {
        name: [
            f"{'− ' if place else ''}{short.get(part, part)}"
            for place, part in enumerate(pair)
        ]
        for name, pair in pairs.items()
    }
    return {
        "labelExpr": f"{json.dumps(texts)}[datum.label]",
        "labelLineHeight": 1.1 * layout.font,
    }
