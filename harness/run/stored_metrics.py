"""Metrics of a finished run as comparisons read them: the components, or the means of
the stored scores where they are not installed.

A run holds the numbers, the scores per example and the directions of its metrics, so
that a metric of a plugin is compared where the plugin is absent, as long as its number
is the mean of its scores. Other numbers cannot be resampled without their component.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, Metric, MetricSpec, State
from harness.errors import HarnessError, InputError, MissingExtra, UnknownName
from harness.registry import current
from harness.registry.in_use import split_spec
from harness.run.finished import Run
from harness.rundir.provenance import MetricEntry
from harness.rundir.records import ResultRecord
from harness.rundir.samples import System

CLOSE = 1e-9
"""Largest difference, as a share of the number, between a number and the mean of its
scores, which are summed in another order.
"""
HELD_FIXED = " held fixed"
"""End of the part of the note of an interval that says which state of the references is
not fitted again.
"""


class StoredMetric(MeanMetric):
    """The mean of the scores of a run, for a metric whose component is not installed
    here.

    Parameters
    ----------
    record : ResultRecord
        A result of the metric, which tells its direction and its level.
    reason : str
        What is missing, such as ``the plugin 'acme' is not installed here``.
    """

    def __init__(self, record: ResultRecord, reason: str) -> None:
        note = record.interval_note or ""
        state, end, _ = note.partition(HELD_FIXED)
        self.spec = MetricSpec(
            record.metric,
            record.higher_is_better,
            record.level,
            needs=frozenset(),
            held_fixed=f"{state}{end}" if end else "",
        )
        self.reason = reason

    def scores(self, batch: Batch, features: Features, state: State) -> np.ndarray:
        """Raise :class:`HarnessError`: the scores of the run are there,
        but no text can be scored anew.
        """
        raise HarnessError(f"'{self.spec.name}' cannot score texts: {self.reason}")

    @property
    def note(self) -> str:
        """Remark on a comparison by the stored scores."""
        return f"by the stored scores: {self.reason}"

    @property
    def refusal(self) -> str:
        """Reason why a number that is no mean of its scores is not compared."""
        return f"not the mean of its scores, and {self.reason}"


def read_metric(run: Run, label: str) -> Metric:
    """Return the metric of a label of a run, to reduce its statistics; a
    :class:`StoredMetric` where its component is not installed.

    Raises :class:`~harness.errors.InputError` for a label that the run does not have.
    """
    entry = run.provenance.metric(label)
    try:
        metric = current().create_to_read("metrics", entry.name, entry.params)
    except (UnknownName, MissingExtra) as error:
        for record in run.records:
            if record.metric == label:
                return StoredMetric(record, missing_component(run, entry, error))
        raise
    return cast(Metric, metric)


def missing_component(run: Run, entry: MetricEntry, error: HarnessError) -> str:
    """Return what a metric of a run lacks here: its plugin, as the manifest names it,
    or what the error of its creation says.
    """
    if current().match_entries("metrics", entry.name):
        return error.message.partition("; did you mean")[0]
    plugins = cast(
        "list[Mapping[str, object]]", run.provenance.content.get("plugins") or []
    )
    for item in plugins:
        if (item.get("kind"), item.get("name")) == ("metrics", entry.name):
            return f"the plugin '{item['provider']}' is not installed here"
    return f"no plugin here has the metric '{entry.name}'"


def require_components(run: Run) -> None:
    """Raise :class:`InputError` for the first metric of a run, in the words of its
    spec, that no component here has.
    """
    for item in cast("list[object]", run.provenance.spec.get("metrics") or []):
        name, params = split_spec(item, "metric")
        if not current().match_entries("metrics", name):
            entry = MetricEntry(name, name, params, "")
            missing = missing_component(run, entry, HarnessError(""))
            raise InputError(
                f"has the metric '{name}', and {missing}: "
                "texts cannot be scored without it",
                run.name,
            )


def is_mean_of_scores(record: ResultRecord | None, system: System, metric: str) -> bool:
    """Return True where the number of a system is the mean of its stored scores."""
    if record is None or metric not in system.table.metrics:
        return False
    scores = system.scores(metric)
    defined = scores[~np.isnan(scores)]
    if not defined.size:
        return False
    mean = float(defined.mean())
    return math.isclose(mean, record.value, rel_tol=CLOSE, abs_tol=1e-12)
