"""Code of local registries: found and described without an import, imported from the
registry's own folder alone.

A local registry (``registry.yaml`` of the working directory, or a file of
``--registry``) may name modules in its folder. Any other target must be declared by the
manifest of the harness or of an installed distribution.
"""

from __future__ import annotations

import ast
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
Signature = dict[str, str]
"""Parameter name -> default as Python source, ``(required)`` for none."""


def module_file(folder: Path, module: str) -> Path | None:
    """Return the file of ``module`` (dotted name) below ``folder``, or None;
    nothing is imported.

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
    """Return True when a file lies in a folder or in one of its subfolders,
    after links are followed.
    """
    return file.resolve().is_relative_to(folder.resolve())


def import_from(folder: Path, module: str, owner: str) -> ModuleType:
    """Import and return a module that lies below ``folder``;
    the folder is on ``sys.path`` meanwhile.

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
    # a module may have been written since Python last looked
    importlib.invalidate_caches()
    with on_path(folder):
        imported = importlib.import_module(module)
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


# --------------------------------------------------------------------------- reading without importing
def describe(folder: Path, target: str) -> tuple[str, Signature]:
    """Return docstring and constructor parameters of ``package.module:Object``,
    read from the source text.

    Raises
    ------
    HarnessError
        There is no such file, it is no Python source, or it defines no such class or
        function.
    """
    module, _, name = target.partition(":")
    file = module_file(folder, module)
    if file is None or file.suffix != ".py":
        raise HarnessError(
            f"there is no source file of '{module}' in {folder}", value=module
        )
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise HarnessError(f"{file} is no Python source: {error}") from error
    nodes = {
        node.name: node
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef))
    }
    if name not in nodes:
        raise HarnessError(f"{file} defines no '{name}'", value=name)
    node = nodes[name]
    text = ast.get_docstring(node) or ""
    if isinstance(node, ast.FunctionDef):
        # harness.metric_function, ...
        plugin = any("_function" in ast.unparse(item) for item in node.decorator_list)
        positional = (
            len(node.args.posonlyargs) + len(node.args.args) - len(node.args.defaults)
        )
        return text, _signature(node.args, skip=positional if plugin else 0)
    constructors = [
        item
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name == "__init__"
    ]
    return text, _signature(constructors[0].args, skip=1) if constructors else {}


def _signature(arguments: ast.arguments, skip: int = 0) -> Signature:
    """Return the parameters of a function without its first ``skip`` ones."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [
        *[None] * (len(positional) - len(arguments.defaults)),
        *arguments.defaults,
    ]
    pairs = [
        *zip(positional[skip:], defaults[skip:]),
        *zip(arguments.kwonlyargs, arguments.kw_defaults),
    ]
    return {
        item.arg: "(required)" if value is None else ast.unparse(value)
        for item, value in pairs
    }
