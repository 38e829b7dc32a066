"""The command line in a forked process: the modules are loaded,
no run has taken place in it.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cli.main import main
from harness.errors import HarnessError
from harness.run.finished import Run
from harness.rundir.format import plain
from tools.soak.power import keep_disk
from tools.soak.shim import POWER_CUT, Fault, SharedPage, arm

LOOK = "look"
"""Verb of this module: open a finished run as a reader does, and print what it holds.
"""
TIMES = ("seconds", "per_second", "checksum", "costs")
"""Keys of results that no two runs have in common."""
SECONDS = 60.0
"""Time after which a command counts as hanging; it takes tenths of a second."""
LIMITS = ("few descriptors", "little memory", "small files", "jumping clock")
"""Faults of a whole process: a number of open files, further memory in units of 64 KiB,
the size of a file in bytes; a clock that jumps by up to ten years, back and forth.
"""


@dataclass(frozen=True)
class End:
    """The end of a command: its exit status (negative: a signal) and its output."""

    code: int
    text: str
    """Standard error and standard output."""
    output: str = ""
    """Standard output."""
    calls: int = 0
    """Calls that changed the file system."""
    struck: str = ""
    """The call that the fault struck."""
    hung: bool = False

    @property
    def problem(self) -> str:
        """Properties of this end that the documentation does not name; empty for
        success, one line with exit 2, failed examples, a fault.
        """
        if self.hung:
            return "hang"
        if "Traceback" in self.text or self.code in (
            3,
            -signal.SIGSEGV,
            -signal.SIGABRT,
            -signal.SIGBUS,
        ):
            return "traceback"
        return ""

    @property
    def line(self) -> str:
        """The last lines of the output."""
        at = self.text.find("Traceback")
        return (
            self.text[max(0, at - 200) : at + 3000]
            if at >= 0
            else " ".join(self.text.split())[-500:]
        )


class Command:
    """One command in a process of its own, which a fault may kill,
    stop or starve of space.

    Parameters
    ----------
    arguments : sequence of str
        Command line.
    cwd : Path
        Working directory.
    below : Path
        Folder whose changes are counted and disturbed.
    fault : Fault, optional
        Default: none.
    answers : str
        Setting of the answers that runs share.
    modules : Path, optional
        File for the names of the modules that the process has loaded in the end.
    cache : Path, optional
        Folder of caches; default: that of the workshop.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        cwd: Path,
        below: Path,
        fault: Fault | None = None,
        *,
        answers: str = "none",
        modules: Path | None = None,
        cache: Path | None = None,
    ) -> None:
        self.fault = fault or Fault()
        self.kept = below.parent / f".disk-{below.name}"
        """The content of the disk at a power cut (:mod:`power`)."""
        self._page = SharedPage()
        self._streams = [
            below.parent / f".{name}-{time.monotonic_ns()}"
            for name in ("output", "errors")
        ]
        for stream in self._streams:
            stream.touch()
        self.pid = os.fork()
        if self.pid == 0:
            os.environ["HARNESS_ANSWERS"] = answers
            if cache is not None:
                os.environ["HARNESS_CACHE"] = str(cache)
            self._run(list(arguments), cwd, below, modules)

    def _run(
        self, arguments: list[str], cwd: Path, below: Path, modules: Path | None
    ) -> None:
        code = 3
        try:
            os.setpgid(0, 0)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
                signal.signal(number, signal.SIG_DFL)
            os.chdir(cwd)
            for descriptor, stream in enumerate(self._streams, 1):
                os.dup2(os.open(stream, os.O_WRONLY | os.O_APPEND), descriptor)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            cuts_power = self.fault.kind == POWER_CUT
            if cuts_power:
                keep_disk(below, self.kept)
            arm(below, self.fault, self._page, self.kept if cuts_power else None)
            limit(self.fault)
            code = look(arguments[1]) if arguments[0] == LOOK else main(arguments)
            sys.stdout.flush()
            if modules is not None:
                modules.write_text(" ".join(sys.modules))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 2
        except BaseException as error:
            # the child never returns into the loop of its parent
            os.write(2, f"Traceback: outside the command line: {error!r}".encode())
        finally:
            _end_threads()
            os._exit(code)

    def has_ended(self) -> bool:
        """True for a process that has ended."""
        return (
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            is not None
        )

    def waits_for_signal(self) -> bool:
        """Wait until the process stops (True) or ends (False)."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            state = os.waitid(
                os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG
            )
            if state is not None:
                return state.si_code == os.CLD_STOPPED
            time.sleep(0.003)
        return False

    def send(self, number: int) -> None:
        """Send a signal to the process; one that has ended gets none."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self, seconds: float = SECONDS) -> End:
        """Return the end of the process; one that takes longer is killed."""
        until = time.monotonic() + seconds
        hung = False
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > until:
                hung = True
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.003)
        # children that it has left
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        output, errors = (
            stream.read_text(encoding="utf-8", errors="replace")
            for stream in self._streams
        )
        for stream in self._streams:
            stream.unlink()
        return End(
            os.waitstatus_to_exitcode(status),
            errors + output,
            output,
            self._page.calls,
            self._page.struck,
            hung,
        )


def _end_threads() -> None:
    """Wait for threads as an interpreter does that ends:
    METEOR's lexicon is stored in one.
    """
    try:
        getattr(threading, "_shutdown")()  # noqa: B009
    except BaseException as error:  # SIGTERM meanwhile
        os.write(2, f"harness: {type(error).__name__} while threads end".encode())


def limit(fault: Fault) -> None:
    """Set the limits of a fault in this process."""
    if fault.kind == "few descriptors":
        resource.setrlimit(resource.RLIMIT_NOFILE, (fault.at, fault.at))
    elif fault.kind == "little memory":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + fault.at * 65536
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    elif fault.kind == "small files":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault.at, fault.at))
    elif fault.kind == "jumping clock":
        generator = random.Random(fault.at)
        real = time.time
        time.time = lambda: (
            real()
            + generator.choice(
                (0.0, 0.0, -3600.0, 86400.0, generator.uniform(-3e8, 3e8))
            )
        )
        time.time_ns = lambda: int(time.time() * 1e9)


def look(path: str) -> int:
    """Print results, failures and samples of a finished run as JSON, without times; one
    line and 2 where there is none.
    """
    try:
        run = Run.open(path)
        values = {
            "digest": run.provenance.digest,
            "results": run.results,
            "failed": dict(run.failed),
            "samples": run.samples.to_dict(),
        }
    except (HarnessError, OSError) as error:  # as the command line reports them
        print(f"harness: {error}", file=sys.stderr)
        return 2
    print(json.dumps(without_times(plain(values)), sort_keys=True))
    return 0


def without_times(value: object) -> object:
    """Return a JSON value without the keys :data:`TIMES`."""
    if isinstance(value, dict):
        return {
            key: without_times(item) for key, item in value.items() if key not in TIMES
        }
    return [without_times(item) for item in value] if isinstance(value, list) else value
