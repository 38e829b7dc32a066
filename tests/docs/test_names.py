"""Names in backquotes, in docs and docstrings, are names that exist."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "harness": "harness",
    "plugins/harness_metrics": "harness_metrics",
    "adapters/harness_models": "harness_models",
    "tasks/harness_tasks": "harness_tasks",
    "kernels/caption_kernels": "caption_kernels",
}
FOREIGN = {
    "persistent",
    "get_self_critical_reward",
    "cache_dir",
    "char",
    "dist_sync_on_step",
    "experiment_id",
    "image_ids",
    "keep_in_memory",
    "num_process",
    "process_group",
    "process_id",
    "response_format",
    "restval",
    "reward_funcs",
    "save_to_disk",
    "score_multi",
    "set_index",
    "swap_att",
    "sync_on_compute",
    "to_datasets",
    "val",
}
"""Functions, parameters and values of other libraries and data sets."""
GROUPS = {"harness.manifests"}
"""Groups of entry points."""
SPAN = re.compile(r"``([^`\n]+)``|`([^`\n]+)`")
CALL = re.compile(r"^([A-Za-z_]\w*)\(")
DOTTED = re.compile(
    r"^(?:harness|harness_metrics|harness_models|harness_tasks|caption_kernels)"
    r"(?:\.[A-Za-z_]\w*)+$"
)
IDENTIFIER = re.compile(r"^[a-z_]+$")
"""A name that a docstring of a function may take from its parameters."""


def sources() -> list[Path]:
    return [
        path
        for folder in PACKAGES
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "vendor" not in path.parts
    ]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def names_of(node: ast.AST) -> set[str]:
    """Names that code binds or uses, without its docstrings: identifiers, attributes,
    parameters, keywords, and words of its texts.
    """
    found: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            found.add(child.id)
        elif isinstance(child, ast.Attribute):
            found.add(child.attr)
        elif isinstance(child, ast.arg) or (
            isinstance(child, ast.keyword) and child.arg
        ):
            found.add(child.arg)
        elif isinstance(child, ast.alias):
            found |= set((child.asname or child.name).split("."))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(child.name)
        elif isinstance(child, ast.Constant) and not is_docstring(child):
            found |= set(re.findall(r"\w+", str(child.value)))
    return found


DOCSTRINGS: set[int] = set()


def is_docstring(node: ast.Constant) -> bool:
    return id(node) in DOCSTRINGS


def mark_docstrings(module: ast.Module) -> None:
    for node in ast.walk(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            DOCSTRINGS.add(id(node.value))


@cache
def all_names() -> set[str]:
    found = set(dir(builtins))
    for path in sources():
        mark_docstrings(tree(path))
        found |= names_of(tree(path))
    return found


def spans(text: str) -> list[str]:
    return [a or b for a, b in SPAN.findall(text)]


def exists(name: str) -> bool:
    """True where a dotted name is a module, or an attribute of one."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            fields = getattr(value, "__dataclass_fields__", {})
            if part in fields or part in getattr(value, "__annotations__", {}):
                return True
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"],
    ids=lambda path: path.name,
)
def test_the_names_of_a_page_exist(page):
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    for span in spans(text):
        if DOTTED.match(span):
            assert span in GROUPS or exists(span), span
        elif called := CALL.match(span):
            assert called[1] in all_names() | FOREIGN, span


@pytest.mark.slow
def test_the_names_of_docstrings_are_in_their_module():
    all_names()
    missing = []
    for path in sources():
        known = names_of(tree(path))
        for node in ast.walk(tree(path)):
            if not isinstance(
                node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef
            ):
                continue
            for span in spans(ast.get_docstring(node) or ""):
                if IDENTIFIER.match(span) and span not in known | all_names() | FOREIGN:
                    missing.append(f"{path.relative_to(ROOT)}: {node.name}: {span}")
    assert not missing, "\n".join(missing)
