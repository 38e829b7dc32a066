"""Judgment sets in the terminal: one table per set, and the league table of several."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from harness.reporting.formats.terminal import console_for_tables, print_table
from harness.reporting.league import League, LeagueSet, cluster, interval_text, percent_text, rate_text
from harness.reporting.table import Bar, Table
from harness.run.finished import Run
from harness.rundir.records import ResultRecord


def print_league(runs: Sequence[Run]) -> None:
    """Print runs of judgments: the table of each set, then the league table of several sets, and where the runs are."""
    from rich.markup import escape

    console = console_for_tables()
    league = League(tuple(LeagueSet(run) for run in runs))
    for judged in league.sets:
        print_table(set_table(judged))
        for note in judged.run.notes:
            console.print(f"[yellow]note[/yellow] {escape(note)}", soft_wrap=True)
        console.print()
    if len(league.sets) > 1:
        print_table(league_table(league))
    for run in runs:
        if run.path:
            console.print(f"run: {run.path}", soft_wrap=True)


def set_table(judged: LeagueSet) -> Table:
    """Return the records of a judgment set by statistic and group, best metric first; metrics of the first cluster are bold."""
    published = judged.published_values()
    alignment = {
        "statistic": "l", "metric": "l", "value x 100": "r", "95 % interval": "r", "cluster": "r",
        **({"published": "r"} if published else {}), "n": "r", "ties": "r", "skipped": "r", "captions/s": "r",
    }  # fmt: skip
    by_statistic: dict[str, list[ResultRecord]] = {}
    for record in judged.run.records:
        group = "" if record.group == "all" else f" {record.group}"
        by_statistic.setdefault(f"{record.statistic}{group}", []).append(record)
    rows: list[list[str]] = []
    starts: list[int] = []
    bold: list[int] = []
    bars: dict[tuple[int, int], Bar] = {}
    for statistic, records in by_statistic.items():
        starts.append(len(rows))
        scale = interval_scale(records)
        for record in sorted(records, key=lambda r: math.inf if math.isnan(r.value) else -r.value):
            details, rank = record.details or {}, cluster(record)
            headline = bool(details.get("headline"))
            published_texts = filter(None, (row.text(record.metric) for row in published if headline))
            cells = {
                "statistic": "" if len(rows) > starts[-1] else statistic, "metric": record.metric,
                "value x 100": percent_text(record.value), "95 % interval": interval_text(record),
                "cluster": "" if rank is None else str(rank), "published": ", ".join(published_texts), "n": str(record.n),
                "ties": percent_text(details["ties"]) + " %" if "ties" in details else "", "skipped": str(record.skipped or ""),
                "captions/s": rate_text(details.get("captions_per_second") or math.nan) if headline else "",
            }  # fmt: skip
            bold += [len(rows)] if rank == 1 else []
            if record.ci95 is not None and not math.isnan(record.value):
                bars[len(rows), list(alignment).index("95 % interval")] = Bar(*map(scale, (*record.ci95, record.value)))
            rows.append([cells[header] for header in alignment])
    data = judged.run.provenance.data
    pairs = f", {data['pairs']} pairs" if data.get("pairs") else ""
    counts = f"{data.get('examples')} items, {data.get('captions')} captions{pairs}"
    return Table(
        headers=list(alignment),
        rows=rows,
        alignment="".join(alignment.values()),
        title=f"{judged.run.provenance.task}  {judged.run.provenance.signature}",
        notes=[counts, *_published_notes(judged)],
        bold=frozenset((row, column) for row in bold for column in range(len(alignment))),
        groups=frozenset(starts),
        bars=bars,
    )


def interval_scale(records: Sequence[ResultRecord]) -> Callable[[float], float]:
    """Return a function that maps the range of all intervals and numbers of some records to 0 to 1."""
    ends = [end for record in records for end in (*(record.ci95 or ()), record.value) if not math.isnan(end)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return lambda end: (end - low) / ((high - low) or 1.0)


def _published_notes(judged: LeagueSet) -> Iterator[str]:
    """Yield the sources of the published values, with the values of metrics that the run does not have."""
    for row in judged.published_values():
        absent = [f"{name} (published only) {row.text(name)}" for name in row.values if name not in judged.headlines]
        yield " · ".join(filter(None, (f"published: {row.reference}", row.note, *absent)))


def league_table(league: League) -> Table:
    """Return metrics by sets: agreement and cluster, with the mean cluster, the speed, and advice below."""
    ranks = {name: [cluster(judged.headlines.get(name)) for judged in league.sets] for name in league.metrics}
    rows: list[list[str]] = []
    for name in league.metrics:
        rank = "–" if math.isnan(league.mean_rank(name)) else f"{league.mean_rank(name):.1f}"
        values = (_value_text(judged.headlines.get(name)) for judged in league.sets)
        rows.append([name, *values, rank, rate_text(league.rate(name))])
    heads = (f"{judged.name}\n{judged.statistic}" for judged in league.sets)
    notes = [
        f"{item.question} ({', '.join(item.sets)}): {', '.join(item.best)}; fastest of them: {item.fastest}"
        for item in league.advice()
    ]
    title = "League table: agreement with people x 100, significance cluster in brackets"
    best = frozenset(
        (i, k) for i, name in enumerate(league.metrics) for k, rank in enumerate(ranks[name], 1) if rank == 1
    )
    headers = ["metric", *heads, "mean\ncluster", "captions/s"]
    return Table(headers, rows, "l" + "r" * (len(league.sets) + 2), title, notes, best)


def headline_table(league: League) -> Table:
    """Return one row per metric and set: value, interval, cluster, n, captions per second, published value."""
    headers = [
        "set", "statistic", "metric", "value", "low", "high", "cluster", "n", "captions_per_second", "published x 100", "reference"
    ]  # fmt: skip
    rows: list[list[str]] = []
    data: list[list[object]] = [[*headers]]
    for judged in league.sets:
        for name in league.metrics:
            record = judged.headlines.get(name)
            if record is None:
                continue
            published = [(row.text(name), row.reference) for row in judged.published_values() if row.text(name)]
            numbers = [record.value, *(record.ci95 or (math.nan, math.nan))]
            first: list[str] = [judged.name, judged.statistic, name]
            texts = [", ".join(text for text, _ in published), "; ".join(reference for _, reference in published)]
            last: list[object] = [cluster(record) or "", record.n, rate_text(league.rate(name)), *texts]
            rows.append([*first, *map(percent_text, numbers), *map(str, last)])
            data.append([*first, *("" if math.isnan(value) else value for value in numbers), *last])
    return Table(headers, rows, "lllrrrrrrll", "League table", data=data)


def _value_text(record: ResultRecord | None) -> str:
    rank = cluster(record)
    return "–" if record is None else percent_text(record.value) + ("" if rank is None else f" ({rank})")
