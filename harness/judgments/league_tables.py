"""Tables of the league: of a set, metrics by sets, advice, and pairs of metrics."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from harness.errors import counted
from harness.judgments.league import (
    QUESTIONS,
    League,
    LeagueSet,
    PublishedValues,
    cluster,
)
from harness.reporting.result_groups import interval_notes, usage_notes
from harness.reporting.table import Bar, Table, p_text
from harness.results import ResultRecord
from harness.stats.metric_tests import EXCHANGE_TESTS, exchange_test

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
    mark = "*" if record.skipped and not math.isnan(record.value) else ""
    return percent_text(record.value) + mark


def percent_interval(interval: Sequence[float] | None) -> str:
    """Return an interval times 100; a dash where there is none."""
    if interval is None:
        return "–"
    return f"{percent_text(interval[0])} … {percent_text(interval[1])}"


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
    interval_column = list(columns).index("95 % interval")

    starts: list[int] = []
    rows: list[list[str]] = []
    bars: dict[tuple[int, int], Bar] = {}
    for group in judged.groups:
        starts.append(len(rows))
        scale = interval_scale(group)
        for record in group:
            if record.ci95 is not None and not math.isnan(record.value):
                ends = map(scale, (*record.ci95, record.value))
                bars[len(rows), interval_column] = Bar(*ends)
            cells = _set_cells(judged, record, published)
            # the statistic stands once, in the first row of its group
            if len(rows) != starts[-1]:
                cells["statistic"] = ""
            rows.append([cells[name] for name in columns])

    return Table(
        headers=list(columns),
        rows=rows,
        alignment="".join(columns.values()),
        title=f"{judged.run.provenance.task}  {judged.run.provenance.signature}",
        notes=[
            _count_judgments(judged),
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


def _set_cells(
    judged: LeagueSet, record: ResultRecord, published: Sequence[PublishedValues]
) -> dict[str, str]:
    """Return the cells of a record by column; published values stand beside the
    headline.
    """
    details = record.details or {}
    headline = judged.headlines.get(record.model) is record
    printed = [row.text(record.model) for row in published] if headline else []
    ties = f"{percent_text(details['ties'])} %" if "ties" in details else ""
    test = details.get("alternative")
    as_a_person = (
        f"{test['winning_rate']:.2f} ({test['advantage']:.2f})" if test else ""
    )
    return {
        "statistic": record.metric,
        "metric": judged.metric_names[record.model],
        "value x 100": value_text(record),
        "95 % interval": percent_interval(record.ci95),
        "cluster": str(cluster(record) or ("–" if headline else "")),
        "items": str(details.get("items", "")),
        "captions": str(details.get("captions", "")),
        "n": str(record.n),
        "skipped": str(record.skipped or ""),
        "published": ", ".join(filter(None, printed)),
        "ties": ties,
        "as a person": as_a_person,
    }


def _count_judgments(judged: LeagueSet) -> str:
    """Return the numbers of items, captions, ratings and pairs of a set."""
    data = judged.run.provenance.data
    nouns = {
        "example": "item",
        "caption": "caption",
        "rating": "rating",
        "pair": "pair",
    }
    return ", ".join(
        counted(int(data[f"{noun}s"]), name)
        for noun, name in nouns.items()
        if data.get(f"{noun}s")
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
    defined = [record for record in records if not math.isnan(record.value)]
    return interval_notes(defined)


def _notes_of_people(records: Sequence[ResultRecord]) -> Iterator[str]:
    """Yield remarks on rows without a score, and on the columns and rows that compare
    metrics with single people.
    """
    if any("*" in value_text(record) for record in records):
        yield SKIPPED_NOTE

    details = [record.details or {} for record in records]
    people = [item["people"] for item in details if item.get("people")]
    if people:
        yield (
            f"one person against the others: the mean over {max(people)} people who "
            "are left out of the human score in turn"
        )

    tests = [item["alternative"] for item in details if item.get("alternative")]
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
        remarks = (f"published: {row.reference}", row.note, *absent)
        yield " · ".join(filter(None, remarks))


def _data(judged: LeagueSet, record: ResultRecord) -> list[object]:
    """Return the row of a record in the CSV, numbers in full;
    published values stand beside the headline.
    """
    details = record.details or {}
    headline = judged.headlines.get(record.model) is record
    published = [
        row for row in judged.published_values() if headline and row.text(record.model)
    ]
    numbers = [record.value, *(record.ci95 or (math.nan, math.nan))]
    counts = [details.get(name) for name in ("items", "captions", "ratings")]
    cells = [
        judged.name,
        record.metric,
        record.model,
        *numbers,
        cluster(record),
        *counts,
        record.n,
        details.get("ties"),
        record.skipped,
        ", ".join(row.text(record.model) for row in published),
        "; ".join(row.reference for row in published),
    ]
    # NaN, which differs from itself, is an empty cell
    return ["" if cell is None or cell != cell else cell for cell in cells]


def league_table(league: League) -> Table:
    """Return metrics by sets: agreement and cluster, with the mean cluster,
    and advice below.
    """
    records = {
        name: [judged.headlines.get(name) for judged in league.sets]
        for name in league.metrics
    }
    rows: list[list[str]] = []
    for name in league.metrics:
        rank = league.mean_rank(name)
        mean = "–" if math.isnan(rank) else f"{rank:.1f}"
        rows.append([league.names[name], *map(_cell, records[name]), mean])

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
        if not largest_count:
            continue

        labels = ", ".join(
            f"{league.names[name]} ({count} of {len(sets)} sets)"
            for name, count in wins.items()
            if count == largest_count
        )
        rows.append([question, ", ".join(judged.name for judged in sets), labels])
    return Table(["question", "sets", "metrics in the first cluster"], rows, "lll")


def pairwise_table(judged: LeagueSet) -> Table:
    """Return one row per pair of metrics: corrected p-values of the exchange test and
    of the test of Pearson's r.
    """
    rows: list[list[str]] = []
    exchange_header = "p, Holm"
    pearson_header = "Pearson's r: p, Holm"
    names = judged.metric_names
    for a, b in itertools.combinations(judged.headlines.values(), 2):
        against = cast("Mapping[str, Any]", (a.details or {}).get("against") or {})
        tests = cast("Mapping[str, Any]", against.get(b.model) or {})
        if not tests:
            continue

        # the headers name the tests of the last pair, which are those of the others
        exchange = exchange_test(tests)
        exchange_header = f"{EXCHANGE_TESTS[exchange]} p, Holm"
        of_pearson = "williams" if "williams" in tests else "jackknife"
        pearson_header = f"{of_pearson.capitalize()} p (Pearson), Holm"

        columns = (f"{exchange}_holm", exchange, f"{of_pearson}_holm")
        p_values = [p_text(tests.get(name)) for name in columns]
        difference = percent_text(a.value - b.value)
        rows.append([names[a.model], names[b.model], difference, *p_values])

    headers = ["metric", "against", "difference", exchange_header, "uncorrected"]
    return Table([*headers, pearson_header], rows, "llrrrr")
