"""Equality of two runs, digit by digit: the same numbers whatever computed them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Values, VerbResult, arrow_table
from harness.run.finished import Run
from harness.rundir.sample_events import EVENTS
from harness.rundir.samples import SampleTable
from harness.rundir.verify import describe_differences, numbers_by_name

MAX_LISTED = 10
"""Number of differences that are described."""


@dataclass(frozen=True)
class Identity(VerbResult):
    """Result of the comparison."""

    ROWS = "differences"

    numbers: int
    """Number of result records of the first run, those of slices too."""
    scores: int
    """Number of scores and p-values per example of the first run."""
    differences: tuple[str, ...]
    """Descriptions of what differs, at most :data:`MAX_LISTED` and a count;
    empty for identical runs.
    """

    def to_dict(self) -> Values:
        """Return the fields."""
        return asdict(self)

    def blocks(self) -> Iterable[str]:
        """Yield the differences, or the line of identical runs."""
        yield from self.differences or (
            f"identical: {self.numbers:,} results and {self.scores:,} numbers "
            "per example",
        )

    def to_arrow(self) -> Any:
        """Return a row for each difference."""
        return arrow_table([{"difference": text} for text in self.differences])


def compare_identical(first: str | Path | Run, second: str | Path | Run) -> Identity:
    """Compare numbers, intervals, p-values,
    captions and scores per example of two finished runs.

    Raises :class:`InputError` for a folder without a finished run.
    """
    runs = [run if isinstance(run, Run) else Run.open(run) for run in (first, second)]
    # The name of the task is no number: the same spec may be run under another.
    numbers = [
        numbers_by_name(
            replace(record, task="") for record in (*run.records, *run.slices)
        )
        for run in runs
    ]
    differences = list(
        describe_differences(numbers[0], numbers[1], (runs[0].name, runs[1].name))
    )
    samples = [run.samples for run in runs]
    differences += _differing_columns(samples[0], samples[1])

    further = len(differences) - MAX_LISTED
    if further > 0:
        differences = [
            *differences[:MAX_LISTED],
            f"and {further} more differences",
        ]
    return Identity(
        numbers=len(runs[0].records) + len(runs[0].slices),
        scores=len(samples[0]) * len(samples[0].scored_columns),
        differences=tuple(differences),
    )


def _differing_columns(first: SampleTable, second: SampleTable) -> list[str]:
    """Return the columns of the samples that differ."""
    if len(first) != len(second):
        return [f"samples: {len(first)} rows and {len(second)} rows"]
    # events are those of the texts; runs of earlier versions lack the column
    only = (set(first.names) ^ set(second.names)) - {EVENTS}
    differences = [
        f"samples: only one run has the column '{name}'" for name in sorted(only)
    ]

    for name in first.names:
        if name in only or name == EVENTS:
            continue
        if name in first.scored_columns:
            same = np.array_equal(
                first.numbers(name), second.numbers(name), equal_nan=True
            )
        else:
            same = list(first[name]) == list(second[name])
        if not same:
            differences.append(f"samples: the column '{name}' differs")
    return differences
