"""Files of a correlation study: its numbers as CSV, TSV, JSON or Parquet, its scatter
plots and ranking as PNG and SVG.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from harness.contracts.parameters import Values
from harness.decisions.correlate.column_table import ColumnTable
from harness.decisions.correlate.study import ALL, Study
from harness.errors import InputError, UnknownName, did_you_mean
from harness.files.outputs import write_output, write_outputs
from harness.page.charts import axes, vega
from harness.page.charts.chart import DOUBLE, Chart, Layout, Spec
from harness.page.charts.drawing import fitted_svg, png, with_font
from harness.reporting.formats.delimited import delimit
from harness.rundir.format import to_json
from harness.rundir.parquet import encode_columns

COLUMNS = ("x", "y", "group", "n", "r", "r2", "p", "spearman", "kendall")
SUFFIXES = (".csv", ".tsv", ".json", ".parquet")


def write_study(study: Study, path: Path, *, overwrite: bool = False) -> Path:
    """Write all correlations of a study in the format that the name of the file says,
    and return the path.

    Raises :class:`InputError` for another suffix, and for a file that people wrote or
    changed, unless ``overwrite``.
    """
    records = study.records()
    suffix = path.suffix.lower()
    if suffix == ".json":
        data = to_json(
            {"source": study.source, "by": study.by, "correlations": records}
        )
    elif suffix == ".parquet":
        data = encode_columns(
            {name: [record[name] for record in records] for name in COLUMNS},
            [(0, len(records))],
        )
    elif suffix in SUFFIXES:
        rows: list[list[object]] = [list(COLUMNS)]
        for record in records:
            values = [record[name] for name in COLUMNS]
            rows.append(["" if value is None else value for value in values])
        data = delimit(rows, "\t" if suffix == ".tsv" else ",").encode("utf-8")
    else:
        raise InputError(
            f"the name ends with '{path.suffix}'; expected {', '.join(SUFFIXES)}",
            str(path),
        )
    return write_output(path, data, overwrite=overwrite)


def write_plots(
    study: Study,
    table: ColumnTable,
    directory: Path,
    *,
    by: str | None = None,
    baseline: str | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write ``best`` (the best x column against each y), ``baseline`` (a given x column
    against each y) and ``ranking`` (R² of every x column, best first, per group), each
    as ``.png`` and ``.svg``; return the files.

    Groups have colours and shapes of their own.

    Raises :class:`UnknownName` for a baseline that is no x column of the study,
    :class:`~harness.errors.MissingExtra` without vl-convert, and :class:`InputError`
    for a file that people wrote or changed, unless ``overwrite``.
    """
    if baseline is not None and baseline not in study.x:
        why = (
            f": dropped, {study.dropped[baseline]}"
            if baseline in study.dropped
            else did_you_mean(baseline, study.x)
        )
        raise UnknownName(f"the baseline '{baseline}' is no column of the study{why}")

    # a y column may have no x column with a defined correlation
    best = [next(iter(study.best(y, 1)), None) for y in study.y]
    charts = [scatter(study, table, best, by, "best")]
    if baseline is not None:
        charts.append(scatter(study, table, [baseline] * len(study.y), by, "baseline"))
    charts.append(ranking(study))

    # all are drawn before the first file is written
    drawn = [(chart.id, fitted_svg(chart, DOUBLE)) for chart in charts]

    def files() -> Iterator[tuple[Path, bytes]]:
        for name, text in drawn:
            yield directory / f"{name}.png", png(text, 3)
            yield directory / f"{name}.svg", with_font(text).encode("utf-8")

    return write_outputs(files(), overwrite=overwrite)


def scatter(
    study: Study,
    table: ColumnTable,
    names: Sequence[str | None],
    by: str | None,
    name: str,
) -> Chart:
    """Return a panel per y column with the x column of ``names`` (None: no panel
    content), and the line of least squares.
    """
    labels = np.array(table.groups(by)) if by else np.full(len(table), ALL)
    groups = [group for group in study.groups if group != ALL] or [ALL]
    panels_data = [
        _points(study, table, labels, groups, x, y) for x, y in zip(names, study.y)
    ]
    caption = (
        "One point per row of the table; the line is that of least squares over all "
        "points."
    )
    return Chart(
        name,
        "Scatter plots",
        caption,
        "metrics",
        partial(_build_scatter, panels_data, groups),
    )


def _points(
    study: Study,
    table: ColumnTable,
    labels: np.ndarray,
    groups: Sequence[str],
    x: str | None,
    y: str,
) -> Values:
    """Return titles, points and ends of the fitted line of one panel."""
    if x is None:
        return {
            "x": "",
            "y": y,
            "title": f"{y}: nothing defined",
            "points": [],
            "line": [],
        }

    across = table.numbers[x]
    up = table.numbers[y]
    selected = np.isin(labels, groups) & np.isfinite(across) & np.isfinite(up)
    across = across[selected]
    up = up[selected]
    points = [
        {"x": float(a), "y": float(b), "group": str(g)}
        for a, b, g in zip(across, up, labels[selected])
    ]

    slope, offset = np.polyfit(across, up, 1)
    line = [
        {"x": float(end), "y": float(slope * end + offset)}
        for end in (across.min(), across.max())
    ]
    r2 = study.record(x, y)["r2"]
    title = "R² undefined" if r2 is None else f"R² = {r2:.4f}"
    return {"x": x, "y": y, "title": title, "points": points, "line": line}


def _build_scatter(
    panels_data: Sequence[Values], groups: Sequence[str], layout: Layout
) -> Spec:
    columns = layout.columns(len(panels_data), 4 * layout.font)
    width = layout.panel_width(columns) - 4.5 * layout.font
    color, shape, _ = axes.series_channels("group", groups, _group_legend(groups))
    gray = {"color": "#808080", "strokeWidth": 0.12 * layout.font}
    look = {"filled": True, "opacity": 0.7, "size": 0.25 * layout.font**2}

    charts: list[Spec] = []
    data: dict[str, list[Values]] = {}
    for k, panel in enumerate(panels_data):
        data |= {f"points{k}": panel["points"], f"line{k}": panel["line"]}
        x = _panel_axis("x", panel)
        y = _panel_axis("y", panel)
        line = vega.mark("line", gray, data=f"line{k}", x=x, y=y)
        points = vega.mark(
            "point", look, data=f"points{k}", x=x, y=y, color=color, shape=shape
        )
        title = panel["title"]
        charts.append(
            vega.layer(line, points, width=width, height=0.8 * width, title=title)
        )
    return vega.finish_chart(vega.panels(charts, columns), **data)


def _panel_axis(name: str, panel: Values) -> Spec:
    """Return the channel ``x`` or ``y`` of a panel, with its ends at its points."""
    axis = {"title": panel[name] or None, "tickCount": 4, "format": axes.NUMBERS}
    ends = axes.pad_ends(row[name] for row in panel["points"])
    scale = {"domain": ends, "nice": False, "zero": False}
    return vega.quantitative(name, axis=axis, scale=scale)


def _group_legend(groups: Sequence[str]) -> Spec | None:
    if len(groups) == 1:
        return None
    return {"title": None, "orient": "bottom", "symbolOpacity": 1}


def ranking(study: Study) -> Chart:
    """Return R² of every x column against each y column, columns best first,
    a line per group.
    """
    rows: list[Values] = []
    for y in study.y:
        for group in study.groups:
            r2 = study.tables[group].r2[:, study.y.index(y)]
            for rank, name in enumerate(study.best(y), 1):
                value = float(r2[study.x.index(name)])
                rows.append({"target": y, "place": rank, "r2": value, "group": group})
    caption = "R² of every x column, the best over all rows first."
    build = partial(_build_ranking, rows, list(study.y), list(study.groups))
    return Chart("ranking", "Ranking of the columns", caption, "metrics", build)


def _build_ranking(
    rows: Sequence[Values],
    targets: Sequence[str],
    groups: Sequence[str],
    layout: Layout,
) -> Spec:
    columns = layout.columns(len(targets), 4 * layout.font)
    width = layout.panel_width(columns) - 4.5 * layout.font
    color, _, dash = axes.series_channels("group", groups, _group_legend(groups))
    x_axis = {
        "title": "columns, best first",
        "tickMinStep": 1,
        "format": "d",
        "grid": False,
    }
    y_axis = {"title": "R²", "format": axes.NUMBERS, "tickCount": 5}
    x = vega.quantitative("place", axis=x_axis, scale={"zero": False})
    y = vega.quantitative("r2", axis=y_axis, scale={"domain": [0, 1]})

    look = {"strokeWidth": 0.14 * layout.font}
    charts: list[Spec] = []
    for target in targets:
        where = vega.equal("target", target)
        line = vega.mark(
            "line", look, where=where, x=x, y=y, color=color, strokeDash=dash
        )
        charts.append({**line, "width": width, "height": 0.8 * width, "title": target})
    chart = {**vega.source("rows"), **vega.panels(charts, columns)}
    return vega.finish_chart(chart, rows=rows)
