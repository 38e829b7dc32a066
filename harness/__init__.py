"""harness: distribution-aware evaluation of captions and other conditional text.

``harness.evaluate`` runs a spec, ``harness.score`` scores two files or lists, ``harness.metric`` makes one metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["HarnessError", "MetricResult", "Run", "Spec", "__version__", "evaluate", "metric", "score"]

if TYPE_CHECKING:
    from harness.api import MetricResult, evaluate, metric, score
    from harness.errors import HarnessError
    from harness.runner import Run
    from harness.spec import Spec

_PLACES = {
    "evaluate": "harness.api",
    "score": "harness.api",
    "metric": "harness.api",
    "MetricResult": "harness.api",
    "Run": "harness.runner",
    "Spec": "harness.spec",
    "HarnessError": "harness.errors",
}


def __getattr__(name: str) -> Any:
    """Names of the API are imported when first used, so that ``harness --help`` stays quick."""
    if name in _PLACES:
        import importlib

        return getattr(importlib.import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'harness' has no attribute '{name}'")
