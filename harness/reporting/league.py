"""The league of metrics: agreement with people, set by set, with intervals, significance clusters and speed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, median
from typing import cast

from harness.contracts import Parameters
from harness.contracts.parameters import Values
from harness.reporting.metric_labels import shown_names
from harness.reporting.result_groups import group_records
from harness.run.finished import Run
from harness.rundir.records import ResultRecord, number

QUESTIONS = {
    "captions": "grades of single captions",
    "labels": "captions with something false in them",
    "pairs": "the better one of two captions",
    "foil": "a caption beside the same caption with a false word",
    "systems": "the better system",
}
"""Kind of a judgment set -> question that it answers."""


@dataclass(frozen=True)
class PublishedValues:
    """Published values of one source, times 100."""

    reference: str
    values: Parameters
    note: str = ""

    def numbers(self, metric: str) -> list[float]:
        """Return the published numbers of a metric: none, one, or both ends of a range."""
        value = self.values.get(metric)
        values = value if isinstance(value, (list, tuple)) else [value]
        return [float(end) for end in values if isinstance(end, (int, float))]

    def text(self, metric: str) -> str:
        """Return the published value of a metric as printed, a range as ``74.1–74.3``; empty where there is none."""
        return "–".join(f"{end:g}" for end in self.numbers(metric))


@dataclass(frozen=True)
class LeagueSet:
    """One judgment set with the records of its metrics."""

    run: Run

    @property
    def name(self) -> str:
        """Name of the task without its folder."""
        return self.run.provenance.task.rpartition("/")[2]

    @cached_property
    def groups(self) -> list[list[ResultRecord]]:
        """The records by statistic and group of judgments, best metric first, as the tables of all runs have them.

        The judged metric is the ``model`` of a record, its statistic with the group the ``metric``; higher is better.
        """
        signature = self.run.provenance.signature
        return group_records(
            [
                replace(record, model=record.metric, metric=record.agreement, higher_is_better=True, signature=signature)
                for record in self.run.records
            ]
        )

    @cached_property
    def headlines(self) -> dict[str, ResultRecord]:
        """Metric -> the record that stands for the set, best first."""
        records = (record for group in self.groups for record in group)
        return {record.model: record for record in records if (record.details or {}).get("headline")}

    @cached_property
    def metric_names(self) -> dict[str, str]:
        """Label of each metric -> its name in tables."""
        return shown_names(self.run.records)

    @property
    def headline(self) -> ResultRecord:
        """A record of the headline, for its statistic and group."""
        return next(iter(self.headlines.values()))

    @property
    def kind(self) -> str:
        """Kind of the judgments, a key of :data:`QUESTIONS`."""
        statistic = str(self.headline.statistic)
        if statistic.endswith("_system") or statistic.startswith("soft"):
            return "systems"
        form = str(cast("Parameters", self.run.provenance.spec.get("judgments") or {}).get("form"))
        if form == "foil":
            return form
        if statistic in ("auc", "average_precision"):
            return "labels"
        return "pairs" if statistic == "accuracy" else "captions"

    def published_values(self) -> list[PublishedValues]:
        """Return the published rows of the headline: those of the spec, also for metrics that this run does not have."""
        head = self.headline
        return [
            PublishedValues(str(table["reference"]), table["values"], str(table.get("note") or ""))
            for table in cast("list[Values]", self.run.provenance.spec.get("published") or [])
            if (table.get("statistic") or head.statistic, table.get("group") or head.group) == (head.statistic, head.group)
        ]


@dataclass(frozen=True)
class League:
    """Metrics by sets."""

    sets: tuple[LeagueSet, ...]

    @cached_property
    def metrics(self) -> list[str]:
        """Labels of the metrics, by mean rank of their clusters, then by mean value."""
        names = list(dict.fromkeys(record.metric for judged in self.sets for record in judged.run.records))
        return sorted(names, key=self._order)

    @cached_property
    def names(self) -> dict[str, str]:
        """Label of each metric -> its name in tables and charts."""
        return shown_names(record for judged in self.sets for record in judged.run.records)

    def _order(self, metric: str) -> tuple[float, float]:
        rank, values = self.mean_rank(metric), [r.value for r in self._headlines(metric) if not math.isnan(r.value)]
        return math.inf if math.isnan(rank) else rank, -fmean(values) if values else math.inf

    def _headlines(self, metric: str) -> list[ResultRecord]:
        return [record for judged in self.sets if (record := judged.headlines.get(metric))]

    def mean_rank(self, metric: str) -> float:
        """Return the mean rank of the metric's clusters over the sets that have it; NaN without any."""
        ranks = [rank for record in self._headlines(metric) if (rank := cluster(record)) is not None]
        return fmean(ranks) if ranks else math.nan

    def rate(self, metric: str) -> float:
        """Return the captions per second of a metric, the median over sets; NaN where it was not measured."""
        measured = [value for record in self._headlines(metric) if not math.isnan(value := rate_of(record))]
        return median(measured) if measured else math.nan


def cluster(record: ResultRecord | None) -> int | None:
    """Return the rank of a record's significance cluster; None where there is none."""
    return None if record is None else cast("int | None", (record.details or {}).get("cluster"))


def rate_of(record: ResultRecord) -> float:
    """Return the captions per second of a headline's metric; NaN where it was not measured."""
    return number((record.details or {}).get("captions_per_second"))


def percent_text(value: float) -> str:
    """Return a value times 100 with one decimal, as the field prints it; a dash for NaN.

    >>> percent_text(0.4234), percent_text(float("nan"))
    ('42.3', '–')
    """
    return "–" if math.isnan(value) else f"{100 * value:.1f}"


def percent_interval(interval: Sequence[float] | None) -> str:
    """Return an interval times 100; a dash where there is none."""
    return "–" if interval is None else f"{percent_text(interval[0])} … {percent_text(interval[1])}"


def rate_text(rate: float) -> str:
    """Return captions per second with two significant digits.

    >>> rate_text(12345.0), rate_text(3.21)
    ('12,000/s', '3.2/s')
    """
    if math.isnan(rate):
        return "–"
    rounded = float(f"{rate:.2g}")
    return f"{rounded:,.0f}/s" if rounded >= 10 else f"{rounded:g}/s"
