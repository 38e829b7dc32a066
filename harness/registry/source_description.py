"""Docstring and parameters of code of local registries, read from its source without an
import.
"""

from __future__ import annotations

import ast
from pathlib import Path

from harness.errors import HarnessError
from harness.registry.local_code import module_file

Signature = dict[str, str]
"""Parameter name -> default as Python source, ``(required)`` for none."""


def describe(folder: Path, target: str) -> tuple[str, Signature]:
    """Return docstring and constructor parameters of ``package.module:Object``, read
    from the source text.

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
        # Of a function that a decorator such as metric_function makes a component,
        # arguments without default are texts, not parameters.
        arguments = node.args
        plugin = any("_function" in ast.unparse(item) for item in node.decorator_list)
        positional = len(arguments.posonlyargs) + len(arguments.args)
        texts = positional - len(arguments.defaults)
        return text, _signature(arguments, skip=texts if plugin else 0)
    constructors = [
        item
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name == "__init__"
    ]
    return text, _signature(constructors[0].args, skip=1) if constructors else {}


def _signature(arguments: ast.arguments, skip: int = 0) -> Signature:
    """Return the parameters of a function without its first ``skip`` ones."""
    positional = [*arguments.posonlyargs, *arguments.args]
    without = len(positional) - len(arguments.defaults)
    defaults = [*[None] * without, *arguments.defaults]
    pairs = [
        *zip(positional[skip:], defaults[skip:]),
        *zip(arguments.kwonlyargs, arguments.kw_defaults),
    ]
    return {
        item.arg: "(required)" if value is None else ast.unparse(value)
        for item, value in pairs
    }
