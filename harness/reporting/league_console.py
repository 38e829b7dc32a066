"""Judgment sets in the terminal: one table per set, and the league table of several."""

from __future__ import annotations

from collections.abc import Sequence

from harness.reporting.console import console_for_tables
from harness.reporting.league import (
    League,
    LeagueSet,
    cluster,
    hundred,
    interval_text,
    rate_text,
)
from harness.run.finished import Run
from harness.rundir.records import ResultRecord


def print_league(runs: Sequence[Run]) -> None:
    """Print runs of judgments: the table of each set, then the league table of several sets, and where the runs are."""
    console = console_for_tables()
    league = League(tuple(LeagueSet(run.provenance, run.records, run.notes) for run in runs))
    for one in league.sets:
        _print_set(console, one)
    if len(league.sets) > 1:
        _print_table(console, league)
    for run in runs:
        if run.path:
            console.print(f"run: {run.path}", soft_wrap=True)


def _print_set(console: object, one: LeagueSet) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    assert isinstance(console, Console)
    data = one.provenance.data
    title = f"{one.provenance.task}  [dim]{escape(one.provenance.signature)}[/dim]"
    table = Table(title=title, title_justify="left", header_style="bold", show_edge=False, pad_edge=False)
    published = one.published()
    heads = ["statistic", "metric", "value x 100", "95 % interval", "cluster", *(["published"] if published else [])]
    heads += ["n", "ties", "skipped", "captions/s"]
    for head in heads:
        table.add_column(head, justify="left" if head in ("statistic", "metric") else "right", no_wrap=True)
    groups: dict[tuple[str, str], list[ResultRecord]] = {}
    for record in one.records:
        groups.setdefault((str(record.statistic), str(record.group)), []).append(record)
    for (statistic, group), records in groups.items():
        ordered = sorted(records, key=lambda r: -r.value if r.value == r.value else float("inf"))
        for index, record in enumerate(ordered):
            details = record.details or {}
            name = statistic if group == "all" else f"{statistic} {group}"
            rank = cluster(record)
            printed = [row.text(record.metric) for row in published] if details.get("headline") else []
            cells = [
                escape(name) if index == 0 else "",
                escape(record.metric),
                hundred(record.value),
                interval_text(record),
                "" if rank is None else str(rank),
                *([", ".join(filter(None, printed))] if published else []),
                str(record.n),
                hundred(details["ties"]) + " %" if "ties" in details else "",
                str(record.skipped or ""),
                rate_text(details.get("captions_per_second") or float("nan")) if details.get("headline") else "",
            ]
            table.add_row(*cells, style="bold" if rank == 1 else None, end_section=index == len(ordered) - 1)
    console.print(table)
    counts = f"{data.get('examples')} items, {data.get('captions')} captions"
    console.print(f"[dim]{counts}{f', {count} pairs' if (count := data.get('pairs')) else ''}[/dim]")
    for row in published:
        console.print(f"[dim]published: {escape(row.reference)}[/dim]", soft_wrap=True)
    for note in one.notes:
        console.print(f"[yellow]note[/yellow] {escape(note)}", soft_wrap=True)
    console.print()


def _print_table(console: object, league: League) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    assert isinstance(console, Console)
    table = Table(
        title="League table: agreement with people x 100, significance cluster in brackets", title_justify="left",
        header_style="bold", show_edge=False,
    )  # fmt: skip
    table.add_column("metric", no_wrap=True)
    for one in league.sets:
        table.add_column(escape(f"{one.name}\n{one.statistic}"), justify="right")
    table.add_column("mean\ncluster", justify="right")
    table.add_column("captions/s", justify="right")
    for name in league.metrics:
        cells: list[str] = []
        for one in league.sets:
            record = one.headlines.get(name)
            rank = cluster(record)
            text = "–" if record is None else hundred(record.value) + ("" if rank is None else f" ({rank})")
            cells.append(f"[bold]{text}[/bold]" if rank == 1 else text)
        rank_text = f"{league.mean_rank(name):.1f}" if league.mean_rank(name) == league.mean_rank(name) else "–"
        table.add_row(escape(name), *cells, rank_text, rate_text(league.rate(name)))
    console.print(table)
    for item in league.advice():
        console.print(
            f"{item.question} ({', '.join(item.sets)}): {escape(', '.join(item.best))}; fastest of them: {escape(item.fastest)}",
            soft_wrap=True,
        )
