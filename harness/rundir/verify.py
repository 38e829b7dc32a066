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
    files = (
        [path]
        if path.is_file()
        else [folder / RESULTS for folder in run_folders(path)[0]]
    )
    contents = [check_results(read_json_object(file), file) for file in files]
    return numbers_by_name(
        record for content in contents for record in (*content.results, *content.slices)
    )


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
            value = plain(getattr(record, field))
            items = (
                cast("dict[Any, object]", value)
                if isinstance(value, dict)
                else dict[Any, object](enumerate(_listed(value)))
            )
            name = f"{row}: {field}"
            numbers.update(
                {
                    f"{name} {key}" if len(items) > 1 else name: x
                    for key, x in items.items()
                    if key != MEASURED
                }
            )
    return numbers


def _listed(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else [value]


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
        if before != now:
            distance = (
                f" (differs by {abs(now - before):.2g})"
                if {type(before), type(now)} <= {int, float}
                else ""
            )
            yield f"{name}: {sides[0]} {before!r}, {sides[1]} {now!r}{distance}"
