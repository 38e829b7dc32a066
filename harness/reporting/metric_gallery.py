"""The page of metrics for publication: agreement with people by set, tests, speed,
cost, and which metric answers which question.

Speeds are those of ``python -m benchmarks.metric_speed --write``, cost is read from the
records. A set belongs to one question, by its form and its captions, and the page shows
the sets of any one question.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from string import Template

from harness.errors import InputError
from harness.reporting.formats.web import to_html
from harness.reporting.league import League, LeagueSet, cluster
from harness.reporting.league_tables import pairwise_table, value_text
from harness.run.finished import Run
from harness.rundir.records import ResultRecord

SPEEDS = Path(__file__).with_name("metric_speed.json")
LONG = 40
"""Mean number of words from which captions are long."""
QUESTIONS = {
    "captions": "single captions",
    "sets": "sets of captions",
    "hallucination": "hallucination",
    "long": "long captions",
    "systems": "systems",
}
"""Question -> its name on the page."""


def question_of(judged: LeagueSet) -> str:
    """Return the question that a judgment set answers: that of its kind, or of the
    number and length of its captions.
    """
    if judged.kind in ("foil", "labels"):
        return "hallucination"
    if judged.kind == "systems":
        return "systems"
    candidates = [list(texts) for texts in judged.run.samples.lists("candidates")]
    if any(len(texts) > 1 for texts in candidates):
        return "sets"
    words = sum(len(text.split()) for texts in candidates for text in texts)
    return "long" if words >= LONG * max(1, len(candidates)) else "captions"


def cost_of_captions(records: Sequence[ResultRecord]) -> float | None:
    """Return the cost of 1000 captions of a metric from its records of several sets; 0
    without requests, None without prices.
    """
    details = [record.details or {} for record in records]
    paid = [item for item in details if "requests" in item]
    if not paid:
        return 0.0
    captions = sum(item.get("captions", 0) for item in paid)
    return (
        1000 * sum(item["cost"] for item in paid) / captions
        if captions and all("cost" in item for item in paid)
        else None
    )


def metric_page(runs: Sequence[Run]) -> str:
    """Return the page of runs of judgments; raise :class:`InputError` where there are
    none.
    """
    league = League(tuple(LeagueSet(run) for run in runs if run.provenance.kind))
    if not league.sets:
        raise InputError(
            "--gallery: no run of judgments among the runs; "
            "'harness run judgments/all' makes some"
        )
    speeds = json.loads(SPEEDS.read_text(encoding="utf-8"))
    questions = [
        name
        for name in QUESTIONS
        if any(question_of(judged) == name for judged in league.sets)
    ]
    choices = "".join(
        '<label><input type="radio" name="question" '
        f'value="{name}"{" checked" * (name == "all")}> '
        f"{QUESTIONS.get(name, 'all')}</label>"
        for name in ("all", *questions)
    )
    heads = "".join(
        "<th "
        f'data-question="{question_of(judged)}">{html.escape(judged.name)}<br><small>{html.escape(judged.headline.metric)}</small></th>'
        for judged in league.sets
    )
    items = sum(int(judged.run.provenance.data["examples"]) for judged in league.sets)
    return Template(
        Path(__file__).with_name("metric_gallery.html").read_text(encoding="utf-8")
    ).substitute(
        counts=f"{len(league.sets)} sets, {items:,} judged items.",
        choices=choices,
        heads=heads,
        rows="".join(
            _row(league, name, speeds["speeds"].get(name)) for name in league.metrics
        ),
        speed=html.escape(
            f"{speeds['command']}, one metric alone, {speeds['machine']}"
        ),
        advice="".join(_advice(league, name, speeds["speeds"]) for name in questions),
        tests="\n".join(
            "<details "
            f'data-question="{question_of(judged)}"><summary>{html.escape(judged.name)}, '
            f"{html.escape(judged.headline.metric)}</summary><div "
            f"class=wide>{to_html(pairwise_table(judged))}</div></details>"
            for judged in league.sets
        ),
    )


def _row(league: League, metric: str, speed: float | None) -> str:
    cells: list[str] = []
    for judged in league.sets:
        record = judged.headlines.get(metric)
        text = (
            f"{value_text(record)} ({cluster(record) or '–'})"
            if record is not None and record.value == record.value
            else "–"
        )
        cells.append(
            "<td "
            f'data-question="{question_of(judged)}"{" class=first" * (cluster(record) == 1)}>{text}</td>'
        )
    cost = cost_of_captions(league.headlines_of(metric))
    tail = f"<td>{'–' if speed is None else f'{speed:,.0f}'}</td><td>{'–' if cost is None else f'{cost:.4g}'}</td>"
    return (
        f"<tr><td>{html.escape(league.names[metric])}</td>{''.join(cells)}{tail}</tr>\n"
    )


def _advice(league: League, question: str, speeds: dict[str, float]) -> str:
    """Return the metrics in the first cluster of most sets of a question,
    the fastest first.
    """
    sets = [judged for judged in league.sets if question_of(judged) == question]
    wins = {
        name: sum(cluster(judged.headlines.get(name)) == 1 for judged in sets)
        for name in league.metrics
    }
    most = max([1, *wins.values()])
    best = sorted(
        (name for name, count in wins.items() if count == most),
        key=lambda name: -speeds.get(name, 0.0),
    )
    names = ", ".join(
        f"<b>{html.escape(league.names[name])}</b> (first cluster of {most} of "
        f"{len(sets)} sets)"
        for name in best
    )
    return (
        f'<li data-question="{question}">{QUESTIONS[question]}: '
        f"{names or 'no tests'}</li>\n"
    )
