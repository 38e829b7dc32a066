"""The log of a run directory: events in the order in which they happened."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from harness.contracts import Values
from harness.files.json_text import parse_json
from harness.rundir.file_names import LOG
from harness.rundir.format import open_run_file


def read_log_events(folder: Path) -> list[Values]:
    """Return the events of the log of a run directory, each with its ``time``; torn and
    foreign lines are left out, and a directory without a log has none.
    """
    if not (folder / LOG).is_file():
        return []

    with open_run_file(folder / LOG) as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
    events: list[Values] = []
    for line in lines:
        try:
            event = parse_json(line)
        except ValueError:
            continue
        if not isinstance(event, dict):
            continue
        values = cast("Values", event)
        if isinstance(values.get("time"), (int, float)):
            events.append(values)
    return events
