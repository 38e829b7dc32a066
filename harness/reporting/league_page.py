"""The HTML page of runs of judgments: the league table, advice, and every set with its statistics and tests."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.errors import require
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.reporting.export import to_markdown
from harness.reporting.league import (
    League,
    LeagueSet,
    PublishedRow,
    cluster,
    hundred,
    interval_text,
    open_league,
    rate_text,
)
from harness.reporting.numbers import p_text
from harness.reporting.tables import to_csv
from harness.rundir.format import MANIFEST, read_json_object, write_atomically
from harness.rundir.records import ResultRecord


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
        part
        for one in league.sets
        for items in plugins.call(
            "harness_report_sections",
            manifest=one.provenance.content,
            results=[record.to_dict() for record in one.records],
        )
        for part in items
    ]
    write_atomically(target, build(league, title, sections).encode("utf-8"))
    if tables is None:
        return [target]
    files = [target]
    for name, text in (
        ("league.csv", to_csv(rows(league))),
        ("league.md", to_markdown("League table", rows(league, rounded=True))),
    ):
        write_atomically(tables / name, text.encode("utf-8"))
        files.append(tables / name)
    return files


def rows(league: League, *, rounded: bool = False) -> list[list[object]]:
    """Return a head and one row per metric and set: value, interval, cluster, n, captions per second, published value."""
    out: list[list[object]] = [
        ["set", "statistic", "metric", "value", "low", "high", "cluster", "n", "captions_per_second", "published x 100", "reference"]
    ]  # fmt: skip
    for one in league.sets:
        for name in league.metrics:
            record = one.headlines.get(name)
            if record is None:
                continue
            low, high = record.ci95 or (math.nan, math.nan)
            numbers = [record.value, low, high]
            cells = [hundred(value) for value in numbers] if rounded else [_empty(value) for value in numbers]
            published = [(row.text(name), row.reference) for row in one.published() if row.text(name)]
            out.append(
                [
                    one.name, one.statistic, name, *cells, cluster(record) or "", record.n, rate_text(league.rate(name)),
                    ", ".join(text for text, _ in published), "; ".join(reference for _, reference in published),
                ]
            )  # fmt: skip
    return out


def _empty(value: float) -> object:
    return "" if math.isnan(value) else value


def build(league: League, title: str = "", sections: Sequence[Mapping[str, str]] = ()) -> str:
    """Return the HTML of the page; ``sections`` are those of plugins, with ``title`` and ``html``."""
    require("jinja2", needed_by="harness report")
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["p_text"] = p_text
    here = Path(__file__)
    template = environment.from_string(here.with_name("league.html").read_text(encoding="utf-8"))
    style = here.with_name("league.css").read_text(encoding="utf-8")
    return template.render(
        title=title or league.title,
        style=style, league=_table(league), advice=league.advice(), absent=league.absent,
        sets=[_set(one, league) for one in league.sets], sections=sections,
    )  # fmt: skip


def _table(league: League) -> dict[str, object]:
    """Return the template's values of the league table."""
    body: list[dict[str, object]] = []
    for name in league.metrics:
        rank = league.mean_rank(name)
        cells = [_cell(one.headlines.get(name), one.published()) for one in league.sets]
        body.append(
            {"metric": name, "cells": cells, "rank": "–" if math.isnan(rank) else f"{rank:.1f}", "rate": rate_text(league.rate(name))}
        )  # fmt: skip
    heads = [
        {"name": one.name, "statistic": one.statistic, "items": one.provenance.data.get("examples")}
        for one in league.sets
    ]
    return {"heads": heads, "rows": body}


def _cell(record: ResultRecord | None, published: Sequence[PublishedRow] = ()) -> dict[str, object] | None:
    if record is None:
        return None
    return {
        "value": hundred(record.value),
        "interval": interval_text(record),
        "cluster": cluster(record),
        "published": ", ".join(filter(None, (row.text(record.metric) for row in published))),
    }


def _set(one: LeagueSet, league: League) -> dict[str, object]:
    """Return the template's values of one judgment set."""
    heads = one.headlines
    names = [name for name in league.metrics if name in heads]
    names.sort(key=lambda name: -heads[name].value if not math.isnan(heads[name].value) else math.inf)
    columns = list(dict.fromkeys((str(r.statistic), str(r.group)) for r in one.records))
    by_key = {(r.metric, str(r.statistic), str(r.group)): r for r in one.records}
    published = one.published()
    return {
        "task": one.provenance.task,
        "signature": one.provenance.signature,
        "description": one.spec.get("description") or "",
        "notice": one.provenance.content.get("notice") or "",
        "data": one.provenance.data,
        "columns": [statistic if group == "all" else f"{statistic} {group}" for statistic, group in columns],
        "rows": [
            {
                "metric": name,
                "cluster": cluster(heads[name]),
                "published": ", ".join(filter(None, (row.text(name) for row in published))),
                "cells": [_cell(by_key.get((name, *column))) for column in columns],
                "bar": _bar(heads[name], [heads[other] for other in names]),
                "n": heads[name].n,
                "skipped": heads[name].skipped or "",
                "ties": hundred(ties) + " %" if (ties := (heads[name].details or {}).get("ties")) is not None else "",
            }
            for name in names
        ],
        "has_ties": any((record.details or {}).get("ties") is not None for record in heads.values()),
        "has_skipped": any(record.skipped for record in heads.values()),
        "extra": [
            {"metric": name, "values": [row.text(name) for row in published]}
            for name in dict.fromkeys(name for row in published for name in row.values)
            if name not in heads
        ],
        "references": [{"reference": row.reference, "note": row.note} for row in published],
        "tests": _tests(names, heads),
        "notes": one.notes,
        "json": json.dumps(one.provenance.content, indent=1, ensure_ascii=False),
    }


def _bar(record: ResultRecord, others: Sequence[ResultRecord]) -> dict[str, float] | None:
    """Return the ends of an interval bar in per cent of the range of all intervals."""
    ends = [end for other in others for end in (*(other.ci95 or ()), other.value) if not math.isnan(end)]
    if record.ci95 is None or not ends:
        return None
    low, span = min(ends), (max(ends) - min(ends)) or 1.0
    left, right, dot = (round(100 * (end - low) / span, 2) for end in (*record.ci95, record.value))
    return {"low": left, "width": round(right - left, 2), "dot": dot}


def _tests(names: Sequence[str], heads: dict[str, ResultRecord]) -> list[dict[str, object]]:
    """Return one row per pair of metrics: corrected p-values of PERM-BOTH and of Williams' test."""
    out: list[dict[str, object]] = []
    for k, a in enumerate(names):
        for b in names[k + 1 :]:
            entry = ((heads[a].details or {}).get("against") or {}).get(b)
            if entry:
                out.append(
                    {
                        "a": a, "b": b, "difference": hundred(heads[a].value - heads[b].value),
                        "perm": entry.get("perm_both_holm"), "raw": entry.get("perm_both"), "williams": entry.get("williams_holm"),
                    }
                )  # fmt: skip
    return out
