"""The results of a run by slice: values with intervals, metric by metric, all examples before the slices."""

from __future__ import annotations

from dataclasses import replace

from harness.reporting.result_groups import interval_notes, system_names
from harness.reporting.score_table import score_table
from harness.reporting.table import Table
from harness.run.finished import Run

TITLE = "By slice"


def slice_table(run: Run) -> Table:
    """Return the results of a run with slices: a row per metric, slice and system; systems are named as in the main table."""
    names = system_names(run.records)
    records = [replace(record, model=names[record.model, record.decoding_key]) for record in (*run.records, *run.slices)]
    table = score_table(records)
    return replace(table, title=TITLE, notes=[*table.notes, *interval_notes(list(run.slices))])
