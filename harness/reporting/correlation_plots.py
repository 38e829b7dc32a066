"""Scatter plots and the ranking of a correlation study, as PNG files (matplotlib's Agg, no display needed)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.analysis.column_table import ColumnTable
from harness.analysis.correlate import ALL, Study
from harness.errors import UnknownName, did_you_mean, require

COLORS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#000000")


def write_plots(
    study: Study, table: ColumnTable, directory: Path, *, by: str | None = None, baseline: str | None = None
) -> list[Path]:
    """``best.png`` (the best x column against each y), ``baseline.png`` (a given x column against each y) and ``ranking.png``
    (R² of every x column, best first, per group); returns the files. Points are coloured by group.

    Raises :class:`UnknownName` for a baseline that is no x column of the study.
    """
    if baseline is not None and baseline not in study.x:
        why = f": dropped, {study.dropped[baseline]}" if baseline in study.dropped else did_you_mean(baseline, study.x)
        raise UnknownName(f"the baseline '{baseline}' is no column of the study{why}")
    require("matplotlib", extra="plots", needed_by="correlation plots")
    import matplotlib

    directory.mkdir(parents=True, exist_ok=True)
    labels = np.array(table.groups(by)) if by else np.full(len(table), ALL)
    best = [study.best(y, 1) for y in study.y]
    with matplotlib.rc_context({"text.parse_math": False}):  # names of columns are no formulas of TeX
        files = [_scatter(study, table, labels, [b[0] if b else None for b in best], directory / "best.png")]
        if baseline is not None:
            files.append(_scatter(study, table, labels, [baseline] * len(study.y), directory / "baseline.png"))
        files.append(_ranking(study, directory / "ranking.png"))
    return files


def _figure(columns: int, height: float) -> tuple[Any, list[Any]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * columns, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def _scatter(study: Study, table: ColumnTable, labels: np.ndarray, names: Sequence[str | None], path: Path) -> Path:
    figure, axes = _figure(len(study.y), 3.8)
    groups = [name for name in study.groups if name != ALL] or [ALL]
    for axis, name, y in zip(axes, names, study.y):
        if name is None:
            axis.set_title(f"{y}: nothing defined")
            continue
        for k, group in enumerate(groups):
            points = labels == group
            axis.scatter(
                table.numbers[name][points], table.numbers[y][points], s=9, alpha=0.7, label=group, color=COLORS[k % 8]
            )
        inside = np.isin(labels, groups) & np.isfinite(table.numbers[name]) & np.isfinite(table.numbers[y])
        slope, offset = np.polyfit(table.numbers[name][inside], table.numbers[y][inside], 1)
        ends = np.array([table.numbers[name][inside].min(), table.numbers[name][inside].max()])
        axis.plot(ends, slope * ends + offset, color="black", linewidth=0.8)
        r2 = study.record(name, y)["r2"]
        axis.set(xlabel=name, ylabel=y, title=f"R² = {r2:.4f}" if r2 is not None else "R² undefined")
    if len(groups) > 1:
        axes[0].legend(fontsize=7, frameon=False)
    figure.savefig(path, dpi=150)
    return path


def _ranking(study: Study, path: Path) -> Path:
    figure, axes = _figure(len(study.y), 3.8)
    for axis, y in zip(axes, study.y):
        order = [study.x.index(name) for name in study.best(y)]
        for k, group in enumerate(study.groups):
            values = study.tables[group].r2[order, study.y.index(y)]
            wide = group == ALL
            axis.plot(
                np.arange(1, len(order) + 1), values, label=group, linewidth=1.6 if wide else 0.7,
                color="black" if wide else COLORS[k % 8],
            )  # fmt: skip
        axis.set(xlabel="columns, best first", ylabel="R²", title=y, ylim=(0, 1))
    axes[0].legend(fontsize=7, frameon=False)
    figure.savefig(path, dpi=150)
    return path
