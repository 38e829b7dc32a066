"""Models trained on first use, kept in the user's cache: ``$HARNESS_CACHE`` (else ``$XDG_CACHE_HOME/harness``, else
``~/.cache/harness``) ``/KIND/KEY/``, KEY naming recipe and data.

A model is made in ``KEY.partial`` under a lock (``KEY.lock``) and renamed into place: its folder is whole or absent, whenever the process
is killed, and of two processes that want the same model one makes it and the other waits.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_log = logging.getLogger(__name__)


def cache_folder(kind: str) -> Path:
    """Where trained models of a kind (``rnnlm``, ``captioner``) are kept."""
    if own := os.environ.get("HARNESS_CACHE"):
        return Path(own).expanduser() / kind
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "harness" / kind


def kept(kind: str, key: str, make: Callable[[Path], object], *, resumable: bool = False) -> Path:
    """The folder of a trained model; where it is missing ``make`` writes it, into a folder that is then renamed.

    ``resumable``: ``make`` goes on from what a killed process has left in its folder; else it is given an empty one.
    """
    folder = cache_folder(kind) / key
    if folder.is_dir():
        return folder
    partial, lock = folder.with_name(f"{key}.partial"), folder.with_name(f"{key}.lock")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(lock):
        if folder.is_dir():  # another process made it while this one waited
            return folder
        if not resumable:
            shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(exist_ok=True)
        try:
            make(partial)
        except Exception:  # a failure leaves nothing; an interrupted training may go on
            shutil.rmtree(partial, ignore_errors=True)
            raise
        os.replace(partial, folder)
        lock.unlink()  # whoever still waits on it finds the folder
    return folder


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``; waits for who holds it (a killed process holds nothing)."""
    import fcntl

    with open(path, "wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            _log.warning("another process trains %s; waiting for it", path.with_suffix("").name)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
