"""Lines below a table of results: reasons for missing intervals, and properties of intervals that a reader needs."""

from __future__ import annotations

from collections.abc import Sequence

from harness.rundir.records import ResultRecord


def interval_notes(records: Sequence[ResultRecord]) -> list[str]:
    """Return one line per note, in the order of first appearance, with the metrics that it applies to.

    A metric of which some records lack the note is followed by the models that have it.

    Parameters
    ----------
    records : sequence of ResultRecord
        Results of a run.

    Examples
    --------
    >>> interval_notes([ResultRecord(model="a", metric="distinct2", interval_note="repeats n-grams")])
    ['no 95 % interval: distinct2 (repeats n-grams)']
    """
    notes: dict[tuple[bool, str], dict[str, list[str]]] = {}
    totals: dict[str, int] = {}
    for record in records:
        totals[record.metric] = totals.get(record.metric, 0) + 1
        if record.interval_note is not None:
            metrics = notes.setdefault((record.ci95 is None, record.interval_note), {})
            metrics.setdefault(record.metric, []).append(record.model)
    lines: list[str] = []
    for (missing, note), metrics in notes.items():
        labels = [
            name if len(models) == totals[name] else f"{name} of {', '.join(dict.fromkeys(models))}"
            for name, models in metrics.items()
        ]
        lines.append(f"{'no ' if missing else ''}95 % interval: {', '.join(labels)} ({note})")
    return lines
