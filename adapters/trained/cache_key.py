"""What names a trained model: its recipe, the files that the recipe names, the source of its training, and the renderer's version."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.adapters.shared.training.recipe import Trainer

FILES_ONLY = ("checkpoints", "settings", "pickles", "feature_files", "convert_cli")
"""Modules beside the adapters that read and write files: edited, they give the same weights."""


def model_key(name: str, trainer: Trainer, recipe: Any) -> str:
    """24 hex digits: another recipe, other contents of a file it names, an edited trainer or another renderer is another model."""
    from harness.tasks.a3ds.render import VERSION

    settings = asdict(recipe)
    parts = [name, settings, sorted(_contents(settings)), source_version(trainer.train.__module__), VERSION]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]


def _contents(value: Any) -> Iterable[str]:
    """Hashes of the files named anywhere in a recipe."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _contents(item)
    elif isinstance(value, str) and value and Path(value).is_file():
        with open(value, "rb") as file:
            yield hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=64)
def source_version(module: str) -> str:
    """A hash of a module's code and of all that it imports from beside its package, as the parser sees it: no comments, no docstrings,
    and nothing of :data:`FILES_ONLY`."""
    family = ".".join(module.split(".")[:2]) if module.startswith("harness.") else module.split(".")[0]
    wanted, found = [module], {}
    while wanted:
        name = wanted.pop()
        if name in found or not name.startswith(family) or name.removeprefix(f"{family}.") in FILES_ONLY:
            continue
        tree = _tree(name)
        if tree is None:  # a name within a module
            continue
        found[name] = ast.dump(tree)
        wanted += _imports(tree)
    return hashlib.sha256(json.dumps(sorted(found.items())).encode()).hexdigest()[:16]


def _tree(name: str) -> ast.Module | None:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # its parent is a module, not a package
        return None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    tree = ast.parse(Path(spec.origin).read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [item for item in body if not _is_text(item)]  # type: ignore[attr-defined]
    return tree


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imports(tree: ast.Module) -> list[str]:
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{item.name}" for item in node.names)]
    return names
