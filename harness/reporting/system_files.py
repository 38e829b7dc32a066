"""A system of a run in files of other programs: the name of its file, its results, and
the standard error of a number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from harness.run.finished import Run
from harness.rundir.records import ResultRecord
from harness.rundir.samples import System

MAX_NAME = 60
"""Maximum number of characters of a file's name that come from the label of a system;
file systems permit 255 bytes.
"""


def file_name(text: str) -> str:
    """Return a text as the name of a file: without separators, and never ``.`` or
    ``..``, which name folders.
    """
    return re.sub(r"[^\w.+-]+", "_", text).strip("_.")[:MAX_NAME] or "system"


def name_systems(systems: Sequence[System]) -> dict[str, System]:
    """Return one name of a folder or file per system;
    systems with equal names are numbered.
    """
    names: dict[str, System] = {}
    for system in systems:
        name = file_name(system.label)
        number = 2
        while name in names:
            name = f"{file_name(system.label)}_{number}"
            number = number + 1
        names[name] = system
    return names


def records_of(run: Run, system: System) -> list[ResultRecord]:
    """Return the results of a system."""
    return [
        record
        for record in run.records
        if record.model == system.model and record.decoding_key == system.decoding_key
    ]


def standard_error(system: System, record: ResultRecord) -> float | str:
    """Return the standard error of the mean where the number of a record is the mean
    over the examples, else ``N/A``.
    """
    if record.level == "corpus" or record.metric not in system.table.names:
        return "N/A"

    scores = system.scores(record.metric)
    scores = scores[~np.isnan(scores)]
    if len(scores) < 2:
        return "N/A"
    if not np.isclose(scores.mean(), record.value, rtol=1e-6, atol=1e-12):
        return "N/A"
    return float(scores.std(ddof=1) / np.sqrt(len(scores)))
