"""The import direction of the house: plugins know the contracts, the engine knows no plugin."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = ("harness.plugins", "harness.adapters", "harness.tasks")
HEAVY = {
    "torch",
    "transformers",
    "sentence_transformers",
    "datasets",
    "matplotlib",
    "open_clip",
    "pandas",
    "numba",
    "mauve",
}


def imports(file: Path, top_level_only: bool) -> set[str]:
    """Names of the modules that a file imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_the_engine_imports_no_plugin_adapter_or_task_by_name():
    for file in (ROOT / "harness").rglob("*.py"):
        named = {name for name in imports(file, top_level_only=False) if name.startswith(FAMILIES)}
        assert not named, f"{file.relative_to(ROOT)} imports {named}"


def test_the_engine_imports_nothing_heavy_when_it_is_imported():
    for file in (ROOT / "harness").rglob("*.py"):
        heavy = {
            name
            for name in imports(file, top_level_only=True)
            if name.split(".")[0] in HEAVY or name.startswith("scipy.stats")
        }
        assert not heavy, f"{file.relative_to(ROOT)} imports {heavy}"


def test_no_module_is_called_utils_or_shadows_the_standard_library():
    names = {
        file.stem
        for folder in ("harness", "plugins", "adapters", "tasks", "benchmarks")
        for file in (ROOT / folder).rglob("*.py")
    }
    assert not names & {"utils", "util", "helpers", "html", "misc", "common"}
