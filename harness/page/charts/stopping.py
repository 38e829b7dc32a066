"""Paths of the confidence sequences of a run that stopped when it had decided,
over the number of examples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from harness.contracts.parameters import Values
from harness.page.charts import axes, shared_marks, vega
from harness.page.charts.chart import Chart, Layout, Spec
from harness.reporting.table import number
from harness.results import Run
from harness.run.stopping_conditions import describe_verdict


def stopping(run: Run) -> list[Chart]:
    """Return the chart of the sequences; an empty list for a run that had no
    conditions.
    """
    stopped = cast("Mapping[str, Any]", run.provenance.stopped)
    lines: list[Values] = []
    for item in stopped.get("conditions", ()):
        for path in item["sequences"]:
            for look in path["path"]:
                if _is_finite(look["low"], look["high"]):
                    lines.append(_line(item["condition"], path["systems"], look))
    if not lines:
        return []

    verdicts = "; ".join(map(describe_verdict, stopped["conditions"]))
    caption = (
        f"Confidence sequences at level {1 - stopped['level']:g} along a random "
        "order of the examples; the run stopped after "
        f"{stopped['examples']:,} of {stopped['of']:,}. {verdicts}. "
        "The bands hold at every n at once; those of the first looks may be cut."
    )
    return [
        Chart("stopping", "Decided", caption, "differences", partial(_build, lines))
    ]


def _line(condition: str, systems: str, look: Mapping[str, Any]) -> Values:
    """Return the row of one look at a sequence."""
    low = look["low"]
    high = look["high"]
    return {
        "condition": condition,
        "systems": systems,
        "n": look["n"],
        "y": look["difference"],
        "low": low,
        "high": high,
        "text": f"{number(look['difference'])} [{number(low)}, {number(high)}]",
    }


def _is_finite(*ends: object) -> bool:
    return all(isinstance(end, (int, float)) and math.isfinite(end) for end in ends)


def _build(lines: Sequence[Values], layout: Layout) -> Spec:
    names = vega.distinct(lines, "systems")
    channels = axes.series_channels("systems", names, axes.legend_below(names, layout))
    tooltip = [
        vega.nominal("systems"),
        vega.quantitative("n"),
        vega.nominal("text", title="value"),
    ]

    def panel(condition: str, width: float, first: bool) -> Spec:
        rows = [line for line in lines if line["condition"] == condition]
        # the first bands are wide
        ends = [
            float(end)
            for row in rows[len(rows) // 3 :]
            for end in (row["low"], row["high"])
        ]
        across = vega.quantitative(
            "n", scale={"type": "log", "nice": False}, axis={"title": "examples"}
        )

        # a condition on a difference is about 0
        of_difference = ">" in condition or "<" in condition
        if of_difference:
            ends.append(0.0)
        up = axes.value_axis(ends, width, layout, clamp=True)
        marks = shared_marks.banded_lines(across, up, channels, 0.25, layout, tooltip)
        if of_difference:
            zero = vega.mark("rule", {"strokeDash": [2, 2]}, y={"datum": 0, **up})
            marks = [zero, *marks]
        return vega.layer(
            *marks,
            data="stopping",
            where=vega.equal("condition", condition),
            width=width,
            height=0.6 * width,
            title=condition,
        )

    conditions = vega.distinct(lines, "condition")
    grid = vega.panel_grid(conditions, layout, names, panel)
    return vega.finish_chart(grid, stopping=lines)
