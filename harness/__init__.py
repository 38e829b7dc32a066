"""harness: distribution-aware evaluation of captions and other conditional text.

``harness.evaluate`` runs a spec, ``harness.score`` scores two files or lists,
``harness.metric`` creates one metric.

A name is imported on first use, so that ``harness --help`` starts fast;
``__init__.pyi`` declares the names for type checkers.
"""

import importlib

__version__ = "0.1.0"
_MODULES = {
    "harness.analysis.compare": "compare",
    "harness.decisions.correlate.correlate": "correlate",
    "harness.decisions.estimate": "estimate label_plan",
    "harness.decisions.power.power": "power",
    "harness.api": "MetricResult evaluate metric score",
    "harness.errors": "HarnessError",
    "harness.run.tasks": "rescore",
    "harness.registry.function_plugins": (
        "distance_function embedding_function metric_function"
    ),
    "harness.registry.hooks": "hookimpl",
    "harness.reporting.foreign_files": "export",
    "harness.page.notebook": "as_chart as_html",
    "harness.page.report": "report",
    "harness.run.finished": "Run",
    "harness.decisions.rewards.rewards": "reward",
    "harness.spec.models": "Spec",
}
"""Module -> its names that are names of the package."""
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = ["__version__", *_PLACES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    """Import a name of the API on first use."""
    if name not in _PLACES:
        raise AttributeError(f"module 'harness' has no attribute '{name}'")
    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
