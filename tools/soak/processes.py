"""Processes of the soak test: the command line in a child, with a fault or with limits of the system, and the state that it leaves."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from harness.cli.main import main
from harness.files.readable import DAMAGED
from tools.soak.faults import Fault, install

TEMPORARY = (".lock", ".tmp")


@dataclass(frozen=True)
class Limits:
    """Limits of a process: size of a file and further memory in bytes, number of open files; None: none."""

    file_bytes: int | None = None
    memory: int | None = None
    descriptors: int | None = None

    def apply(self) -> None:
        """Set the limits in this process."""
        if self.file_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.file_bytes, self.file_bytes))
        if self.memory is not None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limit = pages * resource.getpagesize() + self.memory
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        if self.descriptors is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))


@dataclass(frozen=True)
class End:
    """How a process ended: its exit status (negative: a signal) and what it printed."""

    code: int
    text: str
    seconds: float = 0.0

    @property
    def is_orderly(self) -> bool:
        """True for an end that the documentation names: no traceback, no exit status of a bug, no crash in compiled code."""
        crashed = self.code in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)
        return "Traceback" not in self.text and self.code != 3 and not crashed


class Child:
    """The command line in a forked process: the modules are loaded, no run has taken place in it."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        *,
        fault: Fault | None = None,
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._output = folder / f".output-{time.monotonic_ns()}"
        self._output.touch()  # a signal may end the child before its first line
        self._started = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setpgid(0, 0)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                os.chdir(folder)
                os.environ.update(environment or {})
                file = os.open(self._output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
                os.dup2(file, 1)
                os.dup2(file, 2)
                os.close(file)
                code = self._work(list(arguments), fault, limits or Limits())
            except BaseException as error:  # the child never returns into the loop of its parent
                os.write(2, f"Traceback: outside the command line: {error!r}".encode())
                code = 3
            os._exit(code)

    @staticmethod
    def _work(arguments: list[str], fault: Fault | None, limits: Limits) -> int:
        limits.apply()
        counter = install(fault) if fault else None
        code = main(arguments)
        if counter is not None and fault is not None and fault.kind == "count":
            os.write(2, f"\nmodules {' '.join(sys.modules)}\ncalls {counter.calls}".encode())
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return code

    def wait(self, seconds: float = 900.0) -> End:
        """Return the end of the process; one that takes longer is killed and counts as a crash."""
        until = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > until:
                os.killpg(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                return End(-signal.SIGABRT, f"no end within {seconds:g} s", seconds)
            time.sleep(0.005)
        text = self._output.read_text(encoding="utf-8", errors="replace")
        self._output.unlink()
        return End(os.waitstatus_to_exitcode(status), text, time.monotonic() - self._started)

    def send(self, number: int) -> None:
        """Send a signal to the process, unless it has ended."""
        try:
            os.kill(self.pid, number)
        except OSError as error:
            if error.errno != errno.ESRCH:
                raise


def whole_process(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the command line as a user does, in a new interpreter."""
    command = [sys.executable, "-m", "harness.cli.main", *arguments]
    return subprocess.Popen(command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def state(folder: Path) -> dict[str, str]:
    """Return the files of a run and the hash of each, without what tells times: the log, ``seconds`` of results, measured rates.

    ``comparisons.json`` is left out: other verbs write it.
    """
    files: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and path.name not in ("log.jsonl", "comparisons.json"):
            data = path.read_bytes()
            if path.name == "results.json":
                data = json.dumps(without_times(json.loads(data)), sort_keys=True).encode()
            elif path.suffix == ".npz":
                data = _arrays(data)
            files[name] = hashlib.sha256(data).hexdigest()
    return files


def _arrays(data: bytes) -> bytes:
    """Return the arrays of an artifact but its times, and the checksum over all; the data itself when it is damaged."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            arrays = [(name, stored[name]) for name in sorted(stored.files) if name not in ("seconds", "rate", "sha256")]
    except DAMAGED:
        return data
    return b"".join(f"{name} {a.dtype} {a.shape} ".encode() + a.tobytes() for name, a in arrays)


def without_times(value: object) -> object:
    """Return a JSON value without its keys ``seconds`` and ``per_second``, and the ``checksum`` over them."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in ("seconds", "per_second", "captions_per_second", "checksum")}
    return [without_times(item) for item in value] if isinstance(value, list) else value


@dataclass
class Tally:
    """Counts of one scenario."""

    tried: int = 0
    interrupted: int = 0
    """Processes that the fault ended."""
    refused: int = 0
    """Ends in one line that the documentation names, of a process with a fault."""
    problems: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the counts of another process."""
        self.tried += other.tried
        self.interrupted += other.interrupted
        self.refused += other.refused
        self.problems += other.problems
