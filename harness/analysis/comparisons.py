"""Rows of paired comparisons as a list that notebooks show as a table."""

from __future__ import annotations

from typing import Any

import harness
from harness.contracts import Values


class Comparisons(list[Values]):
    """Rows of :func:`harness.compare`: one per pair of systems and metric."""

    def __repr__(self) -> str:
        pairs = {(row["system_a"], row["system_b"]) for row in self}
        decided = sum(row["better"] in ("A", "B") for row in self)
        metrics = len({row["metric"] for row in self})
        return f"<comparisons of {len(pairs)} pairs by {metrics} metrics: {decided} of {len(self)} significant>"

    def _repr_html_(self) -> str:
        return harness.as_html(self)

    def chart(self) -> Any:
        """Return the differences with their intervals as an Altair chart."""
        return harness.as_chart(self)
