"""The HTML page of runs of judgments: the league table, advice, and every set with its statistics and tests."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.errors import require
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.reporting.formats.delimited import to_csv
from harness.reporting.formats.markdown import markdown_page
from harness.reporting.formats.web import to_html
from harness.reporting.league import League, LeagueSet, cluster, open_league, percent_text, rate_text
from harness.reporting.league_console import league_table, set_table
from harness.reporting.numbers import p_text
from harness.reporting.table import Table
from harness.rundir.format import MANIFEST, read_json_object, write_atomically


def shows(paths: Sequence[Path]) -> bool:
    """Return True when the first of the run directories is a run of judgments."""
    first = paths[0] / MANIFEST if paths else None
    return first is not None and first.is_file() and bool(read_json_object(first).get("kind"))


def write(
    paths: Sequence[Path], absent: Sequence[str], target: Path, tables: Path | None = None, title: str = ""
) -> list[Path]:
    """Write the page, and with ``tables`` the league table as CSV and Markdown; return the files."""
    league = open_league(paths, absent)
    plugins = Plugins().load(current())
    sections = [
        section
        for judged in league.sets
        for items in plugins.call(
            "harness_report_sections",
            manifest=judged.provenance.content,
            results=[record.to_dict() for record in judged.records],
        )
        for section in items
    ]
    write_atomically(target, build(league, title, sections).encode("utf-8"))
    if tables is None:
        return [target]
    files = [target]
    table = headline_table(league)
    for name, text in (("league.csv", to_csv(table)), ("league.md", markdown_page(table))):
        write_atomically(tables / name, text.encode("utf-8"))
        files.append(tables / name)
    return files


def headline_table(league: League) -> Table:
    """Return one row per metric and set: value, interval, cluster, n, captions per second, published value."""
    headers = [
        "set",
        "statistic",
        "metric",
        "value",
        "low",
        "high",
        "cluster",
        "n",
        "captions_per_second",
        "published x 100",
        "reference",
    ]
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


def build(league: League, title: str = "", sections: Sequence[Mapping[str, str]] = ()) -> str:
    """Return the HTML of the page; ``sections`` are those of plugins, with ``title`` and ``html``."""
    require("jinja2", needed_by="harness report")
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["table"] = to_html
    folder = Path(__file__).parent
    return environment.from_string((folder / "league.html").read_text(encoding="utf-8")).render(
        title=title or league.title, style=(folder / "league.css").read_text(encoding="utf-8"), absent=league.absent, sections=sections,
        league=replace(league_table(league), notes=()) if len(league.sets) > 1 else None, advice=advice_table(league),
        sets=[
            {
                "task": judged.provenance.task, "signature": judged.provenance.signature,
                "description": judged.spec.get("description") or "",
                "notices": [text for text in (judged.provenance.content.get("notice"), *judged.notes) if text],
                "table": set_table(judged), "tests": tests_table(judged),
                "json": json.dumps(judged.provenance.content, indent=1, ensure_ascii=False),
            }
            for judged in league.sets
        ],
    )  # fmt: skip


def advice_table(league: League) -> Table:
    """Return the best metrics for each kind of judgments."""
    rows = [[item.question, ", ".join(item.sets), ", ".join(item.best), item.fastest] for item in league.advice()]
    return Table(["question", "sets", "metrics in the first cluster", "fastest of them"], rows, "llll")


def tests_table(judged: LeagueSet) -> Table:
    """Return one row per pair of metrics: corrected p-values of PERM-BOTH and of Williams' test."""
    heads = judged.headlines
    names = sorted(heads, key=lambda name: math.inf if math.isnan(heads[name].value) else -heads[name].value)
    rows: list[list[str]] = []
    for a, b in itertools.combinations(names, 2):
        tests = ((heads[a].details or {}).get("against") or {}).get(b)
        if tests:
            p_values = (tests.get(name) for name in ("perm_both_holm", "perm_both", "williams_holm"))
            rows.append([a, b, percent_text(heads[a].value - heads[b].value), *map(p_text, p_values)])
    headers = ["metric", "against", "difference", "PERM-BOTH p, Holm", "uncorrected", "Williams p (Pearson), Holm"]
    return Table(headers, rows, "llrrrr")
