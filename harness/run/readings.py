"""Readings of the files of a run: one line where something was chosen, one record
each in the manifest, one reading for one form.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.contracts import Reading, ShowsReadings, Values
from harness.errors import InputError

_log = logging.getLogger(__name__)


def collect_readings(sources: Iterable[object]) -> list[Reading]:
    """Return the readings of readers and adapters that have some,
    each file once for each role.
    """
    by_file: dict[tuple[str, str, tuple[str, ...]], Reading] = {}
    for source in sources:
        if isinstance(source, ShowsReadings):
            for reading in source.readings():
                by_file.setdefault(
                    (reading.path, reading.role, reading.columns), reading
                )
    return list(by_file.values())


def note_readings(readings: Iterable[Reading]) -> None:
    """Print one line for each file that was read in one of several possible ways,
    or not as a whole.
    """
    for reading in readings:
        if reading.decided:
            _log.warning("note: %s", reading.line())


def check_alike(readings: Sequence[Reading]) -> None:
    """Raise :class:`InputError` for files of candidates with the same columns of ids
    that were matched by different ones.
    """
    first: dict[tuple[str, ...], Reading] = {}
    for reading in readings:
        if reading.role != "candidates" or not reading.possible_ids:
            continue
        earlier = first.setdefault(tuple(sorted(reading.possible_ids)), reading)
        if earlier.id != reading.id:
            raise InputError(
                f"its records are matched by '{reading.id}', "
                f"those of {earlier.path} by '{earlier.id}', "
                "though both files have both columns; choose one with id: ...",
                reading.path,
                parameter="id",
            )


def readings_of_manifest(readings: Iterable[Reading]) -> list[Values]:
    """Return readings as values of a manifest: the names of files without their
    folders, and no captions.
    """
    values: list[Values] = []
    for reading in readings:
        fields = {**reading.to_dict(), "path": Path(reading.path).name}
        fields.pop("examples", None)
        values.append(fields)
    return values
