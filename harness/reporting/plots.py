"""Drawing views as SVG with matplotlib, without a display."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.errors import require
from harness.reporting.views import Series, series
from harness.rundir.records import ResultRecord
from harness.spec.models import ViewSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.2, 4.0)
MARKS = "osD^vP*Xh<>"


def draw(view: ViewSpec, records: Sequence[ResultRecord]) -> str:
    """Return one view as an ``<svg>`` element; no text in it is read as a formula of TeX."""
    require("matplotlib", extra="plots", needed_by="a report's plots")
    import matplotlib

    with matplotlib.rc_context({"text.parse_math": False}):
        return _draw(view, records)


def _draw(view: ViewSpec, records: Sequence[ResultRecord]) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    groups = series(records, view.x, view.y, view.by)
    {"line": _line, "scatter": _scatter, "bar": _bar, "heatmap": _heatmap}[view.plot](axes, groups)
    axes.set_xlabel(view.x.removeprefix("decoding.").removeprefix("metric:"))
    if isinstance(view.y, str) and view.plot != "heatmap":
        axes.set_ylabel(view.y)
    if view.title:
        axes.set_title(view.title)
    if view.plot != "heatmap" and (len(groups) > 1 or (groups and groups[0].label)):
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return to_svg(figure)


def to_svg(figure: Figure) -> str:
    """A figure as an inline SVG, the same text for the same figure."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "harness", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return re.sub(r"^.*?(?=<svg)", "", text, flags=re.S)


def _positions(groups: Sequence[Series]) -> tuple[dict[object, float], bool]:
    values = list(dict.fromkeys(x for group in groups for x in group.x))
    if values and all(isinstance(value, (int, float)) for value in values):
        return {value: float(str(value)) for value in values}, True
    return {value: float(index) for index, value in enumerate(values)}, False


def _label_axis(axes: Axes, places: Mapping[object, float], numeric: bool) -> None:
    if not numeric:
        axes.set_xticks(list(places.values()), [str(value) for value in places], rotation=25, ha="right", fontsize=8)


def _line(axes: Axes, groups: Sequence[Series]) -> None:
    places, numeric = _positions(groups)
    for index, group in enumerate(groups):
        x = [places[value] for value in group.x]
        axes.plot(x, group.y, marker=MARKS[index % len(MARKS)], markersize=4, linewidth=1.4, label=group.label)
        if group.low:
            axes.fill_between(x, group.low, group.high, alpha=0.15, linewidth=0)
    _label_axis(axes, places, numeric)
    axes.grid(alpha=0.3)


def _scatter(axes: Axes, groups: Sequence[Series]) -> None:
    places, numeric = _positions(groups)
    for index, group in enumerate(groups):
        axes.scatter(
            [places[value] for value in group.x], group.y, s=22, marker=MARKS[index % len(MARKS)], label=group.label
        )
    _label_axis(axes, places, numeric)
    axes.grid(alpha=0.3)


def _bar(axes: Axes, groups: Sequence[Series]) -> None:
    values = list(dict.fromkeys(x for group in groups for x in group.x))
    width = 0.8 / max(len(groups), 1)
    for index, group in enumerate(groups):
        x = [values.index(value) + (index - (len(groups) - 1) / 2) * width for value in group.x]
        axes.bar(x, group.y, width=width * 0.95, label=group.label)
        for at, low, high in zip(x, group.low, group.high):
            axes.plot([at, at], [low, high], color="black", linewidth=1)
    axes.set_xticks(range(len(values)), [str(value) for value in values], rotation=25, ha="right", fontsize=8)
    axes.grid(axis="y", alpha=0.3)


def _heatmap(axes: Axes, groups: Sequence[Series]) -> None:
    import numpy as np

    values = list(dict.fromkeys(x for group in groups for x in group.x))
    grid = np.full((len(groups), len(values)), np.nan)
    for row, group in enumerate(groups):
        for value, y in zip(group.x, group.y):
            grid[row, values.index(value)] = y
    image = axes.imshow(grid, aspect="auto", cmap="viridis", origin="lower")
    for (row, column), value in np.ndenumerate(grid):
        if not np.isnan(value):
            shade = "white" if float(np.asarray(image.norm(value))) < 0.6 else "black"
            axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=7, color=shade)
    axes.set_xticks(range(len(values)), [str(value) for value in values])
    axes.set_yticks(range(len(groups)), [group.label for group in groups])
    axes.figure.colorbar(image, ax=axes)
