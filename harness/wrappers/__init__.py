"""Metrics of the harness as those of other libraries:
``torchmetrics`` and ``evaluate``.

In: a metric by name. Out: their object.
"""

from __future__ import annotations

from harness.wrappers.evaluate_module import as_evaluate
from harness.wrappers.torch_metric import as_torchmetric

__all__ = ["as_evaluate", "as_torchmetric"]
