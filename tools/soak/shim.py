"""The preloaded library ``shim.c`` in Python: built once,
loaded by a new interpreter, armed in a forked child.
"""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
POWER_CUT = "power-cut"
"""Fault of :mod:`power`: SIGKILL before the call,
and then everything is undone that was not synced.
"""
KINDS = (
    "none",
    "kill-before",
    "kill-after",
    "kill-half",
    "full",
    "read-only",
    "terminate",
    "stop",
)
"""Faults, numbered as ``enum fault`` of shim.c: nothing; SIGKILL before or after the
call, or after half of a write; ENOSPC or EROFS from the call on; SIGTERM or SIGSTOP
before the call.
"""
PAGE = 8192


@dataclass(frozen=True)
class Fault:
    """A fault of a command, at a call that changes the file system (from 0)."""

    kind: str = "none"
    at: int = -1
    mark: str = ""
    """Name of a file; calls are counted from the first rename to it on. Empty:
    all calls are counted.
    """
    seed: int = 0
    """Of a power cut: what reaches the disk unsynced (:func:`power.chances`)."""

    def __str__(self) -> str:
        since = f" from {self.mark} on" if self.mark else ""
        seed = f", seed {self.seed}" if self.kind == POWER_CUT else ""
        return (
            self.kind
            if self.kind == "none"
            else f"{self.kind} at call {self.at}{since}{seed}"
        )


class SharedPage:
    """Memory that parent and child share: the number of counted calls,
    and the call that the fault struck.
    """

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, PAGE)

    def clear(self) -> None:
        """Forget the counts of the last child."""
        self._map[:] = bytes(PAGE)

    @property
    def address(self) -> int:
        """Address in this process and in those that it forks."""
        return ctypes.addressof(ctypes.c_char.from_buffer(self._map))

    @property
    def calls(self) -> int:
        """Number of calls that change the file system so far."""
        return int.from_bytes(self._map[:8], sys.byteorder)

    @property
    def struck(self) -> str:
        """The call that the fault struck: its name and path;
        empty where it struck none.
        """
        if not int.from_bytes(self._map[8:16], sys.byteorder):
            return ""
        name, path = (
            self._map[a:b].split(b"\0", 1)[0].decode(errors="replace")
            for a, b in ((16, 40), (40, 40 + 4096))
        )
        return f"{name} {path}"


def build() -> Path:
    """Compile the library with the system's C compiler, or with zig of the package
    ``ziglang``, and return its path.
    """
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    library = Path(tempfile.gettempdir()) / f"harness-soak-{os.getuid()}-{digest}.so"
    if library.is_file():
        return library
    compiler = next(
        ([path] for name in ("cc", "gcc", "clang") if (path := shutil.which(name))),
        [sys.executable, "-m", "ziglang", "cc"],
    )
    beside = library.with_suffix(f".{os.getpid()}")
    done = subprocess.run(
        [*compiler, "-shared", "-fPIC", "-O2", "-o", str(beside), str(SOURCE), "-ldl"],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(
            f"{SOURCE.name} does not compile (a C compiler, or pip install ziglang, "
            f"is needed): {done.stderr[-500:]}"
        )
    os.replace(beside, library)
    return library


def preload() -> None:
    """Replace this interpreter by one with the library preloaded, unless it is."""
    library = str(build())
    if library in os.environ.get("LD_PRELOAD", "").split(":"):
        return
    os.environ["LD_PRELOAD"] = ":".join(
        filter(None, (library, os.environ.get("LD_PRELOAD")))
    )
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def arm(below: Path, fault: Fault, page: SharedPage, kept: Path | None = None) -> None:
    """Count the calls of this process that change files below a folder,
    and let the fault strike.

    ``kept`` is a folder beside it that gets what is synced; :func:`power.keep_disk` has
    written what was there before.
    """
    library = ctypes.CDLL(str(build()))
    library.adversary_arm.argtypes = [
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_long,
        ctypes.c_char_p,
        ctypes.c_void_p,
    ]
    library.adversary_arm.restype = None
    library.adversary_keep.argtypes = [ctypes.c_char_p]
    library.adversary_keep.restype = None
    if kept is not None:
        library.adversary_keep(os.fsencode(kept))
    kind = "kill-before" if fault.kind == POWER_CUT else fault.kind
    number = KINDS.index(kind) if kind in KINDS else 0
    library.adversary_arm(
        os.fsencode(below), number, fault.at, fault.mark.encode(), page.address
    )
