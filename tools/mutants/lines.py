"""The fast tests that execute a line: ``python -m tools.mutants.lines`` records them
once for all mutants.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / ".mutants"
DATA = "lines.sqlite"
SECONDS = "seconds.json"


class Recorder:
    """A pytest plugin: the lines that each test executes,
    and the CPU seconds of the tests that pass.
    """

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        self._failed: set[str] = set()
        self._folder = folder
        measured = [str(ROOT / name) for name in ("harness", "plugins", "adapters")]
        self._coverage = coverage.Coverage(
            data_file=str(folder / DATA), source_dirs=measured
        )
        # The record is read for a copy of the sources too.
        self._coverage.set_option("run:relative_files", True)
        self._coverage.erase()
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record what the test and its fixtures execute under its name."""
        self._coverage.switch_context(item.nodeid)
        before = time.process_time()
        result = yield
        if item.nodeid not in self._failed:
            self.seconds[item.nodeid] = round(time.process_time() - before, 3)
        self._coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the tests that fail or are skipped."""
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write both files."""
        self._coverage.stop()
        self._coverage.save()
        (self._folder / SECONDS).write_text(json.dumps(self.seconds))


class ExecutedLines:
    """The record: the tests of a line, those nearest to the file and quickest first."""

    def __init__(self, folder: Path) -> None:
        self._seconds: dict[str, float] = json.loads((folder / SECONDS).read_text())
        self._data = coverage.CoverageData(basename=str(folder / DATA))
        self._data.read()

    def seconds(self, test: str) -> float:
        """Return the CPU seconds of a test while its lines were recorded."""
        return self._seconds[test]

    def covered(self, path: str) -> set[int]:
        """Return the lines of a file that a test executes."""
        contexts = self._data.contexts_by_lineno(path)
        return {
            line
            for line, names in contexts.items()
            if any(name in self._seconds for name in names)
        }

    def find_tests(self, path: str, line: int, seconds: float) -> list[str]:
        """Return the tests that execute a line, the nearest and quickest first, of at
        most so many CPU seconds in all.

        All tests of its module are among them: a result that is cached is computed in
        the first test alone. A line that imports execute (a constant, a default value)
        has the tests that execute a function of its file, and in a file without
        functions the tests of its module and folder: an import is recorded for the
        first test alone.
        """
        contexts = self._data.contexts_by_lineno(path)
        inside = _find_function_lines(path)
        statement = max((number for number in contexts if number <= line), default=line)
        lines = inside
        if line in inside:
            lines = {line if contexts.get(line) else statement}

        module = Path("tests", re.sub(r"/harness_\w+/", "/", path))
        names = {
            name for number in lines for name in contexts.get(number, []) if name
        } & self._seconds.keys()
        names |= {
            test
            for test in self._seconds
            if _distance(test, module) < (1 if names else 2)
        }

        # The nearest tests come first, then the quickest.
        chosen: list[str] = []
        for test in sorted(
            names, key=lambda test: (_distance(test, module), self._seconds[test], test)
        ):
            seconds -= self._seconds[test]
            if seconds >= 0:
                chosen.append(test)

        return chosen


@cache
def _find_function_lines(path: str) -> set[int]:
    """Return the lines inside the bodies of functions."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {
        number
        for node in functions
        for number in range(node.body[0].lineno, (node.end_lineno or 0) + 1)
    }


def _distance(test: str, module: Path) -> int:
    """Return 0 for the tests of a module, 1 for those of its folder,
    2 for all others.
    """
    file = Path(test.partition("::")[0])
    return (
        2 if file.parent != module.parent else int(file.name != f"test_{module.name}")
    )


def main() -> int:
    """Run the fast tests and write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "tests", nargs="*", help="test modules or folders (default: all)"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the record")
    args = parser.parse_args()
    folder = args.out.absolute()
    folder.mkdir(exist_ok=True)
    os.chdir(ROOT)
    options = [
        "-q",
        "-n",
        "0",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        "--assert=plain",
    ]
    return int(pytest.main([*options, *args.tests], plugins=[Recorder(folder)]))


if __name__ == "__main__":
    sys.exit(main())
