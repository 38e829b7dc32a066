"""Planted faults: ``python -m tools.mutants.planted [NAME ...]`` plants each fault of
``planted_faults.toml`` and runs the tests near it.

The list is made before any test is run against it: half of its faults by hand, from the
sources alone, half drawn with a seed from the mutants of lines that fast tests execute
(``--draw``, which prints them). A fault is noticed when one of the fast tests of its
module and area fails, or takes more than three times the CPU time that it takes
otherwise. The module of the same name runs first, then those that the list names for
the area; nothing else runs. Faults of the C++ kernels are built in a copy of the
sources (:class:`tools.kernel_mutants.Workshop`).

``planted_results.json`` has the test that noticed each fault, at first and now. Of a
fault that no test notices, ``reason`` in the list says why it changes no result. The
exit status is 1 where one is unnoticed without a reason.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools import cpp_mutants
from tools.mutants.drawn import draw, write_fault
from tools.mutants.faults import CORE, Area, Fault, find_stages, read_faults
from tools.mutants.processes import FAILED, PASSED, PRELOADED, ROOT, run_tests

RESULTS = Path(__file__).with_name("planted_results.json")
UNNOTICED = "unnoticed"


class Bench:
    """Runs tests against faults of Python sources."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._seconds: dict[tuple[str, ...], float] = {}

    def attempt(self, fault: Fault, area: Area) -> str:
        """Return the test that notices a fault, or ``unnoticed``."""
        code = fault.plant((ROOT / fault.file).read_text(encoding="utf-8"))
        for tests in find_stages(fault, area):
            limit = int(3 * self._measure(tests)) + 10
            end = run_tests(tests, limit, (fault.file, code), self._scratch)
            if end not in PASSED:
                named = FAILED.search(
                    self._scratch.with_suffix(".txt").read_text(errors="replace")
                )
                return (
                    named["test"].strip() if named else f"{tests[0]}: ends with {end}"
                )
        return UNNOTICED

    def _measure(self, tests: Sequence[str]) -> float:
        """Return the CPU seconds of tests without a fault;
        raise SystemExit where they fail.
        """
        key = tuple(tests)
        if key not in self._seconds:
            before = _children_seconds()
            if run_tests(tests, 900, None, self._scratch) not in PASSED:
                raise SystemExit(
                    f"{', '.join(tests)} fail without a fault: "
                    f"{self._scratch.with_suffix('.txt').read_text()[-2000:]}"
                )
            self._seconds[key] = _children_seconds() - before
        return self._seconds[key]


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class KernelBench:
    """Builds faults of the kernels and runs the fast tests of the kernels."""

    def __init__(self) -> None:
        from tools import kernel_mutants

        for name in kernel_mutants.PRELOADED:
            importlib.import_module(name)
        kernel_mutants.OUT.mkdir(exist_ok=True)
        self._workshop = kernel_mutants.Workshop(0)

    def attempt(self, fault: Fault, area: Area) -> str:
        """Return the test that notices a fault, or ``unnoticed``; raise SystemExit
        where it does not compile.
        """
        name = fault.file.removeprefix(CORE)
        source = cpp_mutants.read(name)
        fault.plant(source)
        start = source.index(fault.old)
        result = self._workshop.attempt(
            cpp_mutants.Mutant(name, start, start + len(fault.old), fault.new)
        )
        if result is None:
            raise SystemExit(f"{fault.name} does not compile")
        return str(result["by"]) if result["end"] == "noticed" else UNNOTICED


def main() -> int:
    """Plant the faults; return 1 where one is unnoticed without a reason."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="names of faults, or of areas (default: all)",
    )
    parser.add_argument(
        "--draw",
        type=int,
        metavar="SEED",
        help="print the drawn faults of a seed, and run nothing",
    )
    parser.add_argument(
        "--record",
        type=Path,
        default=ROOT / ".mutants",
        help="record of executed lines, for --draw",
    )
    parser.add_argument(
        "--missed",
        action="store_true",
        help="only those that were unnoticed, and have no reason",
    )
    args = parser.parse_args()

    os.chdir(ROOT)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    areas, faults = read_faults()
    if args.draw is not None:
        print("\n".join(map(write_fault, draw(areas, args.draw, args.record))))
        return 0

    results: dict[str, dict[str, str]] = (
        json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    )
    if unknown := [
        name for name in args.names if name not in faults and name not in areas
    ]:
        parser.error(f"there is no fault and no area {', '.join(unknown)}")

    chosen = [
        fault
        for fault in faults.values()
        if not args.names or fault.name in args.names or fault.area in args.names
    ]
    if args.missed:
        chosen = [
            fault
            for fault in chosen
            if not fault.reason
            and results.get(fault.name, {}).get("now", UNNOTICED) == UNNOTICED
        ]

    run(chosen, areas, results)
    return summary(faults, results)


def run(
    faults: Sequence[Fault], areas: dict[str, Area], results: dict[str, dict[str, str]]
) -> None:
    """Plant faults one after the other, and write what noticed each."""
    for name in PRELOADED:
        importlib.import_module(name)
    benches: dict[bool, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, fault in enumerate(faults, 1):
            is_kernel = fault.file.startswith(CORE)
            if is_kernel not in benches:
                benches[is_kernel] = (
                    KernelBench() if is_kernel else Bench(Path(folder, "tmp"))
                )
            try:
                end = benches[is_kernel].attempt(fault, areas[fault.area])
            except ValueError as error:  # the sources have moved on
                print(f"{number}/{len(faults)} left out: {error}", flush=True)
                continue
            result = results.setdefault(fault.name, {"first": end})
            result["now"] = end
            RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
            print(f"{number}/{len(faults)} {fault.name}: {end}", flush=True)


def summary(faults: dict[str, Fault], results: dict[str, dict[str, str]]) -> int:
    """Print what was noticed at first and now, by origin and area,
    and return the exit status.
    """
    missing = []
    for title in ("origin", "area"):
        for value in dict.fromkeys(getattr(fault, title) for fault in faults.values()):
            of_value = [
                fault
                for fault in faults.values()
                if getattr(fault, title) == value and fault.name in results
            ]
            first, now = (
                sum(results[fault.name][when] != UNNOTICED for fault in of_value)
                for when in ("first", "now")
            )
            print(
                f"{value:<10} {len(of_value):>3} planted, "
                f"{first:>3} noticed at first, {now:>3} now"
            )
    for fault in faults.values():
        if results.get(fault.name, {}).get("now") == UNNOTICED:
            print(f"unnoticed: {fault.name}: {fault.reason or 'NO REASON'}")
            missing += [] if fault.reason else [fault.name]
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
