"""Cache of models that are trained on first use.

A model is stored in ``$HARNESS_CACHE/KIND/KEY/``. Without ``$HARNESS_CACHE`` the base
folder is ``$XDG_CACHE_HOME/harness``, else ``~/.cache/harness``. KEY identifies the
recipe and its data.

A model is written to ``KEY.partial`` under a file lock (``KEY.lock``) and then renamed,
so the folder ``KEY`` is complete or absent even when the process is killed. When two
processes request the same model, one trains it and the other waits. The checksums of
its files are compared whenever it is requested; a damaged model is trained again.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import HarnessError
from harness.files.checksums import find_damage, record_checksums
from harness.files.user_path import cache_folder
from harness.run.progress import bar

Train = Callable[[Path, Callable[[int], object]], object]
"""Function that trains a model into a folder and reports its progress."""
_log = logging.getLogger(__name__)


def get_or_train(
    kind: str, key: str, noun: str, total: int, train: Train, *, resumable: bool = False
) -> Path:
    """Return the folder of a trained model;
    train the model if the folder does not exist.

    Parameters
    ----------
    kind
        Name of the folder of all models of this kind.
    key
        Identifier of the recipe and its data.
    noun
        The model, for the message and the progress bar: ``the captioner``.
    total
        Number of epochs or steps that ``train`` reports.
    train
        Function that writes the model into a folder, and calls its second argument with
        the number of further epochs or steps. The folder is renamed when the function
        returns, and removed when it raises an ``Exception``. It stays when the process
        is killed or interrupted.
    resumable
        If true, ``train`` gets the files of a killed process and continues from them;
        else it gets an empty folder.

    Returns
    -------
    Path
        ``cache_folder(kind) / key``.

    Raises
    ------
    HarnessError
        If the model is damaged, in a folder that cannot be written.
    """
    folder = cache_folder(kind) / key
    damaged = _find_damage(folder)
    if folder.is_dir() and damaged is None:
        return folder
    if damaged is not None and not os.access(folder.parent, os.W_OK):
        raise HarnessError(
            "is damaged, in a folder that cannot be written: "
            "set HARNESS_CACHE to another one",
            str(damaged),
        )

    partial = folder.with_name(f"{key}.partial")
    lock = folder.with_name(f"{key}.lock")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock_file(lock):
        damaged = _find_damage(folder)
        # another process trained it while this one waited
        if folder.is_dir() and damaged is None:
            return folder
        if damaged is not None:
            _log.warning("note: %s is damaged; training %s again", damaged, noun)
            shutil.rmtree(folder)

        # What lies here was left by a killed process; the lock is ours, so nobody
        # writes into it any more.
        if not resumable:
            shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(exist_ok=True)

        try:
            _log.warning("training %s; it will be kept in %s", noun, folder.parent)
            with bar(f"training {noun}", total) as advance:
                train(partial, advance)
        except Exception:  # not BaseException: an interrupted training can be resumed
            shutil.rmtree(partial, ignore_errors=True)
            raise

        record_checksums(partial)
        os.replace(partial, folder)
        lock.unlink()  # processes that still wait on the lock find the folder
    return folder


def _find_damage(folder: Path) -> Path | None:
    """Return a damaged file of a model; None for a whole one, for none, and for one
    that has no checksums, which it gets now.
    """
    if not folder.is_dir():
        return None
    try:
        return find_damage(folder)
    except FileNotFoundError:
        with suppress(OSError):  # a folder that cannot be written
            record_checksums(folder)
        return None


@contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on the file ``path``; the operating system releases the
    lock of a killed process.
    """
    import fcntl

    with open(path, "wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            _log.warning(
                "another process trains %s; waiting for it", path.with_suffix("").name
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
