"""Values times 100, as papers print BLEU, METEOR, ROUGE-L, CIDEr and SPICE: of records
and comparisons before a table is made of them.

The manifest of a metric says whether its values are reported so (``percent: true``);
perplexities, counts and distances stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.analysis.comparisons import Comparison
from harness.registry.display_names import is_percent
from harness.reporting.table import Percent, Table, shown_names
from harness.run.finished import Run
from harness.rundir.records import ResultRecord


def percent_record(record: ResultRecord) -> ResultRecord:
    """Return a record whose value and interval are times 100 where its metric is
    reported so; another one as it is.
    """
    if not is_percent(record.metric):
        return record
    ci95 = None
    if record.ci95:
        low, high = record.ci95
        ci95 = (Percent.of(low), Percent.of(high))
    return replace(record, value=Percent.of(record.value), ci95=ci95)


def percent_run(run: Run) -> Run:
    """Return a run whose records are those of :func:`percent_record`, for tables; its
    samples and artifacts are as they were.
    """
    return replace(
        run,
        records=tuple(map(percent_record, run.records)),
        slices=tuple(map(percent_record, run.slices)),
    )


def percent_comparisons(rows: Sequence[Comparison]) -> list[Comparison]:
    """Return comparisons whose numbers, differences and intervals are times 100 where
    their metric is reported so.
    """
    return [_percent_comparison(row) if is_percent(row.metric) else row for row in rows]


def _percent_comparison(row: Comparison) -> Comparison:
    numbers = {name: getattr(row, name) for name in ("a", "b", "difference")}
    scaled = {
        name: value if value is None else Percent.of(value)
        for name, value in numbers.items()
    }
    ci95 = row.ci95 and [Percent.of(end) for end in row.ci95]
    return replace(row, **scaled, ci95=ci95)


def percent_note(rows: Sequence[ResultRecord] | Sequence[Comparison]) -> str:
    """Return the line below a table that says which values are times 100 and which are
    not.
    """
    names = shown_names(rows)
    scaled = [name for label, name in names.items() if is_percent(label)]
    others = [name for label, name in names.items() if not is_percent(label)]
    if not scaled:
        return f"no values × 100: {', '.join(others)} are not reported so"
    as_they_are = f"; as they are: {', '.join(others)}" if others else ""
    return f"values × 100: {', '.join(scaled)}{as_they_are}"


def with_note(
    table: Table, rows: Sequence[ResultRecord] | Sequence[Comparison]
) -> Table:
    """Return a table with the line of :func:`percent_note` as its first note."""
    return replace(table, notes=[percent_note(rows), *table.notes])
