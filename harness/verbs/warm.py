"""First-use work of metrics ahead of time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.contracts import CaptionSet, Values, VerbResult
from harness.registry import current
from harness.registry.permissions import allow
from harness.run.first_use import (
    built_in_metrics,
    fetched_plans,
    reference_sets,
    warm_metrics,
)
from harness.run.metric_plan import MetricPlan, caption_plans
from harness.run.planned_components import planned_metrics
from harness.spec.loading import load_specs

VECTORS = "HARNESS_VECTORS"
"""Variable with the folder of a store of vectors (docs/encoders.md)."""
MODELS = {"embeddings", "images"}
"""Needs of metrics that a model of texts or images computes."""


@dataclass(frozen=True)
class WarmedMetrics(VerbResult):
    """Metrics that were warmed."""

    ROWS = "metrics"

    metrics: Sequence[Values]
    """Per metric: label, seconds, and the reason for one that cannot run."""
    seconds: float
    """Seconds of all of them."""

    def to_dict(self) -> Values:
        """Return metrics and seconds."""
        return {"metrics": list(self.metrics), "seconds": self.seconds}

    def blocks(self) -> Iterator[str]:
        """Yield the number of metrics that are ready."""
        ready = sum(not row["reason"] for row in self.metrics)
        yield f"{ready} metrics are ready after {self.seconds:.1f} s"


def warm(
    spec: str | Path | None = None,
    *,
    progress: Callable[[str, float, str], None] = lambda label, seconds, reason: None,
    allow_secrets: Sequence[str] = (),
) -> WarmedMetrics:
    """Do the first-use work of metrics now, such as building METEOR's lexicon, so that
    later runs start at once.

    Where ``HARNESS_VECTORS`` names a store of vectors, it gets those of all references
    (and images) of a spec.

    Parameters
    ----------
    spec : str or Path, optional
        A YAML file, the name of a shipped task, or a metric, whose files are
        downloaded; default: all built-in metrics that need no files.
    progress : callable
        Called after each metric with its label, its seconds, and the reason for one
        that cannot run.
    allow_secrets : sequence of str
        See :func:`harness.evaluate`.

    Raises
    ------
    HarnessError
        A mistake in the spec, or a download that fails.
    """
    started = time.perf_counter()
    rows: list[Values] = []
    with allow(allow_secrets):
        for plans, sets in _work(spec):
            for label, seconds, reason in warm_metrics(plans, sets):
                rows.append({"metric": label, "seconds": seconds, "reason": reason})
                progress(label, seconds, reason)
    return WarmedMetrics(rows, time.perf_counter() - started)


def _work(
    spec: str | Path | None,
) -> Iterator[tuple[Sequence[MetricPlan], Sequence[CaptionSet]]]:
    """Yield metrics and the examples that they score: those of a spec, of a name, or
    the built-in ones; none for small examples.
    """
    if not spec:
        yield built_in_metrics(), ()
        return
    names = {entry.name for entry in current().entries("metrics")}
    if str(spec) in names and not Path(spec).is_file():
        yield fetched_plans(str(spec)), ()
        return

    fills_store = bool(os.environ.get(VECTORS))
    for item in load_specs(spec):
        plans = caption_plans(planned_metrics(item))
        with_model = [plan for plan in plans if MODELS & plan.metric.spec.needs]
        if fills_store and with_model:
            yield with_model, reference_sets(item)
            plans = [plan for plan in plans if plan not in with_model]
        if plans:
            yield plans, ()
