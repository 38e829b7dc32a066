"""Parameters of the metric ``dense``, as its protocols get them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness.contracts import Metric
from harness.errors import HarnessError
from harness_metrics.dense.pair_scores import PairScorer

Measure = Literal["score", "precision", "recall", "f1", "map"]
"""Number of a protocol: its score of the captions, its localisation, or the mean
average precision of ``scan2cap-benchmark``.
"""
Annotators = Literal["merged", "best", "mean"]
"""Treatment of several annotators: their events as one list, the annotator with the
best F1, or the mean.
"""
Hypothesis = Literal["prediction", "reference"]
"""Text that a caption metric which is not symmetric takes for its hypothesis."""


@dataclass(frozen=True)
class Options:
    """Parameters that were given; None for the rule of the protocol."""

    protocol: str
    metric: Metric
    """The caption metric."""
    text: PairScorer
    """The caption metric over pairs of texts."""
    measure: Measure = "score"
    tious: tuple[float, ...] | None = None
    seconds: tuple[float, ...] | None = None
    max_proposals: int | None = None
    annotators: Annotators | None = None
    overlap: str | None = None
    hypothesis: Hypothesis | None = None

    def refuse(self, *names: str) -> None:
        """Raise :class:`HarnessError` for parameters that the protocol has not."""
        for name in names:
            if getattr(self, name) is not None:
                raise HarnessError(
                    f"dense: the protocol {self.protocol} has no '{name}'",
                    parameter=name,
                    value=getattr(self, name),
                )

    def refuse_measures(self, *measures: Measure) -> None:
        """Raise :class:`HarnessError` for a measure that the protocol has not."""
        if self.measure in measures:
            raise HarnessError(
                f"dense: the protocol {self.protocol} has no measure '{self.measure}'",
                parameter="measure",
                value=self.measure,
            )
