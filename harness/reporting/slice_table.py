"""The results of a run by slice: values with intervals, metric by metric,
all examples before the slices.
"""

from __future__ import annotations

from dataclasses import replace

from harness.reporting.result_groups import interval_notes, system_names
from harness.reporting.score_table import score_table
from harness.reporting.table import Table
from harness.run.finished import Run

TITLE = "By slice"


def slice_table(run: Run, *, missing_only: bool = False) -> Table:
    """Return the results of a run with slices: a row per metric, slice and system;
    systems are named as in the main table.

    ``missing_only`` leaves out the notes on intervals that are there
    (:func:`~harness.reporting.result_groups.interval_notes`).
    """
    names = system_names(run.records)
    records = [
        replace(record, model=names[record.model, record.decoding_key])
        for record in (*run.records, *run.slices)
    ]
    table = score_table(records)
    return replace(
        table,
        title=TITLE,
        notes=[*table.notes, *interval_notes(run.slices, missing_only=missing_only)],
    )
