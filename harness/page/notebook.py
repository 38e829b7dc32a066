"""Results in notebooks: HTML tables with intervals, and charts on request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.contracts import VerbResult
from harness.errors import HarnessError, UnknownName, counted
from harness.registry.display_names import display_name
from harness.reporting.comparison_tables import comparison_table
from harness.reporting.console import table_of_run
from harness.reporting.formats.web import to_html
from harness.reporting.table import Table, heading, interval_text, number, p_text
from harness.reporting.verb_text import MAX_ROWS, blocks_as_html
from harness.results import Comparisons, MetricResult, Run, Scores


def as_html(result: object) -> str:
    """Return a run, scores, comparisons or another result of a verb as HTML tables; all
    texts are escaped.

    Raises :class:`~harness.errors.HarnessError` for anything else.
    """
    if isinstance(result, MetricResult):
        result = Scores({result.metric: result})
    if isinstance(result, Run):
        return to_html(run_table(result), MAX_ROWS)
    if isinstance(result, Scores):
        return to_html(scores_table(result), MAX_ROWS)
    if isinstance(result, Comparisons):
        return to_html(comparison_table(result), MAX_ROWS)
    if isinstance(result, VerbResult):
        return blocks_as_html(result)
    raise HarnessError(
        f"expected a run, scores or comparisons; found {type(result).__name__}"
    )


def as_chart(result: object, name: str = "") -> Any:
    """Return a chart of a run, of scores or of comparisons as an Altair chart.

    Parameters
    ----------
    result : Run, Scores or Comparisons
        The result.
    name : str
        Id of a chart of the run, such as ``differences``; default: the first one that
        the run has.

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
        from harness.page.charts.samples import distributions

        scores = {}
        for label, item in result.items():
            head = heading(label, item.higher_is_better, item.signature)
            scores[head] = {"": item.per_example}
        chart = distributions(scores)
        if chart is None:
            raise HarnessError(
                "there are too few different scores per example to draw their "
                "distribution"
            )
        return chart.altair()
    if isinstance(result, Comparisons):
        from harness.page.charts.differences import forest

        chart = forest(result)
        if chart is None:
            raise HarnessError("no pair of systems has a difference to draw")
        return chart.altair()
    raise HarnessError(
        f"expected a run, scores or comparisons; found {type(result).__name__}"
    )


def _run_chart(run: Run, name: str) -> Any:
    from harness.page.charts import charts_for

    charts = {chart.id: chart for chart in charts_for([run])}
    if not charts:
        raise HarnessError("the run has no numbers to draw")
    if name and name not in charts:
        raise UnknownName.of_name("the run has no chart", name, charts, "there are")
    return charts[name] if name else next(iter(charts.values()))


def run_table(run: Run) -> Table:
    """Return the table of a run as the terminal has it, with its failures,
    notes and directory below.
    """
    table = table_of_run(run)
    failed = [f"{counted(len(run.failed), 'example')} failed"] if run.failed else []
    notes = [
        run.provenance.signature,
        *table.notes,
        *failed,
        *run.notes,
        *([f"run: {run.path}"] if run.path else []),
    ]
    return replace(table, notes=notes)


def scores_table(scores: Scores) -> Table:
    """Return the scores of :func:`harness.score`, a row per metric."""
    tested = any(item.p_value is not None for item in scores.values())
    rows: list[list[str]] = []
    for label, item in scores.items():
        skipped = f" ({item.skipped} skipped)" if item.skipped else ""
        rows.append(
            [
                heading(label, item.higher_is_better, item.signature),
                number(item.value),
                interval_text(item.ci95),
                *([p_text(item.p_value)] if tested else []),
                f"{item.n}{skipped}",
            ]
        )

    names = {
        label: display_name(label, item.signature) for label, item in scores.items()
    }
    notes = [
        f"{names[label]}: no interval, {item.interval_note}"
        for label, item in scores.items()
        if item.interval_note and not item.ci95
    ]
    notes += [
        f"{names[label]}: no p-value, the metric {item.p_note}"
        for label, item in scores.items()
        if item.p_note
    ]

    p_header = ["p"] if tested else []
    headers = ["metric", "value", "95 % interval", *p_header, "examples"]
    return Table(headers, rows, "l" + "r" * (len(headers) - 1), notes=notes)
