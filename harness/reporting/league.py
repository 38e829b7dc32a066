"""The league of metrics: agreement with people, set by set, with intervals and
significance clusters; its tables.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import fmean
from typing import cast

from harness.contracts import Parameters
from harness.contracts.parameters import Values
from harness.errors import counted
from harness.reporting.result_groups import group_records, interval_notes, usage_notes
from harness.reporting.table import Bar, Table, p_text, shown_names
from harness.run.finished import Run
from harness.rundir.records import ResultRecord
from harness.stats.metric_tests import EXCHANGE_TESTS, MOST_SKIPPED, exchange_test

QUESTIONS = {
    "captions": "grades of single captions",
    "labels": "captions with something false in them",
    "pairs": "the better one of two captions",
    "foil": "a caption beside the same caption with a false word",
    "systems": "the better system",
}
"""Kind of a judgment set -> question that it answers."""
SKIPPED_NOTE = (
    "* on the rows for which the metric has a score; "
    "without a score for more than 5 % it has no cluster and stands last"
)
"""Remark on values of rows that not all metrics have answered."""
ALIGNMENT = {
    "statistic": "l",
    "metric": "l",
    "value x 100": "r",
    "95 % interval": "r",
    "cluster": "r",
    "published": "r",
    "items": "r",
    "captions": "r",
    "n": "r",
    "ties": "r",
    "skipped": "r",
    "as a person": "r",
}
"""Columns of the table of a set and their alignment."""
DATA = (
    "set",
    "statistic",
    "metric",
    "value",
    "low",
    "high",
    "cluster",
    "items",
    "captions",
    "ratings",
    "n",
    "ties",
    "skipped",
    "published x 100",
    "reference",
)
"""Columns of the CSV, a row per record."""


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
        values = value if isinstance(value, (list, tuple)) else [value]
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
        groups = group_records(
            [
                replace(
                    record,
                    model=record.metric,
                    metric=record.agreement,
                    higher_is_better=True,
                    signature=signature,
                )
                for record in self.run.records
            ]
        )
        return [
            sorted(
                group,
                key=lambda record: (
                    record.skipped > MOST_SKIPPED * (record.skipped + record.n)
                ),
            )
            for group in groups
        ]

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
        form = str(
            cast("Parameters", self.run.provenance.spec.get("judgments") or {}).get(
                "form"
            )
        )
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
        return [
            PublishedValues(
                str(table["reference"]), table["values"], str(table.get("note") or "")
            )
            for table in cast(
                "list[Values]", self.run.provenance.spec.get("published") or []
            )
            if (table.get("statistic") or statistic, table.get("group") or head.group)
            == (statistic, head.group)
        ]


@dataclass(frozen=True)
class League:
    """Metrics by sets."""

    sets: tuple[LeagueSet, ...]

    @cached_property
    def metrics(self) -> list[str]:
        """Labels of the metrics, by mean rank of their clusters, then by mean value."""
        names = list(
            dict.fromkeys(
                record.metric for judged in self.sets for record in judged.run.records
            )
        )
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
        return math.inf if math.isnan(rank) else rank, -fmean(
            values
        ) if values else math.inf

    def headlines_of(self, metric: str) -> list[ResultRecord]:
        return [
            record for judged in self.sets if (record := judged.headlines.get(metric))
        ]

    def mean_rank(self, metric: str) -> float:
        """Return the mean rank of the metric's clusters over the sets that have it;
        NaN without any.
        """
        ranks = [
            rank
            for record in self.headlines_of(metric)
            if (rank := cluster(record)) is not None
        ]
        return fmean(ranks) if ranks else math.nan


def cluster(record: ResultRecord | None) -> int | None:
    """Return the rank of a record's significance cluster; None where there is none."""
    return (
        None
        if record is None
        else cast("int | None", (record.details or {}).get("cluster"))
    )


def percent_text(value: float) -> str:
    """Return a value times 100 with one decimal, as the field prints it;
    a dash for NaN.

    >>> percent_text(0.4234), percent_text(float("nan"))
    ('42.3', '–')
    """
    return "–" if math.isnan(value) else f"{100 * value:.1f}"


def value_text(record: ResultRecord) -> str:
    """Return the value of a record times 100,
    with a mark where the metric has no score for some rows.
    """
    return percent_text(record.value) + (
        "*" if record.skipped and not math.isnan(record.value) else ""
    )


def percent_interval(interval: Sequence[float] | None) -> str:
    """Return an interval times 100; a dash where there is none."""
    return (
        "–"
        if interval is None
        else f"{percent_text(interval[0])} … {percent_text(interval[1])}"
    )


def set_table(judged: LeagueSet) -> Table:
    """Return the records of a judgment set by statistic and group, best metric first;
    metrics of the first cluster are bold.
    """
    published = judged.published_values()
    records = [record for group in judged.groups for record in group]
    optional = {
        "published": published,
        "as a person": any(
            "alternative" in (record.details or {}) for record in records
        ),
    }
    columns = {
        name: letter for name, letter in ALIGNMENT.items() if optional.get(name, True)
    }
    starts = [
        sum(map(len, judged.groups[:index])) for index in range(len(judged.groups))
    ]
    rows: list[list[str]] = []
    bars: dict[tuple[int, int], Bar] = {}
    for group in judged.groups:
        scale = interval_scale(group)
        for record in group:
            details = record.details or {}
            headline = judged.headlines.get(record.model) is record
            rank = cluster(record)
            column = list(columns).index("95 % interval")
            if record.ci95 is not None and not math.isnan(record.value):
                bars[len(rows), column] = Bar(*map(scale, (*record.ci95, record.value)))
            cells = {
                "statistic": "" if len(rows) not in starts else record.metric,
                "metric": judged.metric_names[record.model],
                "value x 100": value_text(record),
                "95 % interval": percent_interval(record.ci95),
                "cluster": str(rank or ("–" if headline else "")),
                "items": str(details.get("items", "")),
                "captions": str(details.get("captions", "")),
                "n": str(record.n),
                "skipped": str(record.skipped or ""),
                "published": ", ".join(
                    filter(
                        None, (row.text(record.model) for row in published if headline)
                    )
                ),
                "ties": f"{percent_text(details['ties'])} %"
                if "ties" in details
                else "",
                "as a person": "{winning_rate:.2f} ({advantage:.2f})".format(**test)
                if (test := details.get("alternative"))
                else "",
            }
            rows.append([cells[name] for name in columns])
    data = judged.run.provenance.data
    nouns = {
        "example": "item",
        "caption": "caption",
        "rating": "rating",
        "pair": "pair",
    }
    counts = ", ".join(
        counted(int(data[f"{noun}s"]), name)
        for noun, name in nouns.items()
        if data.get(f"{noun}s")
    )
    return Table(
        headers=list(columns),
        rows=rows,
        alignment="".join(columns.values()),
        title=f"{judged.run.provenance.task}  {judged.run.provenance.signature}",
        notes=[
            counts,
            *_interval_notes(records),
            *_notes_of_people(records),
            *usage_notes(judged.run.records),
            *_published_notes(judged),
        ],
        bold=frozenset(
            (i, k)
            for i, record in enumerate(records)
            if cluster(record) == 1
            for k in range(len(columns))
        ),
        groups=frozenset(starts),
        bars=bars,
        data=[DATA, *map(partial(_data, judged), records)],
        secondary=("captions", "items", "ties", "n"),
    )


def interval_scale(records: Sequence[ResultRecord]) -> Callable[[float], float]:
    """Return a function that maps the range of all intervals and numbers of some
    records to 0 to 1.
    """
    ends = [
        end
        for record in records
        for end in (*(record.ci95 or ()), record.value)
        if not math.isnan(end)
    ]
    low = min(ends, default=0.0)
    high = max(ends, default=1.0)
    return lambda end: (end - low) / ((high - low) or 1.0)


def _interval_notes(records: Sequence[ResultRecord]) -> list[str]:
    """Return the reasons why values have no interval,
    with the statistics that they apply to.
    """
    return interval_notes(
        [record for record in records if not math.isnan(record.value)]
    )


def _notes_of_people(records: Sequence[ResultRecord]) -> Iterator[str]:
    """Yield remarks on rows without a score, and on the columns and rows that compare
    metrics with single people.
    """
    if any("*" in value_text(record) for record in records):
        yield SKIPPED_NOTE
    people = [
        number for record in records if (number := (record.details or {}).get("people"))
    ]
    if people:
        yield (
            f"one person against the others: the mean over {max(people)} people who "
            "are left out of the human score in turn"
        )
    tests = [
        test
        for record in records
        if (test := (record.details or {}).get("alternative"))
    ]
    if tests:
        text = (
            "as a person: winning rate (average advantage probability) "
            "of the alternative annotator test (Calderon et al. 2025)"
        )
        yield (
            f"{text}, epsilon {tests[0]['epsilon']:g}, {len(tests[0]['p'])} people; "
            "a judge with a winning rate of at least 0.5 passes"
        )


def _published_notes(judged: LeagueSet) -> Iterator[str]:
    """Yield the sources of the published values,
    with the values of metrics that the run does not have.
    """
    for row in judged.published_values():
        absent = [
            f"{name} (published only) {row.text(name)}"
            for name in row.values
            if name not in judged.headlines
        ]
        yield " · ".join(
            filter(None, (f"published: {row.reference}", row.note, *absent))
        )


def _data(judged: LeagueSet, record: ResultRecord) -> list[object]:
    """Return the row of a record in the CSV, numbers in full;
    published values stand beside the headline.
    """
    headline = judged.headlines.get(record.model) is record
    published = [
        row for row in judged.published_values() if headline and row.text(record.model)
    ]
    numbers = [record.value, *(record.ci95 or (math.nan, math.nan))]
    counts = [
        (record.details or {}).get(name) for name in ("items", "captions", "ratings")
    ]
    cells = [
        judged.name,
        record.metric,
        record.model,
        *numbers,
        cluster(record),
        *counts,
        record.n,
        (record.details or {}).get("ties"),
        record.skipped,
        ", ".join(row.text(record.model) for row in published),
        "; ".join(row.reference for row in published),
    ]
    return ["" if cell is None or cell != cell else cell for cell in cells]


def league_table(league: League) -> Table:
    """Return metrics by sets: agreement and cluster, with the mean cluster,
    and advice below.
    """
    records = {
        name: [judged.headlines.get(name) for judged in league.sets]
        for name in league.metrics
    }
    rows = [
        [
            league.names[name],
            *map(_cell, records[name]),
            "–" if math.isnan(rank := league.mean_rank(name)) else f"{rank:.1f}",
        ]
        for name in league.metrics
    ]
    advice = [
        f"{question} ({sets}): {best}"
        for question, sets, best in advice_table(league).rows
    ]
    marked = any("*" in cell for row in rows for cell in row[1:])
    return Table(
        headers=[
            "metric",
            *(f"{judged.name}\n{judged.headline.metric}" for judged in league.sets),
            "mean\ncluster",
        ],
        rows=rows,
        alignment="l" + "r" * (len(league.sets) + 1),
        title="League table: agreement with people x 100, "
        "significance cluster in brackets",
        notes=[*([SKIPPED_NOTE] if marked else []), *advice],
        bold=frozenset(
            (i, k)
            for i, name in enumerate(league.metrics)
            for k, record in enumerate(records[name], 1)
            if cluster(record) == 1
        ),
        data=[
            DATA,
            *(
                _data(judged, record)
                for judged in league.sets
                for record in judged.headlines.values()
            ),
        ],
    )


def _cell(record: ResultRecord | None) -> str:
    if record is None or math.isnan(record.value):
        return "–"
    return f"{value_text(record)} ({cluster(record) or '–'})"


def advice_table(league: League) -> Table:
    """Return the metrics in the first cluster of most sets for each kind of
    judgments.
    """
    rows: list[list[str]] = []
    for kind, question in QUESTIONS.items():
        sets = [judged for judged in league.sets if judged.kind == kind]
        wins = {
            name: sum(cluster(judged.headlines.get(name)) == 1 for judged in sets)
            for name in league.metrics
        }
        largest_count = max(wins.values(), default=0)
        best = {
            name: count
            for name, count in wins.items()
            if count == largest_count and largest_count
        }
        if best:
            labels = ", ".join(
                f"{league.names[name]} ({count} of {len(sets)} sets)"
                for name, count in best.items()
            )
            rows.append([question, ", ".join(judged.name for judged in sets), labels])
    return Table(["question", "sets", "metrics in the first cluster"], rows, "lll")


def pairwise_table(judged: LeagueSet) -> Table:
    """Return one row per pair of metrics: corrected p-values of the exchange test and
    of the test of Pearson's r.
    """
    rows: list[list[str]] = []
    headers = [
        "metric",
        "against",
        "difference",
        "p, Holm",
        "uncorrected",
        "Pearson's r: p, Holm",
    ]
    for a, b in itertools.combinations(judged.headlines.values(), 2):
        tests = ((a.details or {}).get("against") or {}).get(b.model)
        if tests:
            exchange = exchange_test(tests)
            of_pearson = "williams" if "williams" in tests else "jackknife"
            p_values = (
                tests.get(name)
                for name in (f"{exchange}_holm", exchange, f"{of_pearson}_holm")
            )
            names = judged.metric_names
            rows.append(
                [
                    names[a.model],
                    names[b.model],
                    percent_text(a.value - b.value),
                    *map(p_text, p_values),
                ]
            )
            headers[3] = f"{EXCHANGE_TESTS[exchange]} p, Holm"
            headers[5] = f"{of_pearson.capitalize()} p (Pearson), Holm"
    return Table(headers, rows, "llrrrr")
