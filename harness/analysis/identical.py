"""Equality of two runs, digit by digit: the same numbers whatever computed them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.run.finished import Run
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

FIELDS = ("value", "ci95", "p_value", "p", "n", "skipped", "sizes", "details")
"""Fields of result records that are compared; times are not."""
MAX_LISTED = 10


@dataclass(frozen=True)
class Identity:
    """Result of the comparison."""

    numbers: int
    """Number of result records of the first run."""
    scores: int
    """Number of scores and p-values per example of the first run."""
    differences: tuple[str, ...]
    """Descriptions of what differs, at most :data:`MAX_LISTED` and a count; empty for identical runs."""


def compare_identical(first: str | Path, second: str | Path) -> Identity:
    """Compare numbers, intervals, p-values, captions and scores per example of two finished runs.

    Raises :class:`InputError` for a folder without a finished run.
    """
    runs = [Run.open(path) for path in (first, second)]
    records = [{_key(record): record for record in run.records} for run in runs]
    differences = [f"{_text(key)}: only in {runs[k].path}" for k in (0, 1) for key in records[k] if key not in records[1 - k]]
    for key, record in records[0].items():
        if key in records[1]:
            differences += _fields(key, record, records[1][key])
    samples = [run.samples for run in runs]
    differences += _columns(samples[0], samples[1])
    scores = len(samples[0]) * len(samples[0].scored_columns)
    if len(differences) > MAX_LISTED:
        differences = [*differences[:MAX_LISTED], f"and {len(differences) - MAX_LISTED} more differences"]
    return Identity(len(records[0]), scores, tuple(differences))


def _key(record: ResultRecord) -> tuple[str, str, str, str, str]:
    return record.model, record.decoding_key, record.metric, record.statistic or "", record.group or ""


def _text(key: Sequence[str]) -> str:
    return " ".join(part for part in (key[2], "of", key[0], "" if key[1] == "{}" else key[1]) if part)


def _fields(key: Sequence[str], first: ResultRecord, second: ResultRecord) -> list[str]:
    values = [(name, getattr(first, name), getattr(second, name)) for name in FIELDS]
    return [f"{_text(key)}: {name} is {a!r} and {b!r}" for name, a, b in values if not _same(a, b)]


def _same(first: object, second: object) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return first == second or (math.isnan(first) and math.isnan(second))
    return repr(first) == repr(second)


def _columns(first: SampleTable, second: SampleTable) -> list[str]:
    """Return the columns of the samples that differ."""
    if len(first) != len(second):
        return [f"samples: {len(first)} rows and {len(second)} rows"]
    only = set(first.names) ^ set(second.names)
    differences = [f"samples: only one run has the column '{name}'" for name in sorted(only)]
    for name in first.names:
        if name in only:
            continue
        if name in first.scored_columns:
            same = np.array_equal(first.numbers(name), second.numbers(name), equal_nan=True)
        else:
            same = list(first[name]) == list(second[name])
        if not same:
            differences.append(f"samples: the column '{name}' differs")
    return differences
