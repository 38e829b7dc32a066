"""Results in notebooks: HTML tables with intervals, and charts on request."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from harness.analysis.comparisons import Comparisons
from harness.errors import HarnessError, UnknownName, did_you_mean
from harness.reporting.numbers import ARROWS, interval_text, number, p_text, signed
from harness.run.finished import Run
from harness.run.text_scores import MetricResult, Scores

MAX_ROWS = 200
"""Largest number of rows of a table in a notebook."""
STYLE = "text-align:right;font-variant-numeric:tabular-nums"


def as_html(result: object) -> str:
    """Return a run, scores or comparisons as an HTML table; all texts are escaped.

    Raises :class:`~harness.errors.HarnessError` for anything else.
    """
    if isinstance(result, Run):
        return _run(result)
    if isinstance(result, Scores):
        return _scores(result)
    if isinstance(result, MetricResult):
        return _scores(Scores({result.label or "score": result}))
    if isinstance(result, Comparisons):
        return _comparisons(result)
    raise HarnessError(f"expected a run, scores or comparisons; found {type(result).__name__}")


def as_chart(result: object, name: str = "") -> Any:
    """Return a chart of a run, of scores or of comparisons as an Altair chart.

    Parameters
    ----------
    result : Run, Scores or Comparisons
        The result.
    name : str
        Id of a chart of the run, such as ``differences``; default: the first one that the run has.

    Raises
    ------
    UnknownName
        The run has no chart of this name; the message lists those that it has.
    MissingExtra
        altair is not installed.
    HarnessError
        Nothing can be drawn.
    """
    if isinstance(result, Run):
        return _run_chart(result, name).altair()
    if isinstance(result, Scores):
        from harness.reporting.charts.samples import distributions

        directions = {label: item.higher_is_better for label, item in result.items()}
        chart = distributions({label: {"": item.per_example} for label, item in result.items()}, directions)
        if chart is None:
            raise HarnessError("there are too few different scores per example to draw their distribution")
        return chart.altair()
    if isinstance(result, Comparisons):
        from harness.reporting.charts.differences import forest

        chart = forest(result)
        if chart is None:
            raise HarnessError("no pair of systems has a difference to draw")
        return chart.altair()
    raise HarnessError(f"expected a run, scores or comparisons; found {type(result).__name__}")


def _run_chart(run: Run, name: str) -> Any:
    from harness.reporting.charts import charts_for

    charts = {chart.id: chart for chart in charts_for([run])}
    if not charts:
        raise HarnessError("the run has no numbers to draw")
    if name and name not in charts:
        raise UnknownName(
            f"the run has no chart '{name}'{did_you_mean(name, charts)}; there are {', '.join(charts)}", value=name
        )
    return charts[name] if name else next(iter(charts.values()))


def _run(run: Run) -> str:
    """Return the results of a run, metric by metric, best first."""
    from harness.reporting.charts.build import system_names
    from harness.reporting.console import grouped

    names = system_names(run.records)
    rows = [
        [
            _metric(record.metric, record.higher_is_better) if place == 0 else "",
            names[record.model, record.decoding_key], number(record.value), interval_text(record.ci95), p_text(record.p_value),
            f"{record.n}" + (f" ({record.skipped} skipped)" if record.skipped else ""),
        ]
        for group in grouped(run.records)
        for place, record in enumerate(group)
    ]  # fmt: skip
    tested = any(record.p_value is not None for record in run.records)
    headers = ["metric", "system", "value", "95 % interval", *(["p"] if tested else []), "examples"]
    cells = rows if tested else [[*row[:4], row[5]] for row in rows]
    failed = [f"{len(run.failed)} examples failed"] if run.failed else []
    notes = [run.provenance.signature, *failed, *run.notes, *([f"run: {run.path}"] if run.path else [])]
    return _table(headers, cells, 2, notes)


def _scores(scores: Scores) -> str:
    tested = any(item.p_value is not None for item in scores.values())
    rows = [
        [
            _metric(label, item.higher_is_better), number(item.value), interval_text(item.ci95),
            *([p_text(item.p_value)] if tested else []),
            f"{len(item.per_example) - item.skipped}" + (f" ({item.skipped} skipped)" if item.skipped else ""),
        ]
        for label, item in scores.items()
    ]  # fmt: skip
    notes = [
        f"{label}: no interval, {item.interval_note}"
        for label, item in scores.items()
        if item.interval_note and not item.ci95
    ]
    notes += [f"{label}: no p-value, the metric {item.p_note}" for label, item in scores.items() if item.p_note]
    return _table(["metric", "value", "95 % interval", *(["p"] if tested else []), "examples"], rows, 1, notes)


def _comparisons(rows: Comparisons) -> str:
    cells = [
        [
            _metric(row["metric"], row["higher_is_better"]), row["system_a"], row["system_b"], signed(row["difference"]),
            interval_text(row["ci95"]), p_text(row["p_holm"]),
            {"A": row["system_a"], "B": row["system_b"]}.get(row["better"], row["better"]),
        ]
        for row in rows
    ]  # fmt: skip
    headers = ["metric", "A", "B", "A − B", "95 % interval", "p (Holm)", "better"]
    return _table(headers, cells, 3, ["paired tests on common examples; p adjusted over the pairs of a metric"])


def _metric(name: str, higher_is_better: bool | None) -> str:
    return f"{name} {ARROWS[higher_is_better]}".strip()


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]], texts: int, notes: Sequence[str]) -> str:
    """Return a table whose first ``texts`` columns are texts and the others numbers; further rows are counted below."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(
            f'<{tag} style="{STYLE if k >= texts else "text-align:left"}">{html.escape(cell)}</{tag}>' for k, cell in enumerate(cells)
        ) + "</tr>"  # fmt: skip

    more = [f"{len(rows) - MAX_ROWS} more rows"] if len(rows) > MAX_ROWS else []
    body = "".join(line("td", row) for row in rows[:MAX_ROWS])
    foot = "".join(f"<div><small>{html.escape(note)}</small></div>" for note in [*more, *notes] if note)
    return f"<table><thead>{line('th', headers)}</thead><tbody>{body}</tbody></table>{foot}"
