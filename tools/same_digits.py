"""Compare the numbers of two runs, digit by digit.

    python -m tools.same_digits runs/coco tests/golden/baseline/coco-sample
    python -m tools.same_digits runs/new runs/old --ulp 2
    python -m tools.same_digits runs/new runs/old --fields   a line per kind of number

Both arguments are run directories, folders of several runs (suites), or digests as
``python -m tools.baseline`` stores them. Runs of tasks and of judgments are compared
alike: value, n, skipped, interval and p-values of each result, p-values and
correlations between metrics for judgments, and differences, intervals and p-values of
``comparisons.json`` where the second folder has one. Rows of the first folder that the
second one lacks are not compared.

Prints the rows that differ, the largest difference first; the exit status is 1 when
there are any.
"""

from __future__ import annotations

import argparse
import json
import math
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

Row = dict[str, Any]

RESULT_FIELDS = ("value", "ci95", "p_value", "p", "n", "skipped")
COMPARISON_FIELDS = (
    "difference",
    "ci95",
    "p_value",
    "p_bootstrap",
    "sign_p_value",
    "n",
    "left_out",
)
MEASURED = ("captions_per_second",)
"""Details that differ from run to run."""


def result_rows(content: Mapping[str, Any]) -> dict[str, Row]:
    """Return the numbers of results.json by the name of their row: task, model,
    decoding, metric, statistic, group.

    Parameters of models and metrics are not part of the name, since they hold paths;
    rows of one name are numbered.
    """
    if "rows" in content:
        return dict(content["rows"])

    rows: dict[str, Row] = {}
    seen: Counter[str] = Counter()
    for record in content["results"]:
        decoding = json.dumps(record.get("decoding") or {}, sort_keys=True)
        parts = [
            record["task"],
            record["model"],
            decoding,
            record["metric"],
            record.get("statistic"),
            record.get("group"),
        ]
        name = " | ".join(str(part) for part in parts if part not in (None, ""))
        seen[name] += 1

        row = {
            field: record[field]
            for field in RESULT_FIELDS
            if record.get(field) is not None
        }
        # Judgments keep the tests between metrics in the details; the details of other
        # results repeat their statistics.
        if record.get("statistic") is not None and record.get("details"):
            row["details"] = {
                key: x for key, x in record["details"].items() if key not in MEASURED
            }

        rows[name if seen[name] == 1 else f"{name} #{seen[name]}"] = row
    return rows


def comparison_rows(content: Mapping[str, Any]) -> dict[str, Row]:
    """Return the numbers of comparisons.json by the name of their row: system,
    system, metric.
    """
    return {
        name: {
            field: row[field]
            for field in COMPARISON_FIELDS
            if row.get(field) is not None
        }
        for name, row in content["rows"].items()
    }


def digests(folder: Path) -> dict[str, dict[str, Row]]:
    """Return the rows of every results.json and comparisons.json below a folder,
    by the path of the file.
    """
    readers = {"results.json": result_rows, "comparisons.json": comparison_rows}
    paths = sorted(path for name in readers for path in folder.rglob(name))
    return {
        path.relative_to(folder).as_posix(): readers[path.name](
            json.loads(path.read_text("utf-8"))
        )
        for path in paths
    }


def units_between(first: object, second: object) -> float:
    """Return how many floating-point numbers lie between two numbers, plus one;
    0 where they are equal.

    >>> (
    ...     units_between(1.0, 1.0 + 2**-52),
    ...     units_between(0.5, 0.5),
    ...     units_between(None, 1.0),
    ... )
    (1, 0, inf)
    """
    if first == second:
        return 0
    # JSON has no infinities and no NaN: they are strings or null, which are equal or
    # are not.
    numbers = [
        x for x in (first, second) if isinstance(x, int | float) and math.isfinite(x)
    ]
    if len(numbers) < 2:
        return math.inf
    return abs(_position(numbers[0]) - _position(numbers[1]))


def _position(number: float) -> int:
    # The bits of positive numbers, read as integers, count them in their order;
    # negative ones count downwards from zero.
    (bits,) = struct.unpack("<q", struct.pack("<d", float(number)))
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def numbers_within(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield the leaves of nested lists and objects with their paths."""
    if isinstance(value, Mapping):
        for key in sorted(value):
            yield from numbers_within(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from numbers_within(item, f"{path}[{index}]")
    else:
        yield path, value


def differences(
    new: Mapping[str, Row], old: Mapping[str, Row], ulp: float = 0
) -> list[tuple[float, str]]:
    """Return distance and text of every number of ``old`` that is missing in ``new`` or
    farther away than ``ulp`` units.
    """
    found: list[tuple[float, str]] = []
    for name, row in old.items():
        if name not in new:
            found.append((math.inf, f"{name}: missing"))
            continue
        before = dict(numbers_within(row))
        after = dict(numbers_within(new[name]))
        for field in sorted({*before, *after}):
            a = after.get(field)
            b = before.get(field)
            distance = units_between(a, b)
            if distance > ulp:
                found.append((distance, f"{name}: {field} {b!r} -> {a!r}"))
    return found


def compare(
    new: Path, old: Path, ulp: float = 0
) -> tuple[int, int, list[tuple[float, str]]]:
    """Compare two folders; return the numbers of files and rows of the old one, and the
    differences, the largest first.
    """
    after = digests(new)
    before = digests(old)
    found: list[tuple[float, str]] = []
    for name, rows in before.items():
        if name in after:
            found += [
                (distance, f"{name}  {text}")
                for distance, text in differences(after[name], rows, ulp)
            ]
        else:
            found.append((math.inf, f"{name}: no such file in {new}"))
    return (
        len(before),
        sum(map(len, before.values())),
        sorted(found, key=lambda item: -item[0]),
    )


class Moved(NamedTuple):
    """Numbers of one kind that moved."""

    field: str
    """File and field, such as ``results.json value``."""
    count: int
    units: float
    """Largest distance in units in the last place."""
    largest: float
    """Largest absolute difference."""


def moved_fields(new: Path, old: Path) -> list[Moved]:
    """Return the kinds of numbers that moved, those that moved farthest first; numbers
    that only one folder has are not counted.
    """
    after = digests(new)
    kinds = dict[str, list[tuple[float, float]]]()
    for file, rows in digests(old).items():
        for name, row in rows.items():
            ours = dict(numbers_within(after.get(file, {}).get(name, {})))
            for field, before in numbers_within(row):
                now = ours.get(field)
                distance = units_between(now, before)
                if 0 < distance < math.inf:
                    kind = f"{Path(file).name} {field.partition('[')[0]}"
                    change = abs(now - before)  # pyright: ignore[reportOperatorIssue]
                    kinds.setdefault(kind, []).append((distance, change))
    table = [
        Moved(kind, len(pairs), *map(max, zip(*pairs))) for kind, pairs in kinds.items()
    ]
    return sorted(table, key=lambda row: -row.units)


def print_moved(new: Path, old: Path) -> None:
    """Print a line per kind of numbers that moved: count, largest distance,
    largest absolute difference.
    """
    for kind in moved_fields(new, old):
        print(
            f"{kind.field:<36} {kind.count:5}  {kind.units:8.3g} ulp  "
            f"{kind.largest:8.2g}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the differences of two folders."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "new", type=Path, help="run directory, folder of runs, or digest"
    )
    parser.add_argument("old", type=Path, help="what it is compared with")
    parser.add_argument(
        "--ulp",
        type=float,
        default=0,
        help="units in the last place by which numbers may differ (0)",
    )
    parser.add_argument(
        "--rows", type=int, default=20, help="differences to print (20)"
    )
    parser.add_argument(
        "--fields",
        action="store_true",
        help="print kind, count, largest distance and difference of the numbers that "
        "moved",
    )
    options = parser.parse_args(arguments)

    if options.fields:
        print_moved(options.new, options.old)
    files, rows, found = compare(options.new, options.old, options.ulp)
    if not files:
        parser.error(f"{options.old} holds no results.json")

    if not options.fields:
        for distance, text in found[: options.rows]:
            print(f"{distance:8.3g}  {text}")

    print(
        f"{files} files, {rows} rows, {len(found)} numbers differ by more than "
        f"{options.ulp:g} units in the last place"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
