"""Scores of lists of texts, without a spec or a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import harness
from harness.contracts import CaptionSet, Values, VerbResult
from harness.errors import HarnessError, counted
from harness.run import score as scoring
from harness.run import warmup
from harness.run.metric_plan import MetricPlan
from harness.run.record_fields import number_fields
from harness.run.text_sets import caption_sets
from harness.rundir.records import ResultRecord
from harness.stats.name_order import order_of_names

if TYPE_CHECKING:
    from harness.spec.models import SignificanceSpec


SAMPLES = 1000
"""Number of bootstrap samples of an interval, as in a spec."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MetricResult(ResultRecord):
    """Record of a metric on caption sets, with the scores of the examples."""

    per_example: np.ndarray
    """Scores, float64, shape (B,); NaN where the metric is undefined."""
    p_values: np.ndarray | None
    """Permutation p-values, shape (B,), or None when none were requested."""

    def __repr__(self) -> str:
        interval = f" ({self.ci95[0]:.4g} … {self.ci95[1]:.4g})" if self.ci95 else ""
        p = "" if self.p_value is None else f", p {self.p_value:.3g}"
        return (
            f"<{self.metric} {self.value:.4g}{interval}{p}, "
            f"{counted(self.n, 'example')}>"
        )

    def _repr_html_(self) -> str:
        return harness.as_html(self)


class Scores(VerbResult, dict[str, MetricResult]):
    """Results of one system by the label of the metric; it prints as ``harness score``
    does, and notebooks show it as a table.
    """

    ROWS = "results"
    failed: Mapping[str, str] = {}
    comparisons: Sequence[Any] = ()
    """Empty for one system, as are the failed examples."""
    readings: Sequence[Any] = ()
    """Readings of the files; empty for texts in memory."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values())) or "<no scores>"

    @property
    def results(self) -> list[Values]:
        """Records as in JSON, without the scores of the examples."""
        return [record.to_dict() for record in self.values()]

    @property
    def notes(self) -> list[str]:
        """Reasons for intervals and p-values that are missing."""
        return [
            f"{label}: {note}"
            for label, record in self.items()
            for note in (record.interval_note, record.p_note)
            if note
        ]

    def to_dict(self) -> Values:
        """Return results, failures, comparisons, notes and readings."""
        return {
            "results": self.results,
            "failed": dict(self.failed),
            "comparisons": list(self.comparisons),
            "notes": self.notes,
            "readings": list(self.readings),
        }

    def chart(self) -> Any:
        """Return the distributions of the scores per example as an Altair chart."""
        return harness.as_chart(self)


class BoundMetric:
    """A metric with its parameters, callable on lists of texts."""

    def __init__(self, plan: MetricPlan, significance: SignificanceSpec | None) -> None:
        self.plan = plan
        self.significance = significance

    def __repr__(self) -> str:
        return f"<metric {self.plan.metric.signature()}>"

    def __call__(
        self,
        candidates: Sequence[str] | Sequence[Sequence[str]],
        references: Sequence[str] | Sequence[Sequence[str]],
        *,
        seed: int = 0,
        bootstrap: int = SAMPLES,
    ) -> MetricResult:
        """Score B examples.

        Parameters
        ----------
        candidates, references : sequence of sequences of str
            ``candidates[b]`` are the n texts of example b, ``references[b]`` its m
            references; a list of texts has one of each example. Shapes may differ
            between examples. Corpus state (document frequencies) comes from
            ``references``.
        seed : int
            Seed of Monte Carlo p-values and of the interval.
        bootstrap : int
            Number of bootstrap samples of the 95 % interval; 0: no interval.

        Raises
        ------
        InputError
            An example is not a non-empty list of texts.
        """
        sets = caption_sets(candidates, references)
        scores = score_captions([self.plan], sets, self.significance, seed, bootstrap)
        return scores[self.plan.label]


def score_captions(
    plans: Sequence[MetricPlan],
    sets: Sequence[CaptionSet],
    significance: SignificanceSpec | None = None,
    seed: int = 0,
    samples: int = SAMPLES,
) -> Scores:
    """Return the results of metrics by label on caption sets, with intervals of
    ``samples`` bootstrap samples (0: none).

    Raises :class:`HarnessError` for a number of samples below 0.
    """
    if samples < 0:
        raise HarnessError(
            f"bootstrap is {samples}; expected a number of samples, "
            "or 0 for no intervals",
            parameter="bootstrap",
        )

    # metrics that still warm up come last
    warmup.warm(plan.metric for plan in plans)
    order = sorted(plans, key=lambda plan: hasattr(plan.metric, "warm"))
    metrics = [plan.metric for plan in order]
    results = scoring.score_sets(metrics, sets, significance, seed)
    scored_of = {plan.label: scored for plan, scored in zip(order, results)}

    by_name = order_of_names([item.id for item in sets])
    scores = Scores()
    for plan in plans:
        scored = scored_of[plan.label]
        scores[plan.label] = MetricResult(
            model="",
            **number_fields(plan, scored, significance, samples, seed, order=by_name),
            per_example=scored.per_example(plan.metric),
            p_values=scored.p_values,
        )
    return scores
