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
from harness.judgments.league import League, LeagueSet, cluster
from harness.judgments.league_tables import pairwise_table, value_text
from harness.reporting.formats.web import to_html
from harness.results import ResultRecord, Run

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
    if not captions or not all("cost" in item for item in paid):
        return None
    return 1000 * sum(item["cost"] for item in paid) / captions


def metric_page(runs: Sequence[Run]) -> str:
    """Return the page of runs of judgments; raise :class:`InputError` where there are
    none.
    """
    league = League(tuple(LeagueSet(run) for run in runs if run.provenance.kind))
    if not league.sets:
        raise InputError(
            "no run of judgments among the runs; 'harness run judgments/all' makes some"
        )

    measured = json.loads(SPEEDS.read_text(encoding="utf-8"))
    speeds = measured["speeds"]
    speed = f"{measured['command']}, one metric alone, {measured['machine']}"
    set_questions = {question_of(judged) for judged in league.sets}
    questions = [name for name in QUESTIONS if name in set_questions]
    items = sum(int(judged.run.provenance.data["examples"]) for judged in league.sets)

    template = Path(__file__).with_name("metric_gallery.html")
    return Template(template.read_text(encoding="utf-8")).substitute(
        counts=f"{len(league.sets)} sets, {items:,} judged items.",
        choices="".join(map(_choice, ("all", *questions))),
        heads="".join(map(_head, league.sets)),
        rows="".join(_row(league, name, speeds.get(name)) for name in league.metrics),
        speed=html.escape(speed),
        advice="".join(_advice(league, name, speeds) for name in questions),
        tests="\n".join(map(_tests, league.sets)),
    )


def _choice(question: str) -> str:
    checked = " checked" if question == "all" else ""
    return (
        f'<label><input type="radio" name="question" value="{question}"{checked}> '
        f"{QUESTIONS.get(question, 'all')}</label>"
    )


def _head(judged: LeagueSet) -> str:
    name = html.escape(judged.name)
    statistic = html.escape(judged.headline.metric)
    return (
        f'<th data-question="{question_of(judged)}">{name}<br>'
        f"<small>{statistic}</small></th>"
    )


def _tests(judged: LeagueSet) -> str:
    name = html.escape(judged.name)
    statistic = html.escape(judged.headline.metric)
    return (
        f'<details data-question="{question_of(judged)}">'
        f"<summary>{name}, {statistic}</summary>"
        f"<div class=wide>{to_html(pairwise_table(judged))}</div></details>"
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
        first = " class=first" if cluster(record) == 1 else ""
        cells.append(f'<td data-question="{question_of(judged)}"{first}>{text}</td>')

    cost = cost_of_captions(league.headlines_of(metric))
    for text in (
        "–" if speed is None else f"{speed:,.0f}",
        "–" if cost is None else f"{cost:.4g}",
    ):
        cells.append(f"<td>{text}</td>")
    name = html.escape(league.names[metric])
    return f"<tr><td>{name}</td>{''.join(cells)}</tr>\n"


def _advice(league: League, question: str, speeds: dict[str, float]) -> str:
    """Return the metrics in the first cluster of most sets of a question,
    the fastest first.
    """
    sets = [judged for judged in league.sets if question_of(judged) == question]
    wins = {
        name: sum(cluster(judged.headlines.get(name)) == 1 for judged in sets)
        for name in league.metrics
    }

    # a metric that leads nowhere is not advised
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
