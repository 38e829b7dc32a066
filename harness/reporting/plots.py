"""Views as SVG, drawn from the charts of :mod:`harness.reporting.charts` without a browser."""

from __future__ import annotations

from collections.abc import Sequence

from harness.reporting.charts.drawing import svg
from harness.reporting.charts.layout import PAGE
from harness.reporting.charts.view_charts import view_chart
from harness.rundir.records import ResultRecord
from harness.spec.models import ViewSpec


def draw(view: ViewSpec, records: Sequence[ResultRecord]) -> str:
    """Return one view as an ``<svg>`` element; an empty text where the records have no values of it.

    Raises :class:`~harness.errors.HarnessError` for a metric that the records do not hold.
    """
    chart = view_chart(view, records)
    return "" if chart is None else svg(chart.build(PAGE), "light", PAGE)
