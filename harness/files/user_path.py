"""Paths as users write them."""

from __future__ import annotations

import os
from pathlib import Path


def user_path(path: str | Path) -> Path:
    """Return a path with a leading ``~`` or ``~name`` replaced by the home folder; that of an unknown user stays as it is.

    ``Path.expanduser`` raises RuntimeError there, and ValueError for a name with a null byte.
    """
    try:
        return Path(os.path.expanduser(path))
    except ValueError:
        return Path(path)
