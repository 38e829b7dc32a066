"""Test the tests of the kernels: ``python -m tools.kernel_mutants``,
or ``make kernel-mutants``.

Small changes of the C++ in ``kernels/core`` are drawn with a seed, in proportion to the
lines of code of the files. A change that does not compile is drawn again. Each is built
in a copy of the sources, ``.mutants/kernels-K``, whose other object files are kept, and
the fast tests of the kernels run against it: first those of its area, then the test
vectors, then the others. A mutant is noticed when a test fails, crashes, or takes far
more time or memory than without the change.

``.mutants/kernels.jsonl`` keeps the results, so that a run continues; with ``--retry``
mutants that nothing noticed are tried again. ``tests/mutation/equivalent_kernels.json``
says of such mutants why they cannot change a result. The exit status is 1 when one is
missing there, or fewer than 95 % of those that can change a result are noticed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tools.cpp_mutants import Mutant, in_order, quotas, read

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / ".mutants"
RESULTS = OUT / "kernels.jsonl"
REASONS = ROOT / "tests" / "mutation" / "equivalent_kernels.json"
TESTS = ROOT / "tests" / "kernels"
GOAL = 0.95
SOURCES = ("CMakeLists.txt", "cmake", "include", "core", "binding")
PRELOADED = (
    "numpy",
    "hypothesis",
    "hypothesis.strategies",
    "hypothesis.extra.numpy",
    "pytest",
)
"""Modules of others that the tests import, loaded once."""
AREAS = (
    ("math", "math"),
    ("ptb|code_points", "ptb"),
    ("stemmer", "stem"),
    ("meteor_(lexicon|paraphrases)", "file_format|installed", "meteor"),
    ("meteor_normalise", "normaliser", "meteor"),
    ("meteor|key_map|runs", r"meteor(\.|_score|_texts)", "meteor_align"),
    ("bleu|cider|rouge|local_texts", "ngram|best"),
    ("", "text_index|ngram|best"),
)
"""Beginnings of the names of sources, and of those of the tests of their area, the
quick ones first; the first row that fits counts.
"""
NOT_OF_THE_CORE = re.compile(
    r"stub|engine|spice|threads|generate|formula|certify|meteor_search"
)
"""Tests of the installation, of Python programs, or of the readable versions alone."""
MIB = 1 << 20


class Workshop:
    """A copy of the sources in which one mutant after another is built and tested."""

    def __init__(self, number: int) -> None:
        self.folder = OUT / f"kernels-{number}"
        self._measured: dict[str, float] = {}
        self._copy()
        # Places beyond the end of a vector end the program, as under the sanitizers.
        with (self.folder / "CMakeLists.txt").open("a") as file:
            file.write(
                "target_compile_definitions(caption_kernels_core PRIVATE "
                "_GLIBCXX_ASSERTIONS)\n"
            )
        # As installed, but compiled faster; the hash of the sources stays, so that the
        # binding is not compiled again.
        (self.folder / "cmake" / "build_hash.cmake").write_text(
            'if(NOT EXISTS "${OUTPUT}")\n  file(WRITE "${OUTPUT}" "#define '
            'CK_BUILD_HASH \\"mutant\\"\\n")\nendif()\n'
        )

        import nanobind

        options = [
            "-DSKBUILD=1",
            f"-Dnanobind_DIR={nanobind.cmake_dir()}",
            f"-DPython_EXECUTABLE={sys.executable}",
        ]
        flags = [
            "-G",
            "Ninja",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
        ]

        self._run(
            [
                "cmake",
                "-S",
                str(self.folder),
                "-B",
                str(self.folder / "build"),
                *flags,
                *options,
            ]
        )

        if not self.build():
            raise SystemExit("the kernels do not compile without a change")
        self.extension = next((self.folder / "build").glob("_compiled*.so"))
        self.unchanged = Path(shutil.copy(self.extension, self.folder / "unchanged.so"))

    def _copy(self) -> None:
        wanted = [
            p
            for s in SOURCES
            for p in [ROOT / "kernels" / s, *(ROOT / "kernels" / s).rglob("*")]
            if p.is_file()
        ]
        for path in wanted:
            copy = self.folder / path.relative_to(ROOT / "kernels")
            copy.parent.mkdir(parents=True, exist_ok=True)
            content = (
                read(path.name).encode()
                if path.parent.name == "core" and path.suffix != ".inc"
                else path.read_bytes()
            )
            if path.name != "build_hash.cmake" and (
                not copy.is_file() or copy.read_bytes() != content
            ):
                copy.write_bytes(content)

    def _run(self, command: Sequence[str]) -> bool:
        variables = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        return (
            subprocess.run(
                command, env=variables, capture_output=True, check=False
            ).returncode
            == 0
        )

    def build(self) -> bool:
        """Compile what has changed; return whether it compiles."""
        return self._run(["ninja", "-C", str(self.folder / "build"), "-j", "1"])

    def attempt(self, mutant: Mutant) -> dict[str, object] | None:
        """Return the result of a mutant, or None when it does not compile."""
        path = self.folder / "core" / mutant.path
        path.write_text(mutant.code, encoding="utf-8")
        try:
            if not self.build():
                return None

            end = "unnoticed"
            by = ""
            for tests in stages(mutant.path):
                limit = 2 * sum(map(self._seconds, tests)) + 5
                usable = [test for test in tests if self._seconds(test)]
                code, last = (
                    self._test(usable, int(limit), self.extension)
                    if usable
                    else (0, "")
                )
                if code != 0:
                    end = "noticed"
                    by = last or f"status {code}"
                    break

            return {
                "key": mutant.key,
                "end": end,
                "by": by,
                "line": mutant.line,
                "name": mutant.name,
            }
        finally:
            path.write_text(mutant.source, encoding="utf-8")

    def _seconds(self, test: str) -> float:
        """Return the CPU seconds of a test module without a change; 0 for one that
        fails then, which is left out.
        """
        if test not in self._measured:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            code, last = self._test([test], 300, self.unchanged)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self._measured[test] = used if code == 0 else 0.0
            print(
                f"{used:.1f} s {test}"
                if code == 0
                else f"left out: {test} ends with {code}: {last}",
                flush=True,
            )
        return self._measured[test]

    def _test(
        self, tests: Sequence[str], cpu_seconds: int, extension: Path
    ) -> tuple[int, str]:
        """Run test modules in a child process; return its exit status, negative for a
        signal, and the test that failed.
        """
        log = self.folder / "tests.txt"
        child = os.fork()
        if child == 0:
            try:
                os.setpgid(0, 0)
                resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
                resource.setrlimit(resource.RLIMIT_AS, (6000 * MIB, 6000 * MIB))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(output, 1)
                os.dup2(output, 2)
                os._exit(run_tests(tests, extension, self.folder / "scratch"))
            except BaseException as error:
                # the child never returns into the loop of its parent
                os.write(2, repr(error).encode())
                os._exit(70)
        code = wait(child, 60.0 * cpu_seconds)  # the machine may have much to do beside

        failed = [
            line
            for line in log.read_text(errors="replace").splitlines()
            if line.startswith(("FAILED", "ERROR"))
        ]
        return code, failed[0].split(" ")[1].removeprefix(
            "tests/kernels/"
        ) if failed else ""


def run_tests(tests: Sequence[str], extension: Path, scratch: Path) -> int:
    """Run test modules in this process with another extension."""
    import pytest
    from hypothesis import HealthCheck, Phase, settings

    name = "caption_kernels._compiled"
    spec = importlib.util.spec_from_file_location(name, extension)
    assert spec is not None and spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    # As the profile `fast` of conftest.py, without memory and without the search for
    # the smallest example.
    profile = settings(database=None, derandomize=True, deadline=None, max_examples=20)
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    settings.register_profile(
        "mutants",
        profile,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=checks,
    )
    # Plugins of the environment take longer to import than the tests run.
    os.environ |= {
        "HYPOTHESIS_PROFILE": "mutants",
        "CAPTION_KERNELS": "compiled",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    # The vectors of the readable version do not run the extension.
    chosen = ["-m", "not slow and not java", "-k", "not caption_kernels_reference"]
    options = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "--tb=line",
        f"--basetemp={scratch}",
        *chosen,
    ]
    return int(pytest.main([*options, *tests]))


def wait(child: int, seconds: float) -> int:
    """Return the exit status of a child; kill its process group after ``seconds``."""
    until = time.monotonic() + seconds
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        time.sleep(0.05)


def stages(path: str) -> list[list[str]]:
    """Return the test modules for a source: those of its area, the vectors,
    the others.
    """
    patterns = [
        *next(row[1:] for row in AREAS if re.match(row[0], path)),
        "vectors",
        "",
    ]
    left = [
        p.name
        for p in sorted(TESTS.glob("test_*.py"))
        if not NOT_OF_THE_CORE.search(p.name)
    ]
    result: list[list[str]] = []
    for pattern in patterns:
        found = [name for name in left if re.match(rf"test_({pattern})", name)]
        left = [name for name in left if name not in found]
        result += [[f"tests/kernels/{name}" for name in found]] if found else []
    return result


def earlier() -> dict[str, dict[str, str]]:
    """Return the last result of each mutant by its key."""
    lines = (
        RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.is_file() else []
    )
    return {item["key"]: item for item in map(json.loads, lines)}


def reasons() -> dict[str, str]:
    """Return why mutants that no test notices cannot change a result."""
    return json.loads(REASONS.read_text(encoding="utf-8")) if REASONS.is_file() else {}


def drawn(path: str, count: int, seed: int) -> Iterator[tuple[Mutant, dict[str, str]]]:
    """Yield the mutants of a file with their results so far,
    without those that do not compile.
    """
    known = earlier()
    for mutant in in_order(path, seed):
        result = known.get(mutant.key, {})
        if count > 0 and result.get("end") != "broken":
            yield mutant, result
            count -= (earlier() if not result else known).get(mutant.key, {}).get(
                "end"
            ) != "broken"


def run_files(number: int, quota: dict[str, int], seed: int, retry: bool) -> None:
    """Run the mutants of some files that have no result yet;
    with ``retry`` again those that nothing noticed.
    """
    for name in PRELOADED:
        importlib.import_module(name)
    os.chdir(ROOT)

    workshop: Workshop | None = None
    for path, count in quota.items():
        for mutant, result in drawn(path, count, seed):
            if mutant.name in reasons() or (
                result and not (retry and result["end"] == "unnoticed")
            ):
                continue
            workshop = workshop or Workshop(number)

            start = time.monotonic()
            new = workshop.attempt(mutant) or {
                "key": mutant.key,
                "end": "broken",
                "name": mutant.name,
            }

            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(new) + "\n")
            print(
                f"{new['end']:<9} {time.monotonic() - start:4.0f} s  line "
                f"{mutant.line} {mutant.name}  {new.get('by', '')}",
                flush=True,
            )


def summary(quota: dict[str, int], seed: int) -> int:
    """Print what was noticed, by file, and what was not; return the exit status."""
    known = reasons()
    total = [0, 0, 0, 0]
    for path, count in quota.items():
        counts = [0, 0, 0, 0]  # noticed, equivalent, open, not run yet
        for mutant, result in drawn(path, count, seed):
            end = result.get("end")
            if end == "noticed":
                kind = 0
            elif mutant.name in known:
                kind = 1
            else:
                kind = 2 if end else 3
            counts[kind] += 1
            if kind == 2:
                print(f"unnoticed, without a reason: line {mutant.line} {mutant.name}")
        print(
            f"{path:<28} {counts[0]:>3} noticed, {counts[1]:>2} cannot change a "
            f"result, {counts[2]:>2} open, {counts[3]:>3} to run"
        )
        total = [one + other for one, other in zip(total, counts)]

    share = total[0] / max(1, total[0] + total[2])
    print(
        f"{sum(total)} mutants: {total[0]} noticed, "
        f"{total[1]} cannot change a result, {total[2]} open; "
        f"{share:.1%} of those that matter"
    )
    return int(share < GOAL or total[2] > 0 or total[3] > 0)


def main() -> int:
    """Run the mutants; return 1 when too many are unnoticed,
    or one without a reason.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--count", type=int, default=200, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        help="number of processes, each with a copy of the sources",
    )
    parser.add_argument(
        "--retry", action="store_true", help="try those again that nothing noticed"
    )
    parser.add_argument(
        "--report", action="store_true", help="run nothing; print the results so far"
    )
    parser.add_argument("--files", nargs="*", help="only mutants of these files")
    args = parser.parse_args()

    OUT.mkdir(exist_ok=True)
    quota = {
        path: count
        for path, count in quotas(args.count).items()
        if not args.files or path in args.files
    }

    if not args.report:
        parts = [dict(list(quota.items())[k :: args.jobs]) for k in range(args.jobs)]
        with ProcessPoolExecutor(args.jobs, get_context("fork")) as pool:
            list(
                pool.map(
                    partial(run_files, seed=args.seed, retry=args.retry),
                    range(args.jobs),
                    parts,
                )
            )
    return summary(quota, args.seed)


if __name__ == "__main__":
    sys.exit(main())
