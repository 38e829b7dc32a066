"""Measure every promised rate and coverage, and write the table of docs/promises.md.

    python -m benchmarks.promises [NAME ...] [--full] [--write] [--cells]

Each module of this folder with a sequence ``PROMISES`` takes part. The quick
measurement of all takes 10 minutes on two cores; ``--full`` hours. ``--write`` keeps
the figures in docs/promises.json and writes the table. Exit status 1 when a promise is
not kept.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import benchmarks.promises as package
from benchmarks.promises.promise import Cell, Promise

FIGURES = Path("docs/promises.json")
PAGE = Path("docs/promises.md")
MARKS = ("<!-- promises -->", "<!-- /promises -->")


def find_promises() -> dict[str, Promise]:
    """Return name -> promise, of all modules of this folder."""
    modules = sorted(
        found.name
        for found in pkgutil.iter_modules(package.__path__)
        if found.name != "__main__"
    )
    promises = [
        promise
        for name in modules
        for promise in getattr(
            importlib.import_module(f"{package.__name__}.{name}"), "PROMISES", ()
        )
    ]
    return {promise.name: promise for promise in promises}


def measure(name: str, full: bool) -> tuple[Sequence[Cell], float]:
    """Return the cells of a promise and the processor time that they took."""
    start = time.process_time()
    cells = list(find_promises()[name].measure(full))
    return cells, time.process_time() - start


def figures_of(
    promise: Promise, cells: Sequence[Cell], full: bool, seconds: float
) -> dict[str, Any]:
    """Return what is kept of the measurement of a promise."""
    return {
        "holds": all(map(promise.holds, cells)),
        "full": full,
        "cpu_seconds": round(seconds),
        "cells": [
            {"case": cell.case, "rate": round(cell.rate, 4), "runs": cell.runs}
            for cell in cells
        ],
    }


def table(promises: dict[str, Promise], figures: dict[str, Any]) -> str:
    """Return the Markdown table of all promises with their last figures."""
    lines = [
        "| promise | stated in | goal | worst case | runs | cases | kept | command |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, promise in promises.items():
        places = ", ".join(
            f"[{Path(place).name}]({Path(place).relative_to('docs')})"
            for place in promise.places
        )
        sign = "at least" if promise.at_least else "at most"
        begin = f"| {promise.sentence} | {places} | {sign} {promise.goal:.3g}"
        command = f"python -m benchmarks.promises {name}"
        stored = figures.get(name)
        if stored is None:
            lines.append(
                f"{begin} | not measured in this version | | | | `{command} --write` |"
            )
            continue
        cells = [
            Cell(cell["case"], round(cell["rate"] * cell["runs"]), cell["runs"])
            for cell in stored["cells"]
        ]
        worst = promise.worst(cells)
        kept = "yes" if stored["holds"] else "**no**"
        measured = (
            f"{worst.rate:.3f}: {worst.case} | {worst.runs:,} | {len(cells)} | {kept}"
        )
        lines.append(
            f"{begin} | {measured} | `{command}{' --full' if stored['full'] else ''}` |"
        )
    return "\n".join(lines)


def write_page(promises: dict[str, Promise], figures: dict[str, Any]) -> None:
    """Write the table between the marks of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    PAGE.write_text(
        f"{before}{MARKS[0]}\n{table(promises, figures)}\n{MARKS[1]}{after}",
        encoding="utf-8",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.promises",
        description="Measure every promised rate and coverage.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="promises; default: all"
    )
    parser.add_argument(
        "--full", action="store_true", help="the full number of runs (hours)"
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"keep the figures in {FIGURES} and write the table of {PAGE}",
    )
    parser.add_argument(
        "--cells",
        action="store_true",
        help="print every case, not the worst one of each promise alone",
    )
    args = parser.parse_args(arguments)
    promises = find_promises()
    if unknown := [name for name in args.names if name not in promises]:
        parser.error(
            f"no promise {', '.join(unknown)}; there are {', '.join(promises)}"
        )
    figures: dict[str, Any] = (
        json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    )
    missed = 0
    names = args.names or list(promises)
    with ProcessPoolExecutor(max_workers=2) as pool:
        running = [(name, pool.submit(measure, name, args.full)) for name in names]
        for name, future in running:
            promise, (cells, seconds) = promises[name], future.result()
            figures[name] = figures_of(promise, cells, args.full, seconds)
            worst = promise.worst(cells)
            broken = [cell for cell in cells if not promise.holds(cell)]
            missed += bool(broken)
            sign = "at least" if promise.at_least else "at most"
            print(
                f"{name}: worst {worst.rate:.4f} ({worst.case}; "
                f"{worst.runs:,} runs), {sign} {promise.goal:g}: "
                f"{'MISSED in ' + str(len(broken)) if broken else 'kept'} of "
                f"{len(cells)} cases, {seconds:.0f} s",
                flush=True,
            )
            shown = cells if args.cells else broken
            for cell in shown:
                print(
                    f"    {cell.rate:.4f}  {cell.case} ({cell.runs:,} runs)", flush=True
                )
    if args.write:
        FIGURES.write_text(
            json.dumps(
                {name: figures[name] for name in promises if name in figures}, indent=1
            )
            + "\n",
            encoding="utf-8",
        )
        write_page(promises, figures)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
