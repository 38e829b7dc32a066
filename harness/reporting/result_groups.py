"""Result records by metric, best first, and what is said about several of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from harness.rundir.records import ResultRecord

SIZE_NOTE = "the value depends on the set size (candidates + references): rows compare within one size only"
"""Remark on a metric of level ``set`` whose rows have several set sizes."""
Sizes: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


def sort_key(record: ResultRecord) -> float:
    """Return a key that sorts the best value first and undefined values last."""
    if math.isnan(record.value):
        return math.inf
    return -record.value if record.higher_is_better else record.value


def group_records(records: Sequence[ResultRecord]) -> list[list[ResultRecord]]:
    """Return the records by metric, best first within a metric that has a direction.

    The records of a metric of level ``set`` are also divided by set size, since its values compare within one size only.
    Groups are in the order of first appearance; those of one metric follow each other.
    """
    metrics: dict[str, dict[Sizes, list[ResultRecord]]] = {}
    for record in records:
        metrics.setdefault(record.metric, {}).setdefault(_compared_sizes(record), []).append(record)
    return [
        sorted(group, key=sort_key) if group[0].higher_is_better is not None else group
        for groups in metrics.values()
        for group in groups.values()
    ]


def _compared_sizes(record: ResultRecord) -> Sizes:
    """Return the set sizes within which values compare: those of a metric of level ``set``, else an empty tuple."""
    if record.level != "set":
        return ()
    return tuple((name, tuple(sizes)) for name, sizes in (record.sizes or {}).items())


def divided_metrics(groups: Sequence[Sequence[ResultRecord]]) -> list[str]:
    """Return the names of the metrics that have several groups, in order."""
    counts = Counter(group[0].metric for group in groups)
    return [name for name, count in counts.items() if count > 1]


def p_notes(records: Sequence[ResultRecord]) -> dict[str, list[str]]:
    """Return reason -> metrics, for the records without a requested p-value, in the order of first appearance."""
    notes: dict[str, list[str]] = {}
    for record in records:
        if record.p_note is not None and record.metric not in notes.setdefault(record.p_note, []):
            notes[record.p_note].append(record.metric)
    return notes
