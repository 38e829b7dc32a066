"""The folder of the harness for files that can be made again: trained models, media of data sets, answers of servers."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import HarnessError
from harness.files.user_path import user_path


def cache_folder(kind: str) -> Path:
    """Return the folder of all cached files of a kind (``media``, ``rnnlm``, ...); it need not exist.

    The base folder is ``$HARNESS_CACHE``, else ``$XDG_CACHE_HOME/harness``, else ``~/.cache/harness``. Raises
    :class:`~harness.errors.HarnessError` for a user without a home folder.
    """
    try:
        if base := os.environ.get("HARNESS_CACHE"):
            return user_path(base) / kind
        base = os.environ.get("XDG_CACHE_HOME")
        return (Path(base) if base else Path.home() / ".cache") / "harness" / kind
    except RuntimeError as error:
        raise HarnessError(f"no folder for caches ({error}): set HARNESS_CACHE to a writable folder") from error
