"""Charts of finished runs as Vega-Lite specifications: one source for the page, for
figures of papers and for notebooks.

``charts_for(runs)`` returns what suits the runs. ``Chart.spec`` is Vega-Lite JSON with
its data inside and without a ``config``: fonts, background and category colours come
from :func:`harness.page.charts.chart.config` (``"light"``, ``"dark"`` or
``"paper"``), which the reader passes on (the option ``config`` of vega-embed,
``alt.theme``, vl-convert).
"""

from harness.page.charts.chart import (
    DOUBLE,
    PAGE,
    PHONE,
    SINGLE,
    WIDE,
    Chart,
    Layout,
)
from harness.page.charts.collect import charts_for

__all__ = ["DOUBLE", "PAGE", "PHONE", "SINGLE", "WIDE", "Chart", "Layout", "charts_for"]
