"""A chart: title, caption, and its Vega-Lite specification for a layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.contracts.parameters import Values
from harness.errors import require
from harness.reporting.charts.style import PAGE, Layout, config

Spec = Values
"""Vega-Lite JSON: a whole specification, with its data in ``datasets``, or a part of one."""


@dataclass(frozen=True, eq=False)
class Chart:
    """One chart of a run."""

    id: str
    """Name for files and anchors, unique within a list of charts."""
    title: str
    caption: str
    """Sentences that say what is drawn and how it was computed; plain text."""
    group: str
    """Heading under which the chart stands: ``overview``, ``differences``, ``trade-offs``, ``sweeps``, ``scores``, ``p-values``,
    ``metrics``, ``agreement`` or ``views``."""
    build: Callable[[Layout], Spec]
    """Specification for a layout."""

    def __repr__(self) -> str:
        return f"<chart {self.id}: {self.title}>"

    @cached_property
    def spec(self) -> Spec:
        """Vega-Lite JSON for a page, with its data inside."""
        return self.build(PAGE)

    def altair(self) -> Any:
        """Return the chart as an Altair chart, in the light style; raise :class:`~harness.errors.MissingExtra` without altair."""
        alt = require("altair", needed_by="a chart in a notebook", extra="figures")
        return alt.Chart.from_dict({**self.spec, "config": config("light", PAGE)})
