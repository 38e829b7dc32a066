"""harness: distribution-aware evaluation of captions and other conditional text.

``harness.evaluate`` runs a spec, ``harness.score`` scores files or lists,
``harness.metric`` creates one metric. Every other verb of the command line is a
function of its name, those of packages too.

A name is imported on first use, so that ``harness --help`` starts fast;
``__init__.pyi`` declares the names for type checkers.
"""

import importlib
import importlib.util

__version__ = "0.1.0"
_MODULES = {
    "harness.api": "MetricResult evaluate metric",
    "harness.cli.train": "train",
    "harness.decisions.correlate.correlate": "correlate",
    "harness.decisions.estimate": "estimate label_plan",
    "harness.decisions.gate.verb": "gate",
    "harness.decisions.power.verb": "power",
    "harness.decisions.rewards.rewards": "reward",
    "harness.decisions.same.verb": "same",
    "harness.errors": "HarnessError",
    "harness.hub": "push",
    "harness.page.notebook": "as_chart as_html",
    "harness.page.report": "report",
    "harness.programs.environments_verb": "env",
    "harness.registry.function_plugins": (
        "distance_function embedding_function metric_function"
    ),
    "harness.registry.hooks": "hookimpl",
    "harness.reporting.foreign_files": "export",
    "harness.reporting.verb_text": "as_text",
    "harness.run.finished": "Run",
    "harness.run.merge": "merge",
    "harness.run.tasks": "rescore",
    "harness.spec.models": "Spec",
    "harness.testing.scaffold": "new_plugin",
    "harness.testing.verb": "check",
    "harness.verbs.cards": "show",
    "harness.verbs.catalogue": "list",
    "harness.verbs.compare": "compare",
    "harness.verbs.describe": "describe",
    "harness.verbs.schema": "schema",
    "harness.verbs.score": "score",
    "harness.verbs.validate": "validate",
    "harness.verbs.warm": "warm",
}
"""Module -> its names that are names of the package."""
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}
# the verb 'list' would hide Python's from an import of all names
_EXPORTED = [name for name in _PLACES if name != "list"]
__all__ = ["__version__", *_EXPORTED]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    """Import a name of the API, or the function of a verb of a package, on first
    use.
    """
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    function = _verb_of_package(name)
    if function is None:
        raise AttributeError(f"module 'harness' has no attribute '{name}'")
    return function


def _verb_of_package(name: str) -> object | None:
    """Return the function of a verb that a package adds by the key ``commands`` of its
    manifest: that of its module with the name of the verb; None where there is none.
    """
    if name.startswith("_") or importlib.util.find_spec(f"harness.{name}"):
        return None
    registry = importlib.import_module("harness.registry").current()
    verb = name.replace("_", "-")
    verbs = {registry.bare_name(entry) for entry in registry.entries("commands")}
    if verb not in verbs:
        return None
    return getattr(registry.load_module("commands", verb), name, None)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
