"""Result records by metric, best first, and what is said about several of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from harness.rundir.records import ResultRecord

SIZE_NOTE = "the value depends on the set size (candidates + references): rows compare within one size only"
"""Remark on a metric whose rows differ in a set size on which it depends."""
Sizes: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


def sort_key(record: ResultRecord) -> float:
    """Return a key that sorts the best value first and undefined values last."""
    if math.isnan(record.value):
        return math.inf
    return -record.value if record.higher_is_better else record.value


def group_records(records: Sequence[ResultRecord]) -> list[list[ResultRecord]]:
    """Return the records by metric, best first within a metric that has a direction.

    The records of a metric are also divided by the set sizes on which it depends, since its values compare within one size only.
    Groups are in the order of first appearance; those of one metric follow each other.
    """
    metrics: dict[str, dict[Sizes, list[ResultRecord]]] = {}
    for record in records:
        metrics.setdefault(record.metric, {}).setdefault(record.compared_sizes, []).append(record)
    return [
        sorted(group, key=sort_key) if group[0].higher_is_better is not None else group
        for groups in metrics.values()
        for group in groups.values()
    ]


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
