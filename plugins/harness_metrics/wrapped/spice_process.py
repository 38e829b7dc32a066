"""The SPICE program as a process that serves requests, so that its models are loaded
once.

The program itself scores one file and exits. Two small Java classes, compiled once
into the cache, turn it into a server: ``Serve`` calls it for every file named on
standard input, and ``PassThrough`` replaces the JavaScript engine that Java 15
removed (the program formats its JSON with it). Parses are stored in a temporary
folder for the life of the process, so that each text is parsed once. The process ends
on ``close``, when its object is collected, and when Python exits, since its standard
input then ends.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

import numpy as np

from caption_kernels.coco.spice import ENGINE
from harness.errors import HarnessError, MissingExtra
from harness.files.announcements import announce
from harness.files.checksums import find_damage, list_of, record_checksums
from harness.files.user_path import cache_folder
from harness_metrics.tokenisers.java_runtime import LINE_BREAKS, drain, end

_log = logging.getLogger(__name__)
KINDS = ("All", "Object", "Attribute", "Relation", "Cardinality", "Color", "Size")
"""Kinds of tuples by the program's names: all of them, then its categories."""
PAIRS_PER_REQUEST = 1024
"""Largest number of pairs per request; bounds the program's memory, which holds the
scene graphs of one request.
"""
Pair = tuple[str, Sequence[str]]
"""A candidate and its references."""

SOURCES = {
    "Serve": Path(__file__).parent / "java" / "Serve.java",
    "PassThrough": ENGINE,
}
"""Class -> its source."""


def compile_classes(program: Path) -> Path:
    """Return the folder of the two classes; compile them against ``program``,
    the SPICE jar, on first use.

    Processes may compile at the same time. Damaged classes are compiled again. Raises
    :class:`MissingExtra` without javac, :class:`HarnessError` when the compiler fails.
    """
    sources = b"".join(path.read_bytes() for path in SOURCES.values())
    key = hashlib.sha256(sources).hexdigest()[:12]
    folder = cache_folder("spice") / f"classes-{key}"
    if folder.is_dir():
        if not _is_damaged(folder):
            return folder
        if list_of(folder).is_file():
            _log.warning("note: %s is damaged; it is compiled again", folder)

    javac = shutil.which("javac")
    if javac is None:
        raise MissingExtra(
            "metric 'spice' needs javac, the Java compiler, "
            "for its first run (install a JDK, such as openjdk-17-jdk-headless)"
        )

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        work = Path(temporary) / "classes"
        services = work / "META-INF" / "services"
        services.mkdir(parents=True)
        (services / "javax.script.ScriptEngineFactory").write_text("PassThrough\n")

        options = ["--release", "8", "-nowarn"]
        paths = ["-cp", str(program), "-d", str(work)]
        line = [javac, *options, *paths, *map(str, SOURCES.values())]
        compiler = subprocess.run(
            line, capture_output=True, text=True, errors="replace", check=False
        )
        if compiler.returncode:
            raise HarnessError(
                "metric 'spice': javac failed on the server classes: "
                f"{one_line(compiler.stderr)}"
            )

        # renamed as a whole: another process sees all classes or none
        record_checksums(work)
        try:
            if folder.is_dir() and _is_damaged(folder):
                folder.rename(Path(temporary) / "damaged")
            work.rename(folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process was faster
                raise
    return folder


def _is_damaged(folder: Path) -> bool:
    """Return True for classes that are not as they were compiled,
    or have no checksums.
    """
    try:
        return find_damage(folder) is not None
    except FileNotFoundError:
        return True


class SpiceProcess:
    """A running SPICE program; requests are served one at a time.

    Parameters
    ----------
    command : sequence of str
        Command line of the serving program.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="spice-")
        self._store = Path(self._folder.name, "parses")
        self._store.mkdir()

        self._stderr_lines: deque[str] = deque(maxlen=30)
        self._lock = threading.Lock()
        self._served = False
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

        # standard error is read at once: a full pipe would stop the program
        self._reader = threading.Thread(
            target=drain, args=(self._process.stderr, self._stderr_lines), daemon=True
        )
        self._reader.start()
        self.close = weakref.finalize(self, _end, self._process, self._folder)

    @property
    def alive(self) -> bool:
        """True while the process runs and is not closed."""
        return self.close.alive and self._process.poll() is None

    def evaluate(self, pairs: Sequence[Pair]) -> np.ndarray:
        """Return the F-scores of K pairs of a candidate and its references by
        :data:`KINDS`, shape (K, 7), in [0, 1].

        A pair without tuples scores 0 in the first column, and is NaN in those of the
        categories that neither text has a tuple of. Raises :class:`HarnessError` when
        the program fails.
        """
        blocks = [
            pairs[first : first + PAIRS_PER_REQUEST]
            for first in range(0, len(pairs), PAIRS_PER_REQUEST)
        ]
        with self._lock:
            return np.concatenate(
                [np.empty((0, len(KINDS))), *map(self._request, blocks)]
            )

    def _request(self, pairs: Sequence[Pair]) -> np.ndarray:
        """Return the scores (K, 7) of the pairs of one request."""
        rows = [
            {
                "image_id": index,
                "test": LINE_BREAKS.sub(" ", text),
                "refs": [LINE_BREAKS.sub(" ", r) for r in references],
            }
            for index, (text, references) in enumerate(pairs)
        ]

        source = Path(self._folder.name, "in.json")
        target = Path(self._folder.name, "out.json")
        source.write_text(json.dumps(rows), encoding="ascii")
        target.unlink(missing_ok=True)

        note = nullcontext()
        if not self._served:
            note = announce("SPICE: starting Java and loading its parser")
        with note:
            self._ask(source, self._store, target)
        self._served = True

        try:
            answer = json.loads(target.read_text(encoding="utf-8", errors="replace"))
            by_index = {
                row["image_id"]: [row["scores"][kind]["f"] for kind in KINDS]
                for row in answer
            }
            in_order = [by_index[index] for index in range(len(rows))]
            scores = np.array(in_order, dtype=np.float64)
        except (OSError, ValueError, TypeError, KeyError) as error:
            self.close()
            event = f"returned no scores ({type(error).__name__})"
            raise HarnessError(self._failure(event)) from error

        scores[:, 0] = np.nan_to_num(scores[:, 0])
        return scores

    def _ask(self, *files: Path) -> None:
        """Send the paths of one request and wait for its end; raise
        :class:`HarnessError` when the program ends instead.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        # the program has ended; the missing answer is handled below
        with suppress(OSError, ValueError):
            self._process.stdin.write("".join(f"{file}\n" for file in files).encode())
            self._process.stdin.flush()

        try:
            answer = self._process.stdout.readline()
        except BaseException:
            # after an interrupt the answer would be read by the next request
            self.close()
            raise

        if answer.strip() != b"done":
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            self._reader.join(5)
            message = self._failure(
                f"ended during a request (exit code {self._process.poll()})"
            )
            self.close()
            raise HarnessError(message)

    def _failure(self, event: str) -> str:
        """Return an error message with the first error on standard error,
        or its last line.
        """
        lines = list(self._stderr_lines)
        cause = next(
            (line for line in lines if "Exception" in line or "Error" in line),
            lines[-1] if lines else "",
        )
        return (
            f"metric 'spice': the Java program {event}: "
            f"{one_line(cause) or 'no output on standard error'}"
        )


def one_line(text: str) -> str:
    """Return the last 400 characters of a text, on one line."""
    return " ".join(text.split())[-400:]


def _end(
    process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]
) -> None:
    """End a process and delete its folder."""
    end(process)
    folder.cleanup()
