"""Models trained on first use, kept in the user's cache: ``$HARNESS_CACHE`` (else ``$XDG_CACHE_HOME/harness``, else
``~/.cache/harness``) ``/KIND/KEY/``, KEY naming recipe and data. A folder is renamed into place, so it is whole or absent."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_folder(kind: str) -> Path:
    """Where trained models of a kind (``rnnlm``, ``captioner``) are kept."""
    if own := os.environ.get("HARNESS_CACHE"):
        return Path(own).expanduser() / kind
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "harness" / kind


def kept(kind: str, key: str, make: Callable[[Path], object]) -> Path:
    """The folder of a trained model; where it is missing ``make`` writes it, into a folder that is then renamed."""
    folder = cache_folder(kind) / key
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=folder.parent))
    try:
        make(partial)
        try:
            os.replace(partial, folder)
        except OSError:  # another process was first, with the same recipe
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder
