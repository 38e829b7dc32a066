"""Run every shipped task and store its numbers, or compare them with the stored ones.

    python -m tools.baseline check                  print the numbers that differ
    python -m tools.baseline check coco-sample      some cases
    python -m tools.baseline check --ulp 2          allow two units in the last place
    python -m tools.baseline check --fields         a line per kind of number that moved
    python -m tools.baseline store CASE...          write tests/golden/baseline/CASE/

Cases of real data read them below HARNESS_SHARED (default ../shared) and are left out
where there are none. Each case runs in processes of its own, with one thread and a
cache of its own, so that models are trained again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.same_digits import Row, compare, digests, print_moved

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "tests" / "golden" / "baseline"
DRAWS = 1000
"""Random draws of the paired tests."""
MOST_SYSTEMS = 5
"""Runs of more systems are compared with their first system only."""


@dataclass(frozen=True)
class Case:
    """A command of the baseline: spec, options, and whether it reads the real data."""

    name: str
    spec: str
    options: tuple[str, ...] = ()
    real_data: bool = False
    compared: bool = True


def _cases() -> list[Case]:
    names = json.loads((BASELINE / "cases.json").read_text("utf-8"))
    return [
        Case(name=name, **{**case, "options": tuple(case["options"])})
        for name, case in names.items()
    ]


def _environment(work: Path, real_data: bool) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HARNESS_")
    }
    data = {"HARNESS_DATA": str(_shared() / "data")} if real_data else {}
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")} | {
        "CAPTION_KERNELS_THREADS": "1"
    }
    return {
        **kept,
        **data,
        **threads,
        "HF_HUB_OFFLINE": "1",
        "HARNESS_CACHE": str(work / "cache"),
        "HARNESS_ANSWERS": "none",
    }


def _shared() -> Path:
    return Path(os.environ.get("HARNESS_SHARED") or ROOT.parent / "shared").resolve()


def _harness(arguments: Sequence[str], environment: dict[str, str], log: Path) -> int:
    with log.open("a", encoding="utf-8") as file:
        print("$ harness", *arguments, file=file, flush=True)
        # Not from the root of the repository, whose folder `harness` has no plugins.
        command = [sys.executable, "-m", "harness", *arguments]
        return subprocess.run(
            command,
            env=environment,
            stdout=file,
            stderr=file,
            cwd=log.parent,
            check=False,
        ).returncode


def _systems(results: Path) -> list[str]:
    records = json.loads(results.read_text("utf-8"))["results"]
    return list(
        dict.fromkeys(
            record["model"] for record in records if record.get("statistic") is None
        )
    )


def run(case: Case, work: Path) -> Path:
    """Run a case below ``work`` and compare its systems;
    return the folder with its run directories.
    """
    output = work / case.name
    log = work / f"{case.name}.log"
    shutil.rmtree(output, ignore_errors=True)
    environment = _environment(work, case.real_data)
    command = ["run", case.spec, "--output", str(output), "--fresh", *case.options]
    if status := _harness(command, environment, log):
        raise SystemExit(f"{case.name}: exit status {status}; {log} has the messages")
    for results in sorted(output.rglob("results.json")) if case.compared else ():
        systems = _systems(results)
        first = ["--baseline", systems[0]] if len(systems) > MOST_SYSTEMS else []
        if len(systems) > 1:
            compare_options = ["--draws", str(DRAWS), "--json", *first]
            command = ["compare", str(results.parent), *compare_options]
            if _harness(command, environment, log) < 0:
                # killed: it holds some of the rows
                results.with_name("comparisons.json").unlink(missing_ok=True)
    return output


def store(case: Case, folder: Path) -> None:
    """Write the digest of a run to the baseline, one row a line."""
    target = BASELINE / case.name
    shutil.rmtree(target, ignore_errors=True)
    for name, rows in digests(folder).items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_text(rows), "utf-8")


def _text(rows: dict[str, Row]) -> str:
    lines = [
        f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(row, ensure_ascii=False)}"
        for name, row in rows.items()
    ]
    return '{"rows": {\n' + ",\n".join(lines) + "\n}}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Store or check the cases of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["store", "check"])
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help="names of cases (default: all)"
    )
    parser.add_argument(
        "--ulp",
        type=float,
        default=0,
        help="units in the last place by which numbers may differ (0)",
    )
    parser.add_argument(
        "--fields",
        action="store_true",
        help="print the kinds of numbers that moved, not the rows",
    )
    parser.add_argument(
        "--work",
        type=Path,
        default=ROOT / "runs" / "baseline",
        help="folder for runs, logs and the cache",
    )
    options = parser.parse_args(arguments)

    cases = {case.name: case for case in _cases()}
    if unknown := set(options.cases) - set(cases):
        parser.error(
            f"unknown: {', '.join(sorted(unknown))}; the cases are {', '.join(cases)}"
        )

    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    bad = 0
    for name in options.cases or cases:
        case = cases[name]
        if case.real_data and not (_shared() / "data").is_dir():
            print(f"{name}: left out, no data in {_shared() / 'data'}", flush=True)
            continue

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            folder = run(case, work)
        except SystemExit as end:
            print(end, flush=True)
            bad += 1
            continue
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        if options.action == "store":
            store(case, folder)
            rows = sum(map(len, digests(BASELINE / name).values()))
            print(f"{name}: {rows} rows stored, {seconds:.0f} CPU s", flush=True)
        else:
            _, rows, found = compare(folder, BASELINE / name, options.ulp)
            bad += bool(found)
            if options.fields:
                print_moved(folder, BASELINE / name)
            else:
                for distance, text in found[:10]:
                    print(f"{distance:8.3g}  {text}")
            print(
                f"{name}: {rows} rows, {len(found)} numbers differ, "
                f"{seconds:.0f} CPU s",
                flush=True,
            )

    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
