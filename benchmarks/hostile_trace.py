"""The trace of an attack: a file, or a variable of a page."""

from __future__ import annotations

from pathlib import Path

MARK = "PWNED"
"""File, or variable of a page, that exists once an attack has run."""
TOUCH = f"touch {MARK}"
WRITE = f"open({MARK!r}, 'w')"


def happened(folder: Path) -> bool:
    """Return True when an attack has run, and remove its trace."""
    path = folder / MARK
    ran = path.exists() or path.is_symlink() or (folder / f"{MARK}.npy").exists()
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    for name in (MARK, f"{MARK}.npy"):
        (folder / name).unlink(missing_ok=True)
    return ran
