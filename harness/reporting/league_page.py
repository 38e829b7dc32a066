"""The HTML page of runs of judgments: the league table, advice, and every set with its statistics and tests."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.reporting.formats.web import to_html
from harness.reporting.league import League, LeagueSet, open_league, percent_text
from harness.reporting.league_console import league_table, set_table
from harness.reporting.page import plugin_sections, template_environment, write_page
from harness.reporting.table import Table, p_text
from harness.rundir.format import MANIFEST, read_json_object


def shows(paths: Sequence[Path]) -> bool:
    """Return True when the first of the run directories is a run of judgments."""
    first = paths[0] / MANIFEST if paths else None
    return first is not None and first.is_file() and bool(read_json_object(first).get("kind"))


def write(paths: Sequence[Path], absent: Sequence[str], target: Path | None, title: str = "") -> Path:
    """Write the page (default: ``report.html`` in the first run) and return its path."""
    league = open_league(paths, absent)
    sections = [section for judged in league.sets for section in plugin_sections(judged.run)]
    return write_page(build(league, title, sections), target or paths[0] / "report.html")


def build(league: League, title: str = "", sections: Sequence[Mapping[str, str]] = ()) -> str:
    """Return the HTML of the page; ``sections`` are those of plugins, with ``title`` and ``html``."""
    folder = Path(__file__).parent
    environment = template_environment(folder)
    environment.filters["table"] = to_html
    return environment.get_template("league.html").render(
        title=title or league.title, style=(folder / "league.css").read_text(encoding="utf-8"), absent=league.absent, sections=sections,
        league=replace(league_table(league), notes=()) if len(league.sets) > 1 else None, advice=advice_table(league),
        sets=[
            {
                "task": judged.run.provenance.task, "signature": judged.run.provenance.signature,
                "description": judged.spec.get("description") or "",
                "notices": [text for text in (judged.run.provenance.content.get("notice"), *judged.run.notes) if text],
                "table": set_table(judged), "tests": tests_table(judged),
                "json": json.dumps(judged.run.provenance.content, indent=1, ensure_ascii=False),
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
