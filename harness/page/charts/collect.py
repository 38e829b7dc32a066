"""Charts of runs: what suits them without being asked, and the views of their specs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.judgments.league import LeagueSet
from harness.page.charts.agreement import agreement
from harness.page.charts.chart import Chart
from harness.page.charts.differences import differences
from harness.page.charts.event_curves import event_curves
from harness.page.charts.overview import overview, sweeps
from harness.page.charts.planes import planes
from harness.page.charts.samples import (
    metric_correlations,
    p_histograms,
    score_distributions,
)
from harness.page.charts.stopping import stopping
from harness.page.charts.view_charts import view_charts
from harness.results import Run

SOURCES = (
    overview,
    view_charts,
    stopping,
    differences,
    planes,
    event_curves,
    sweeps,
    score_distributions,
    p_histograms,
    metric_correlations,
)
"""Functions that return the charts of one run of models, in the order of a report."""


def charts_for(runs: Sequence[Run | str | Path]) -> list[Chart]:
    """Return the charts of finished runs.

    With several runs of models the ids begin with the number and the titles with the
    task of the run. Runs of judgments share one chart.

    Raises :class:`~harness.errors.InputError` for a path without a finished run and
    :class:`~harness.errors.HarnessError` for a view of a metric that the results do not
    hold.
    """
    opened = [run if isinstance(run, Run) else Run.open(run) for run in runs]
    judged = [LeagueSet(run) for run in opened if run.provenance.kind]
    scored = [run for run in opened if not run.provenance.kind]
    charts = agreement(judged) if judged else []
    for index, run in enumerate(scored, 1):
        run_charts = [chart for source in SOURCES for chart in source(run)]
        if len(scored) > 1:
            name = run.provenance.task or f"run {index}"
            run_charts = [
                replace(chart, id=f"{index}-{chart.id}", title=f"{name}: {chart.title}")
                for chart in run_charts
            ]
        charts += run_charts
    return charts
