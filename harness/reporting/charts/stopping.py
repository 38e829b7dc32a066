"""Paths of the confidence sequences of a run that stopped when it had decided,
over the number of examples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from harness.contracts.parameters import Values
from harness.reporting.charts import axes, shared_marks, vega
from harness.reporting.charts.chart import Chart, Layout, Spec
from harness.reporting.table import number
from harness.run.finished import Run
from harness.run.stopping import describe_verdict


def stopping(run: Run) -> list[Chart]:
    """Return the chart of the sequences; an empty list for a run that had no
    conditions.
    """
    stopped = cast("Mapping[str, Any]", run.provenance.content.get("stopped") or {})
    lines: list[Values] = [
        {
            "condition": item["condition"],
            "systems": path["systems"],
            "n": look["n"],
            "y": look["difference"],
            "low": low,
            "high": high,
            "text": f"{number(look['difference'])} [{number(low)}, {number(high)}]",
        }
        for item in stopped.get("conditions", ())
        for path in item["sequences"]
        for look in path["path"]
        for low, high in [(look["low"], look["high"])]
        if _is_finite(low, high)
    ]
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


def _is_finite(*ends: object) -> bool:
    return all(isinstance(end, (int, float)) and math.isfinite(end) for end in ends)


def _build(lines: Sequence[Values], layout: Layout) -> Spec:
    names = vega.distinct(lines, "systems")
    channels = axes.series_channels(
        "systems", names, axes.legend_below(names, layout) if len(names) > 1 else None
    )
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
        of_difference = ">" in condition or "<" in condition
        up = axes.value_axis(
            [*([0.0] if of_difference else []), *ends], width, layout, clamp=True
        )
        marks = shared_marks.banded_lines(across, up, channels, 0.25, layout, tooltip)
        zero = (
            [vega.mark("rule", {"strokeDash": [2, 2]}, y={"datum": 0, **up})]
            if of_difference
            else []
        )
        return vega.layer(
            *zero,
            *marks,
            data="stopping",
            where=vega.equal("condition", condition),
            width=width,
            height=0.6 * width,
            title=condition,
        )

    return vega.finish_chart(
        vega.panel_grid(vega.distinct(lines, "condition"), layout, names, panel),
        stopping=lines,
    )
