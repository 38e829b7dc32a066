"""Code of local registries: found without an import, imported from the registry's own
folder alone.

A local registry (``registry.yaml`` of the working directory, or a file of
``--registry``) may name modules in its folder. Any other target must be declared by the
manifest of the harness or of an installed distribution.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import machinery
from pathlib import Path
from types import ModuleType

from harness.errors import HarnessError

_LOADERS = (
    (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
    (machinery.SourceFileLoader, machinery.SOURCE_SUFFIXES),
    (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
)
"""Kinds of modules, in Python's order."""


def module_file(folder: Path, module: str) -> Path | None:
    """Return the file of ``module`` (dotted name) below ``folder``, or None; nothing is
    imported.

    A link that leads out of the folder does not count.
    """
    search_path = str(folder)
    spec = None
    for name in module.split("."):
        if not name.isidentifier():
            return None
        spec = machinery.FileFinder(search_path, *_LOADERS).find_spec(name)
        if spec is None:
            return None
        search_path = str(Path(search_path, name))
    file = Path(spec.origin) if spec and spec.origin else None
    return file if file and is_below(file, folder) else None


def is_below(file: Path, folder: Path) -> bool:
    """Return True when a file lies in a folder or in one of its subfolders, after links
    are followed.
    """
    return file.resolve().is_relative_to(folder.resolve())


def import_from(folder: Path, module: str, owner: str) -> ModuleType:
    """Import and return a module that lies below ``folder``; the folder is on
    ``sys.path`` meanwhile.

    Raises
    ------
    HarnessError
        The folder has no such module, or another module of this name is imported
        already. ``owner`` begins the message.
    """
    if module_file(folder, module) is None:
        raise HarnessError(
            f"{owner} names '{module}', which is no module in {folder}: "
            "a local registry may name code in its own folder, and "
            "components that an installed distribution declares (SECURITY.md)",
            value=module,
        )

    # A module may have been written since Python last looked.
    importlib.invalidate_caches()
    with on_path(folder):
        imported = importlib.import_module(module)

    # Python returns a module that is imported already, of whatever folder.
    origin = getattr(imported, "__file__", None)
    if origin is None or not is_below(Path(origin), folder):
        raise HarnessError(
            f"{owner} names '{module}', but another module of this name is in use "
            f"({origin or 'built into Python'}); rename it",
            value=module,
        )
    return imported


@contextmanager
def on_path(folder: Path) -> Generator[None]:
    """Context in which a folder is the first of ``sys.path``."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
