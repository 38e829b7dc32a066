"""Tests against a changed source, in a process of their own;
the sources on disk stay as they are.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PASSED = (0, 5)
"""Exit statuses of pytest: no test fails, and no test is fast."""
HUNG = 120
"""Seconds after which a single fast test has hung."""
PRELOADED = (
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "hypothesis",
    "pydantic",
    "yaml",
    "pyarrow.parquet",
    "pandas",
)
"""Modules of others that every test imports, loaded once."""
FAILED = re.compile(
    r"^(?:FAILED|ERROR:? (?:not found: )?)(?P<test>.*?)(?: - .*)?$", re.MULTILINE
)
"""A test in the summary of pytest."""


INSTALL = """
import importlib.machinery

original = importlib.machinery.SourceFileLoader.get_code
target = {target!r}
source = {source!r}


def get_code(self, fullname):
    if self.path == target:
        return compile(source, target, "exec", dont_inherit=True)
    return original(self, fullname)


importlib.machinery.SourceFileLoader.get_code = get_code
"""
"""Program that lets the import system compile a source in place of the file ``target``.
"""


def install(path: str, code: str, folder: Path) -> None:
    """Let the import system compile ``code`` in place of the file ``path``, here and in
    programs that tests start.

    Those are reached by a module ``sitecustomize`` in ``folder``, which PYTHONPATH
    names first.
    """
    program = INSTALL.format(target=str(ROOT / path), source=code)
    exec(program, {})
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(program, encoding="utf-8")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(folder), os.environ.get("PYTHONPATH")))
    )


def run_tests(
    tests: Sequence[str],
    cpu_seconds: int,
    mutant: tuple[str, str] | None,
    scratch: Path,
) -> int:
    """Run test modules in a child process and return its exit status;
    negative for a signal.

    Its output goes beside ``scratch``.
    """
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
            output = os.open(
                scratch.with_suffix(".txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            )
            os.dup2(output, 1)
            os.dup2(output, 2)
            if mutant is not None:
                install(*mutant, scratch.with_suffix(".site"))
            os._exit(int(_pytest(tests, scratch)))
        except BaseException as error:
            # the child never returns into the loop of its parent
            os.write(2, repr(error).encode())
            os._exit(70)
    return _wait(child, 10.0 * cpu_seconds + 30)


def _pytest(tests: Sequence[str], scratch: Path) -> int:
    from hypothesis import settings

    settings.register_profile("mutants", database=None, derandomize=True, deadline=None)
    settings.load_profile("mutants")
    # pytest would rewrite the assertions of the package harness, which has a plugin of
    # it, from the file on disk.
    options = [
        "-x",
        "-q",
        "-n",
        "0",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        "--tb=line",
        "--assert=plain",
        f"--basetemp={scratch}",
    ]
    hung = [
        "-o",
        f"faulthandler_timeout={HUNG}",
        "-o",
        "faulthandler_exit_on_timeout=true",
    ]
    return pytest.main([*options, *hung, *tests])


def _wait(child: int, seconds: float) -> int:
    """Return the exit status of a child that leads a process group; kill the group when
    the child has ended, or after ``seconds``.
    """
    until = time.monotonic() + seconds
    pause = 0.01
    pid, status = os.waitpid(child, os.WNOHANG)
    while not pid and time.monotonic() < until:
        time.sleep(pause)
        pause = min(0.2, pause * 1.3)
        pid, status = os.waitpid(child, os.WNOHANG)
    # The child leaves by os._exit, which ends none of the processes that its tests
    # started. Its group is empty where they started none.
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status if pid else os.waitpid(child, 0)[1])
