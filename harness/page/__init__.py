"""The report page of finished runs, their charts, and the page of a run while it goes
on.

In: finished runs, stored comparisons, sections that packages add. Out: self-contained
HTML files, charts as Vega-Lite, SVG, PDF and in notebooks.
"""

from harness.page.document import PageOptions, build, write

__all__ = ["PageOptions", "build", "write"]
