"""Views of verdicts: paired tests of every model against a baseline on the numbers that the result table reports."""

from __future__ import annotations

from dataclasses import replace

from harness.analysis.compare import DRAWS, adjusted, compare_pairs
from harness.analysis.comparisons import LEVEL, NOT_TESTED, SIZES_DIFFER, Comparison
from harness.analysis.pairs import ComparedRun, pairs_against
from harness.errors import HarnessError
from harness.reporting.captions import system_heads
from harness.reporting.metric_labels import shown_names
from harness.reporting.table import Table, number, p_text
from harness.reporting.views import number_table, shown_view
from harness.run.finished import Run
from harness.spec.models import ViewSpec

METHOD_NOTE = (
    f"difference of the numbers of the table; approximate randomisation, {DRAWS:,} draws, p adjusted by Holm over the rows of a metric, "
    f"level {LEVEL}"
)


def verdict_table(view: ViewSpec, run: Run) -> Table:
    """Return a row per model (and decoding) and a column per metric: ``better``, ``worse`` or ``=`` with the difference.

    The baseline is the model ``view.against``. For ``y: "*"`` metrics without a direction or without a test are left out.
    Raises :class:`HarnessError` for an unknown baseline or metric.
    """
    side = ComparedRun(run, name=str(run.path or ""))
    compared = pairs_against([side], str(view.against))
    directions = {record.metric: record.higher_is_better for record in run.records}
    directed = [name for name in dict.fromkeys(name for pair in compared for name in pair.metrics) if directions[name] is not None]
    metrics = directed if view.metrics == ["*"] else view.metrics
    for name in metrics:
        if name not in directed:
            text = "a view of verdicts asks for"
            raise HarnessError.of_name(text, name, directed, "metrics of captions with a direction are")
    rows = adjusted(compare_pairs(compared, metrics=metrics)) if metrics else []
    cells = {(row.system_a, row.metric): _cell(row) for row in rows}
    if view.metrics == ["*"]:
        metrics = [name for name in metrics if any(cells[pair.labels[0], name] != "–" for pair in compared)]
    heads = dict(zip((system.label for system in run.samples.systems), system_heads(run.samples.systems)))
    body = tuple((heads[pair.a.label], tuple(cells[pair.labels[0], name] for name in metrics)) for pair in compared)
    table = number_table(view, f"against {view.against}", metrics, body)
    names = shown_names(run.records)
    return replace(
        table,
        title=shown_view(view, run.records).heading,
        headers=[table.headers[0], *(names[name] for name in metrics)],
        notes=[f"{view.remark} ({METHOD_NOTE})".strip()],
    )


def _cell(row: Comparison) -> str:
    if row.better == SIZES_DIFFER:
        return SIZES_DIFFER
    if row.better == NOT_TESTED or row.difference is None:
        return "–"
    sign = "+" if row.difference > 0 else ""
    difference = f"{sign}{number(row.difference)}"
    word = {"A": "better", "B": "worse"}.get(row.better)
    return f"{word} {difference}" if word else f"= {difference} (p {p_text(row.p_holm)})"
