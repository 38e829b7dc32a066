"""Test the tests: ``python -m tools.mutants.run``, or ``make mutants``.

Small changes of the sources (:mod:`mutants`) are drawn with a seed. Each is compiled in
a process of its own, and the fast tests that execute the changed line run against it
(:mod:`lines`), those of its module and folder first. A mutant is noticed when a test
fails or takes far more time than it takes without the change. The sources on disk stay
as they are.

Those that no test notices are listed. ``equivalent.json`` says of each why it cannot
change a result. The exit status is 1 when one is missing there, or fewer than 95 % of
those that can change a result are noticed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.mutants import lines
from tools.mutants.mutants import Mutant, mutants_of, sample, sources
from tools.mutants.processes import FAILED, PRELOADED, ROOT, run_tests

REASONS = Path(__file__).with_name("equivalent.json")
GOAL = 0.95
SECONDS = 90.0
"""CPU seconds of the tests of a mutant, at most;
the quickest of all that execute the line.
"""


def attempt(
    mutant: Mutant, source: str, executed: lines.ExecutedLines, scratch: Path
) -> str:
    """Return ``noticed`` or ``unnoticed``.

    A test that fails without the change too, when it runs by itself, does not count.
    """
    tests = executed.find_tests(mutant.path, mutant.line, SECONDS)
    code = mutant.code(source)
    while tests:
        end = run_tests(
            tests,
            int(3 * sum(map(executed.seconds, tests))) + 10,
            (mutant.path, code),
            scratch,
        )
        if end in (0, 5):  # 5: none of them is fast
            break
        named = FAILED.search(scratch.with_suffix(".txt").read_text(errors="replace"))
        failed = [test for test in tests if named and named["test"].endswith(test)]
        if (
            not failed
            or run_tests(
                failed, int(3 * executed.seconds(failed[0])) + 10, None, scratch
            )
            == 0
        ):
            return "noticed"
        print(f"left out: {failed[0]} fails unchanged", flush=True)
        tests = [test for test in tests if test not in failed]
    return "unnoticed"


def draw(
    config: dict[str, Any], count: int | None, seed: int, only: Sequence[str]
) -> list[Mutant]:
    """Return the sampled mutants of every group, in proportion to the group's count."""
    total = sum(group["count"] for group in config["groups"].values())
    drawn: list[Mutant] = []
    for number, (name, group) in enumerate(sorted(config["groups"].items())):
        if only and name not in only:
            continue
        files = sources(ROOT, group["sources"], group.get("exclude", []))
        every = [
            m
            for file in files
            for m in mutants_of(file, (ROOT / file).read_text(encoding="utf-8"))
        ]
        size = (
            group["count"] if count is None else round(count * group["count"] / total)
        )
        drawn += sample(every, size, 1000 * seed + number)
    return drawn


def key(mutant: Mutant, source: str) -> str:
    """Return the name of a mutant: its file and the changed line, before and after."""
    before, after = mutant.change(source)
    return f"{mutant.path}: {before} -> {after}"


def read_lines(folder: Path) -> lines.ExecutedLines:
    """Return the tests of every line, recorded again when a source has changed
    since.
    """
    changed = max(
        path.stat().st_mtime
        for name in ("harness", "plugins", "adapters")
        for path in (ROOT / name).rglob("*.py")
    )
    record = folder / lines.SECONDS
    if not record.is_file() or record.stat().st_mtime < changed:
        print(
            "recording the lines that each fast test executes (10 minutes)", flush=True
        )
        subprocess.run(
            [sys.executable, "-m", "tools.mutants.lines", "--out", str(folder)],
            stdout=subprocess.DEVNULL,
        )
    return lines.ExecutedLines(folder)


def main() -> int:
    """Run the mutants; return 1 when too many are unnoticed,
    or one without a reason.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--count", type=int, help="number of mutants (default: that of pyproject.toml)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--groups", nargs="*", default=[])
    parser.add_argument(
        "--resume", action="store_true", help="keep what was noticed before"
    )
    parser.add_argument(
        "--retry",
        action="store_true",
        help="run only what was unnoticed before and has no reason",
    )
    parser.add_argument(
        "--report", action="store_true", help="run nothing; print the results so far"
    )
    parser.add_argument(
        "--part",
        default="1/1",
        metavar="K/N",
        help="the K-th of N parts, for several processes",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=lines.OUT,
        help="folder of the results and of the record of executed lines",
    )
    args = parser.parse_args()
    out = args.out.absolute()
    part, parts = map(int, args.part.split("/"))
    os.chdir(ROOT)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "tool"
    ]["mutants"]
    mutants = draw(config, args.count, args.seed, args.groups)[part - 1 :: parts]
    out.mkdir(exist_ok=True)
    earlier = _earlier(out) if args.resume or args.retry or args.report else {}
    reasons: dict[str, str] = json.loads(REASONS.read_text(encoding="utf-8"))
    for name in ("harness", "harness_metrics"):
        spec = importlib.util.find_spec(name)
        if spec is None or not str(spec.origin).startswith(str(ROOT)):
            raise SystemExit(
                f"{name} is {spec and spec.origin}, not below {ROOT}: "
                "its mutants would not be loaded"
            )
    for name in PRELOADED:
        importlib.import_module(name)
    results: dict[str, tuple[Mutant, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder, "tmp")
        executed = read_lines(out)
        for number, mutant in enumerate(sorted(mutants, key=lambda m: m.path), 1):
            source = (ROOT / mutant.path).read_text(encoding="utf-8")
            name = key(mutant, source)
            state = hashlib.sha256(
                f"{name} {mutant.line} {mutant.code(source)}".encode()
            ).hexdigest()
            end = earlier.get(state)
            if args.report or args.retry:
                retried = args.retry and end == "unnoticed" and name not in reasons
                if end is None or not retried:
                    if end is not None:
                        results[state] = (mutant, end)
                    continue
            if end != "noticed" or args.retry:
                end = attempt(mutant, source, executed, scratch)
                print(
                    f"{number}/{len(mutants)} {end} {name} (line {mutant.line})",
                    flush=True,
                )
                with (out / "results.jsonl").open("a") as file:
                    file.write(
                        json.dumps(
                            {
                                "state": state,
                                "end": end,
                                "line": mutant.line,
                                "name": name,
                            }
                        )
                        + "\n"
                    )
            results[state] = (mutant, end)
    return summary(results)


def _earlier(out: Path) -> dict[str, str]:
    """Return the ends of earlier runs by the hash of the mutant."""
    path = out / "results.jsonl"
    lines = path.read_text().splitlines() if path.is_file() else []
    return {item["state"]: item["end"] for item in map(json.loads, lines)}


def summary(results: dict[str, tuple[Mutant, str]]) -> int:
    """Print what was noticed, by folder, and the unnoticed ones;
    return the exit status.
    """
    reasons: dict[str, str] = json.loads(REASONS.read_text(encoding="utf-8"))
    folders: dict[str, list[str]] = {}
    missing: list[str] = []
    for mutant, end in results.values():
        folders.setdefault(str(Path(mutant.path).parent), []).append(end)
        if end == "unnoticed":
            name = key(mutant, (ROOT / mutant.path).read_text(encoding="utf-8"))
            if name not in reasons:
                missing.append(name)
            print(
                f"unnoticed: {mutant.path}:{mutant.line} "
                f"{name.partition(': ')[2]}\n    {reasons.get(name, 'NO REASON')}"
            )
    for folder, ends in sorted(folders.items()):
        print(
            f"{folder:<28} {len(ends):>4} mutants, {ends.count('unnoticed'):>3} "
            "unnoticed"
        )
    ends = [end for _, end in results.values()]
    unnoticed = ends.count("unnoticed")
    equal = unnoticed - len(missing)
    share = 1 - len(missing) / max(1, len(ends) - equal)
    print(
        f"{len(ends)} mutants, {1 - unnoticed / max(1, len(ends)):.1%} noticed;"
        f" {equal} cannot change a result; of the others {share:.1%} noticed"
    )
    print(
        f"{len(missing)} unnoticed without a reason in {os.path.relpath(REASONS, ROOT)}"
    )
    return int(share < GOAL or bool(missing))


if __name__ == "__main__":
    sys.exit(main())
