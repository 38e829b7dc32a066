"""The league of metrics: agreement with people by set, and clusters of significance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import cast

from harness.contracts import Parameters
from harness.contracts.parameters import Values
from harness.reporting.result_groups import group_records
from harness.reporting.table import shown_names
from harness.results import ResultRecord, Run
from harness.stats.metric_tests import MOST_SKIPPED

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
        """Return the published numbers of a metric: none, one,
        or both ends of a range.
        """
        value = self.values.get(metric)
        is_range = isinstance(value, (list, tuple))
        values = cast("Sequence[object]", value) if is_range else [value]
        return [float(end) for end in values if isinstance(end, (int, float))]

    def text(self, metric: str) -> str:
        """Return the published value of a metric as printed, a range as ``74.1–74.3``;
        empty where there is none.
        """
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
        """The records by statistic and group of judgments, best metric first, as the
        tables of all runs have them.

        The judged metric is the ``model`` of a record, its statistic with the group the
        ``metric``; higher is better.
        """
        signature = self.run.provenance.signature
        records = [
            replace(
                record,
                model=record.metric,
                metric=record.agreement,
                higher_is_better=True,
                signature=signature,
            )
            for record in self.run.records
        ]

        def skips_many(record: ResultRecord) -> bool:
            return record.skipped > MOST_SKIPPED * (record.skipped + record.n)

        # a stable sort: metrics without a score for many rows stand last, and each part
        # keeps its order
        return [sorted(group, key=skips_many) for group in group_records(records)]

    @cached_property
    def headlines(self) -> dict[str, ResultRecord]:
        """Metric -> the record that stands for the set, best first;
        one person against the others among them.
        """
        records = (record for group in self.groups for record in group)
        return {
            record.model: record
            for record in records
            if {"headline", "ceiling"} & set(record.details or ())
        }

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

        judgments = cast("Parameters", self.run.provenance.spec.get("judgments") or {})
        form = str(judgments.get("form"))
        if form == "foil":
            return form
        if statistic in ("auc", "average_precision"):
            return "labels"
        return "pairs" if statistic == "accuracy" else "captions"

    def published_values(self) -> list[PublishedValues]:
        """Return the published rows of the headline: those of the spec, also for
        metrics that this run does not have.
        """
        head = self.headline
        statistic = str(head.statistic).partition(" ")[0]  # without its grouping
        tables = cast("list[Values]", self.run.provenance.spec.get("published") or [])
        rows: list[PublishedValues] = []
        for table in tables:
            # a table without statistic or group is of the headline
            if (table.get("statistic") or statistic) != statistic:
                continue
            if (table.get("group") or head.group) != head.group:
                continue
            reference = str(table["reference"])
            note = str(table.get("note") or "")
            rows.append(PublishedValues(reference, table["values"], note))
        return rows


@dataclass(frozen=True)
class League:
    """Metrics by sets."""

    sets: tuple[LeagueSet, ...]

    @cached_property
    def metrics(self) -> list[str]:
        """Labels of the metrics, by mean rank of their clusters, then by mean value."""
        records = (record for judged in self.sets for record in judged.run.records)
        names = dict.fromkeys(record.metric for record in records)
        return sorted(names, key=self._order)

    @cached_property
    def names(self) -> dict[str, str]:
        """Label of each metric -> its name in tables and charts."""
        return shown_names(
            record for judged in self.sets for record in judged.run.records
        )

    def _order(self, metric: str) -> tuple[float, float]:
        rank = self.mean_rank(metric)
        values = [r.value for r in self.headlines_of(metric) if not math.isnan(r.value)]
        return (
            math.inf if math.isnan(rank) else rank,
            -fmean(values) if values else math.inf,
        )

    def headlines_of(self, metric: str) -> list[ResultRecord]:
        """Return the headlines of a metric, of the sets that have it."""
        records = (judged.headlines.get(metric) for judged in self.sets)
        return [record for record in records if record is not None]

    def mean_rank(self, metric: str) -> float:
        """Return the mean rank of the metric's clusters over the sets that have it;
        NaN without any.
        """
        clusters = map(cluster, self.headlines_of(metric))
        ranks = [rank for rank in clusters if rank is not None]
        return fmean(ranks) if ranks else math.nan


def cluster(record: ResultRecord | None) -> int | None:
    """Return the rank of a record's significance cluster; None where there is none."""
    if record is None:
        return None
    return cast("int | None", (record.details or {}).get("cluster"))
