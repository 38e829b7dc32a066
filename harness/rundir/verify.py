"""The numbers of a run by name, for comparison with stored ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from harness.rundir.file_names import RESULTS
from harness.rundir.format import plain, read_json_object, run_folders
from harness.rundir.provenance import check_results
from harness.rundir.records import ResultRecord

NUMBERS = ("value", "ci95", "p_value", "n", "skipped", "sizes", "p", "details")
MEASURED = "captions_per_second"
"""Detail that differs from run to run."""


def stored_numbers(path: Path) -> dict[str, object]:
    """Return the numbers of a run directory, a folder of runs or a results.json.

    Raises
    ------
    InputError, OSError
        Where there are none.
    """
    files = [path]
    if not path.is_file():
        files = [folder / RESULTS for folder in run_folders(path)[0]]

    records: list[ResultRecord] = []
    for file in files:
        content = check_results(read_json_object(file), file)
        records += [*content.results, *content.slices]
    return numbers_by_name(records)


def numbers_by_name(records: Iterable[ResultRecord]) -> dict[str, object]:
    """Return the numbers of records by row and field; rows of one name are numbered."""
    numbers = dict[str, object]()
    rows = Counter[str]()
    for record in records:
        decoding = record.decoding_key if record.decoding else None
        names = (
            record.task,
            record.model,
            decoding,
            record.metric,
            record.statistic,
            record.group,
            record.slice,
        )
        row = ", ".join(str(name) for name in names if name)
        rows[row] += 1
        row += f" #{rows[row]}" if rows[row] > 1 else ""

        for field in NUMBERS:
            items = _items(plain(getattr(record, field)))
            for key, number in items.items():
                name = f"{row}: {field}" + (f" {key}" if len(items) > 1 else "")
                if key != MEASURED:
                    numbers[name] = number
    return numbers


def _items(value: object) -> dict[Any, object]:
    """Return the numbers of a field by key, those of a list or alone by position."""
    if isinstance(value, dict):
        return cast("dict[Any, object]", value)
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return dict(enumerate(items))


def describe_differences(
    stored: dict[str, Any],
    found: dict[str, Any],
    sides: tuple[str, str] = ("stored", "now"),
) -> Iterator[str]:
    """Yield a line for each number that is not equal to the last bit on both sides, or
    that only one has; ``sides`` names them.
    """
    for name in {**stored, **found}:
        before = stored.get(name, "missing")
        now = found.get(name, "missing")
        if before == now:
            continue
        line = f"{name}: {sides[0]} {before!r}, {sides[1]} {now!r}"
        if {type(before), type(now)} <= {int, float}:
            line += f" (differs by {abs(now - before):.2g})"
        yield line
