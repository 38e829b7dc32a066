"""METEOR's kernels compiled ahead, by a process of their own, while this one reads, tokenises or builds the lexicon.

numba compiles one function at a time and holds the interpreter meanwhile (about ten seconds for METEOR, once per machine); a second
process leaves its machine code in numba's cache, from where this one takes it. A note beside the lexicon's cache remembers that the
code is there: where the note is wrong, or the other process fails, the kernels are compiled here as they would be without it.

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

from harness.plugins.compiled.cache_keys import source_stamp
from harness.plugins.meteor.lexicon.cache import cache_root, exists
from harness.run import progress

log = logging.getLogger(__name__)

_SOURCES = ("meteor_kernels.py", "meteor_groups.py", "meteor_search.py", "meteor_score.py")
_WAIT = 300  # seconds; a process that takes longer than this is of no use
_starting = Lock()


def note() -> Path:
    """The file that says that the kernels were compiled: by sources, numba, Python, processor and numba's own settings."""
    sources = source_stamp(*(str(Path(__file__).with_name(name)) for name in _SOURCES))
    settings = sorted((name, value) for name, value in os.environ.items() if name.startswith("NUMBA_"))
    parts = (sources, metadata.version("numba"), sys.version, platform.machine(), platform.node(), sys.prefix, settings)
    return cache_root() / "meteor" / f"compiled-{hashlib.sha256(repr(parts).encode()).hexdigest()[:20]}"


def start() -> subprocess.Popen[bytes] | None:
    """Begin to compile in a process of its own, once in this one's life; None where the kernels are there already."""
    with _starting:
        return _start()


@cache
def _start() -> subprocess.Popen[bytes] | None:
    if exists(note()) or os.environ.get("NUMBA_DISABLE_JIT") == "1" or not sys.executable:
        return None
    progress.note("METEOR: compiling its kernels, once on this machine (about ten seconds)")
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],  # -P: modules in the folder where the user works are no part of this
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        log.info("METEOR: no second process to compile in (%s)", error)
        return None
    atexit.register(process.kill)  # what it wrote is whole: numba renames its files into place
    return process


def wait() -> None:
    """Until the other process is done, if there is one."""
    process = start()
    if process is None:
        return
    try:
        code = process.wait(_WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    if code:
        log.info("METEOR: the process that compiled its kernels ended with code %s; compiling them here", code)


def done() -> None:
    """Take note that the kernels are compiled."""
    path = note()
    if not exists(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError as error:
            log.debug("%s cannot be written: %s", path, error)


if __name__ == "__main__":
    gc.disable()  # compiling makes little garbage, and looking for it takes a tenth of the time
    from harness.plugins.meteor import engine as meteor

    meteor.load_alignment()
    done()
