"""The league table of metrics: agreement with people, set by set, with intervals, significance clusters and speed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import cast

from harness.contracts import Parameters
from harness.contracts.parameters import Values
from harness.errors import InputError
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
class LeagueSet:
    """One judgment set with the records of its metrics."""

    run: Run

    @property
    def name(self) -> str:
        """Name of the task without its folder."""
        return self.run.provenance.task.rpartition("/")[2]

    @property
    def spec(self) -> Parameters:
        """The resolved spec."""
        return self.run.provenance.spec

    @property
    def headlines(self) -> dict[str, ResultRecord]:
        """Metric -> the record that stands for the set."""
        return {record.metric: record for record in self.run.records if (record.details or {}).get("headline")}

    @property
    def statistic(self) -> str:
        """Statistic and group of the headline, for column heads."""
        record = next(iter(self.headlines.values()))
        return f"{record.statistic}" + ("" if record.group == "all" else f" ({record.group})")

    @property
    def kind(self) -> str:
        """Kind of the judgments, a key of :data:`QUESTIONS`."""
        statistic = str(next(iter(self.headlines.values())).statistic)
        if statistic.endswith("_system") or statistic.startswith("soft"):
            return "systems"
        form = str(cast("Parameters", self.spec.get("judgments") or {}).get("form"))
        if form == "foil":
            return form
        if statistic in ("auc", "average_precision"):
            return "labels"
        return "pairs" if statistic == "accuracy" else "captions"

    def published_values(self) -> list[PublishedValues]:
        """Return the published rows of the headline: those of the spec, also for metrics that this run does not have."""
        head = next(iter(self.headlines.values()))
        rows: list[PublishedValues] = []
        for table in cast("list[Values]", self.spec.get("published") or []):
            statistic = table.get("statistic") or head.statistic
            group = table.get("group") or head.group
            if (statistic, group) == (head.statistic, head.group):
                rows.append(PublishedValues(str(table["reference"]), table["values"], str(table.get("note") or "")))
        return rows


@dataclass(frozen=True)
class PublishedValues:
    """Published values of one source, times 100."""

    reference: str
    values: Parameters
    note: str = ""

    def text(self, metric: str) -> str:
        """Return the published value of a metric as printed, a range as ``74.1–74.3``; empty where there is njudged."""
        value = self.values.get(metric)
        if value is None:
            return ""
        ends = cast("list[float]", value) if isinstance(value, (list, tuple)) else [cast(float, value)]
        return "–".join(f"{end:g}" for end in ends)


@dataclass(frozen=True)
class Advice:
    """Metrics that no other one beats significantly, for one kind of judgments."""

    question: str
    sets: tuple[str, ...]
    best: tuple[str, ...]
    """Metrics in the first cluster of most sets of the kind, with the number of these sets."""
    fastest: str
    """The fastest of them, with its captions per second."""


@dataclass(frozen=True)
class League:
    """Metrics by sets."""

    sets: tuple[LeagueSet, ...]
    absent: tuple[str, ...] = ()
    """One line per set that is not there."""

    @property
    def title(self) -> str:
        """Title of the page: the task of a single set."""
        names = [judged.run.provenance.task for judged in self.sets]
        return names[0] if len(names) == 1 else "Metrics judged by people"

    @property
    def metrics(self) -> list[str]:
        """Labels of the metrics, by mean rank of their clusters, then by mean value."""
        names = list(dict.fromkeys(record.metric for judged in self.sets for record in judged.run.records))
        return sorted(names, key=lambda name: (self._sort_rank(name), -self._mean_value(name)))

    def _sort_rank(self, metric: str) -> float:
        rank = self.mean_rank(metric)
        return math.inf if math.isnan(rank) else rank

    def mean_rank(self, metric: str) -> float:
        """Return the mean rank of the metric's clusters over the sets that have it; NaN without any."""
        ranks = [r for judged in self.sets if (r := cluster(judged.headlines.get(metric))) is not None]
        return sum(ranks) / len(ranks) if ranks else math.nan

    def _mean_value(self, metric: str) -> float:
        values = [r.value for judged in self.sets if (r := judged.headlines.get(metric)) and not math.isnan(r.value)]
        return sum(values) / len(values) if values else -math.inf

    def rate(self, metric: str) -> float:
        """Return the captions per second of a metric, the median over sets; NaN where it was not measured."""
        records = [record for judged in self.sets if (record := judged.headlines.get(metric))]
        rates = [number((record.details or {}).get("captions_per_second")) for record in records]
        measured = [rate for rate in rates if not math.isnan(rate)]
        return median(measured) if measured else math.nan

    def advice(self) -> list[Advice]:
        """Return the best metrics for each kind of judgments, and the fastest of them."""
        out: list[Advice] = []
        for kind, question in QUESTIONS.items():
            sets = [judged for judged in self.sets if judged.kind == kind]
            wins = {
                name: sum(cluster(judged.headlines.get(name)) == 1 for judged in sets) for name in self.metrics if sets
            }
            largest_count = max(wins.values(), default=0)
            best = [name for name, count in wins.items() if count == largest_count and largest_count]
            if not best:
                continue
            fastest = max(best, key=lambda name: -1.0 if math.isnan(self.rate(name)) else self.rate(name))
            labels = [f"{name} ({wins[name]} of {len(sets)} sets)" for name in best]
            speed = f"{fastest}, {rate_text(self.rate(fastest))}"
            out.append(Advice(question, tuple(judged.name for judged in sets), tuple(labels), speed))
        return out


def open_league(paths: Sequence[str | Path], absent: Sequence[str] = ()) -> League:
    """Return the league of finished runs of judgments; raise :class:`InputError` for a run of models among them."""
    sets: list[LeagueSet] = []
    for path in paths:
        run = Run.open(path)
        if not run.provenance.kind:
            raise InputError(
                "is a run of models; one page shows runs of judgments or runs of models, not both", str(path)
            )
        sets.append(LeagueSet(run))
    return League(tuple(sets), tuple(absent))


def cluster(record: ResultRecord | None) -> int | None:
    """Return the rank of a record's significance cluster; None for njudged."""
    return None if record is None else cast("int | None", (record.details or {}).get("cluster"))


def percent_text(value: float) -> str:
    """Return a value times 100 with one decimal, as the field prints it; a dash for NaN.

    >>> percent_text(0.4234), percent_text(float("nan"))
    ('42.3', '–')
    """
    return "–" if math.isnan(value) else f"{100 * value:.1f}"


def interval_text(record: ResultRecord) -> str:
    """Return the interval of a record times 100; a dash where there is njudged."""
    return "–" if record.ci95 is None else f"{percent_text(record.ci95[0])} … {percent_text(record.ci95[1])}"


def rate_text(rate: float) -> str:
    """Return captions per second with two significant digits.

    >>> rate_text(12345.0), rate_text(3.21)
    ('12,000/s', '3.2/s')
    """
    if math.isnan(rate):
        return "–"
    rounded = float(f"{rate:.2g}")
    return f"{rounded:,.0f}/s" if rounded >= 10 else f"{rounded:g}/s"
