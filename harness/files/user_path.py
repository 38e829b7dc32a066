"""Paths as users write them, and the folder of the harness for files that can be made
again.
"""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import HarnessError, nearest_name


def user_path(path: str | Path) -> Path:
    """Return a path with a leading ``~`` or ``~name`` replaced by the home folder; that
    of an unknown user stays as it is.

    ``Path.expanduser`` raises RuntimeError there, and ValueError for a name with a null
    byte.
    """
    try:
        return Path(os.path.expanduser(path))
    except ValueError:
        return Path(path)


def nearest_beside(path: str | Path) -> str | None:
    """Return the name of the file or folder in the folder of a path that is nearest to
    its own; None where there is none.
    """
    path_text = user_path(path)
    try:
        return nearest_name(path_text.name, sorted(os.listdir(path_text.parent)))
    except (OSError, ValueError):  # no folder, or one that may not be listed
        return None


def cache_folder(kind: str) -> Path:
    """Return the folder of all cached files of a kind (``media``, ``rnnlm``, ...); it
    need not exist.

    The base folder is ``$HARNESS_CACHE``, else ``$XDG_CACHE_HOME/harness``, else
    ``~/.cache/harness``. Raises :class:`~harness.errors.HarnessError` for a user
    without a home folder.
    """
    own_folder = os.environ.get("HARNESS_CACHE")
    if own_folder:
        return user_path(own_folder) / kind
    user_cache = os.environ.get("XDG_CACHE_HOME")
    if user_cache:
        return Path(user_cache) / "harness" / kind
    try:
        return Path.home() / ".cache" / "harness" / kind
    except RuntimeError as error:
        raise HarnessError(
            f"no folder for caches ({error}): set HARNESS_CACHE to a writable folder"
        ) from error
