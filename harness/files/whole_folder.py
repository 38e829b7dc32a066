"""Files and folders that are written whole or not at all: under a temporary name beside their own, ``.NAME.PROCESS.tmp``."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

_TEMPORARY = re.compile(r"\.(?P<name>.+)\.(?P<process>\d+)\.tmp")


def temporary_name(name: str) -> str:
    """Return the name under which this process writes a file or folder.

    >>> re.fullmatch(r"\\.out\\.[0-9]+\\.tmp", temporary_name("out")) is not None
    True
    """
    return f".{name}.{os.getpid()}.tmp"


def is_left_over(entry: str, names: Iterable[str]) -> bool:
    """Return True for the temporary name of one of some names whose process has ended."""
    match = _TEMPORARY.fullmatch(entry)
    if match is None or match["name"] not in names:
        return False
    try:
        os.kill(int(match["process"]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False


def remove_left_overs(folder: Path, names: Iterable[str]) -> None:
    """Remove what processes that were killed left of these names in a folder, links without what they point to."""
    wanted = set(names)
    with suppress(FileNotFoundError):
        for entry in os.listdir(folder):
            if is_left_over(entry, wanted):
                _remove(folder / entry)


@contextmanager
def whole_folder(path: Path) -> Generator[Path]:
    """Yield a new folder that takes the place of ``path`` when the block ends without an error.

    A kill at any point leaves ``path`` as it was before or as it is after, so that the same command can be given again; between the two
    renames that replace a folder which holds files it may be missing.
    """
    target = path.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_left_overs(target.parent, {target.name, f"{target.name}.old"})
    new, old = (target.with_name(temporary_name(name)) for name in (target.name, f"{target.name}.old"))
    new.mkdir()
    try:
        yield new
        replaces = target.exists() and any(target.iterdir())
        if replaces:
            os.replace(target, old)
        os.replace(new, target)
        if replaces:
            _remove(old)
    finally:
        if new.exists():
            _remove(new)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
