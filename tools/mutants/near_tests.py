"""Test command of cosmic-ray: the fast tests that execute the line which is changed.

    python -m tools.mutants.near_tests

It runs in a copy of the sources (:mod:`tools.mutants.run`) of which cosmic-ray has
changed one place; the variable MUTANTS_OF names the folder of the original. The exit
status is 1 when a test fails, or takes far more time than it takes without the change.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from pathlib import Path

from tools.mutants import lines
from tools.mutants.processes import FAILED, PASSED, ROOT, run_tests

ORIGINAL = "MUTANTS_OF"
"""Variable of the environment: the folder whose copy is changed."""
RECORD = "MUTANTS_RECORD"
"""Variable of the environment: the folder of the record of executed lines."""
CHANGED = ("harness", "plugins", "adapters")
"""Folders of which a file may be changed."""
SECONDS = 90.0
"""CPU seconds of the tests of a change, at most; the quickest of all that execute the
line.
"""


def find_change(original: Path, copy: Path) -> tuple[str, int] | None:
    """Return file and line of the first difference between two trees of sources; None
    where there is none.
    """
    for folder in CHANGED:
        for path in sorted((original / folder).rglob("*.py")):
            name = path.relative_to(original)
            before = path.read_bytes()
            after = (copy / name).read_bytes()
            if before == after:
                continue
            pairs = itertools.zip_longest(before.splitlines(), after.splitlines())
            line = next(number for number, (a, b) in enumerate(pairs, 1) if a != b)
            return name.as_posix(), line
    return None


def notices(path: str, line: int, original: str, scratch: Path) -> bool:
    """Return True when a test that executes the line fails with the change.

    A test that fails without the change too, when it runs by itself, does not count.
    """
    executed = lines.ExecutedLines(Path(os.environ[RECORD]))
    tests = executed.find_tests(path, line, SECONDS)
    while tests:
        limit = int(3 * sum(map(executed.seconds, tests))) + 10
        if run_tests(tests, limit, None, scratch) in PASSED:
            return False

        output = scratch.with_suffix(".txt").read_text(errors="replace")
        named = FAILED.search(output)
        failed = [test for test in tests if named and named["test"].endswith(test)]
        if not failed:
            print(output[-2000:])
            return True

        limit = int(3 * executed.seconds(failed[0])) + 10
        if run_tests(failed, limit, (path, original), scratch) == 0:
            print(failed[0])
            return True
        print(f"left out: {failed[0]} fails unchanged")
        tests = [test for test in tests if test not in failed]
    return False


def main() -> int:
    """Return 1 when the change of the copy is noticed."""
    original = Path(os.environ[ORIGINAL])
    change = find_change(original, ROOT)
    if change is None:
        return 0
    path, line = change
    source = (original / path).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        return int(notices(path, line, source, Path(folder, "tmp")))


if __name__ == "__main__":
    sys.exit(main())
