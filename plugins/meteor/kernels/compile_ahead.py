"""Compilation of METEOR's kernels in a second process, while this one reads data, tokenises or builds the lexicon.

numba compiles one function at a time and holds the interpreter lock meanwhile: about ten seconds for METEOR, once per machine. A second
process leaves the machine code in numba's cache, where this process finds it. A marker file in the cache folder records that the code is
there. If the marker is wrong or the second process fails, the kernels are compiled in this process.

    python -m harness.plugins.meteor.kernels.compile_ahead
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import logging
import os
import platform
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from threading import Lock

import numpy as np

from harness.plugins.compiled.cache_keys import source_stamp
from harness.plugins.meteor.kernels import SOURCES
from harness.plugins.meteor.lexicon.disk_cache import cache_root, path_exists
from harness.plugins.meteor.lexicon.lexicon import Lexicon
from harness.plugins.meteor.lexicon.paraphrases import ParaphraseTable
from harness.plugins.meteor.score import N_STATISTICS
from harness.plugins.meteor.texts import TextTable, WordTable

log = logging.getLogger("harness.plugins.meteor")

_TIMEOUT = 300
"""Seconds after which the second process is killed."""
_starting = Lock()


def marker_path() -> Path:
    """Return the path of the marker file; its name depends on the sources, numba, Python, the processor and numba's settings."""
    settings = sorted((name, value) for name, value in os.environ.items() if name.startswith("NUMBA_"))
    version = metadata.version("numba")
    parts = (source_stamp(*SOURCES), version, sys.version, platform.machine(), platform.node(), sys.prefix, settings)
    return cache_root() / "meteor" / f"compiled-{hashlib.sha256(repr(parts).encode()).hexdigest()[:20]}"


def is_needed() -> bool:
    """Return True when no marker records that the kernels are compiled."""
    return not path_exists(marker_path()) and os.environ.get("NUMBA_DISABLE_JIT") != "1"


def start() -> subprocess.Popen[bytes] | None:
    """Start the second process, at most once per process, and return it; None when the marker exists or no process can be started."""
    with _starting:
        return _start()


@cache
def _start() -> subprocess.Popen[bytes] | None:
    if not is_needed() or not sys.executable:
        return None
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],  # -P: do not import modules of the working directory
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        log.info("METEOR: the second process for compilation cannot be started (%s)", error)
        return None
    atexit.register(process.kill)  # safe at any time: numba writes files under temporary names and renames them
    return process


def wait() -> None:
    """Wait for the second process, if there is one."""
    process = start()
    if process is None:
        return
    try:
        code = process.wait(_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    if code:
        log.info("METEOR: compilation in a second process ended with code %s; compiling in this process", code)


def write_marker() -> None:
    """Record that the kernels are compiled; a folder that is not writable is logged at level DEBUG."""
    path = marker_path()
    if not path_exists(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError as error:
            log.debug("%s cannot be written: %s", path, error)


def load_text_kernels() -> None:
    """Compile or load all kernels except the alignment."""
    from harness.plugins.meteor.kernels.pairs import score_rows  # numba

    TextTable(_empty_words()).intern(["a", "b"])
    score_rows(np.zeros((1, N_STATISTICS)))


def load_alignment() -> None:
    """Compile or load the alignment by a call without pairs; only the types of the arguments matter."""
    from harness.plugins.meteor.kernels import pairs  # numba

    starts, places = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    groups = pairs.Groups(starts, starts[:0], starts, places, places, starts[:0])
    texts = TextTable(_empty_words()).prepared()
    pairs.score_groups(0, 0, groups, texts, 0, 0, np.zeros(0), np.zeros((0, N_STATISTICS), dtype=np.int32))


def _empty_words() -> WordTable:
    empty = np.zeros(2, dtype=np.int32)
    empty.flags.writeable = False  # as memory-mapped arrays; numba compiles read-only arrays as a type of their own
    paraphrases = ParaphraseTable(empty, empty[:0], empty, empty[:0])
    return WordTable(Lexicon(frozenset(), {}, {}, {}, empty, empty[:0], 0, {}, paraphrases))


if __name__ == "__main__":
    gc.disable()  # compilation creates little garbage; collecting it takes a tenth of the time
    load_alignment()
    write_marker()
