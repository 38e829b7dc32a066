"""harness: distribution-aware evaluation of captions and other conditional text.

``harness.evaluate`` runs a spec, ``harness.score`` scores two files or lists, ``harness.metric`` creates one metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "HarnessError",
    "MetricResult",
    "Run",
    "Spec",
    "__version__",
    "as_chart",
    "as_evaluate",
    "as_html",
    "as_torchmetric",
    "compare",
    "correlate",
    "distance_function",
    "embedding_function",
    "evaluate",
    "export",
    "hookimpl",
    "metric",
    "metric_function",
    "power",
    "push",
    "report",
    "rescore",
    "score",
]

if TYPE_CHECKING:
    from harness.api import (
        MetricResult,
        compare,
        correlate,
        evaluate,
        export,
        metric,
        power,
        push,
        report,
        rescore,
        score,
    )
    from harness.errors import HarnessError
    from harness.registry.function_plugins import distance_function, embedding_function, metric_function
    from harness.registry.hooks import hookimpl
    from harness.reporting.notebook import as_chart, as_html
    from harness.run.finished import Run
    from harness.spec.models import Spec
    from harness.wrappers import as_evaluate, as_torchmetric

_PLACES = {
    "evaluate": "harness.api",
    "score": "harness.api",
    "metric": "harness.api",
    "compare": "harness.api",
    "correlate": "harness.api",
    "power": "harness.api",
    "push": "harness.api",
    "report": "harness.api",
    "export": "harness.api",
    "rescore": "harness.api",
    "MetricResult": "harness.api",
    "Run": "harness.run.finished",
    "Spec": "harness.spec.models",
    "HarnessError": "harness.errors",
    "hookimpl": "harness.registry.hooks",
    "metric_function": "harness.registry.function_plugins",
    "distance_function": "harness.registry.function_plugins",
    "embedding_function": "harness.registry.function_plugins",
    "as_chart": "harness.reporting.notebook",
    "as_html": "harness.reporting.notebook",
    "as_evaluate": "harness.wrappers",
    "as_torchmetric": "harness.wrappers",
}


def __getattr__(name: str) -> Any:
    """Import a name of the API on first use, so that ``harness --help`` stays fast."""
    if name in _PLACES:
        import importlib

        return getattr(importlib.import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'harness' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
