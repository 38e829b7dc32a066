"""p-values of a metric's per-example scores under relabelings of the example's texts: what the runner calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, ExactTestable, Features, Metric, Testable
from harness.errors import HarnessError
from harness.stats import permutation
from harness.stats.permutation import BUDGET, DRAWS, Tail

MEMORY_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, eq=False)
class ExamplePValues:
    """Per-example p-values of one batch with their method."""

    values: np.ndarray
    """(B,); NaN where the score is undefined."""
    method: permutation.Method
    floor: float
    """The smallest p-value this design can give."""
    relabelings: int
    """Relabelings evaluated per example (Monte Carlo: draws)."""
    note: str = ""
    """Why an exact test was not made, for the log; empty where it was."""


def metric_p_values(
    metric: Metric,
    batch: Batch,
    features: Features,
    state: Any,
    observed: np.ndarray,
    *,
    method: Literal["exact", "monte-carlo", "auto"] = "auto",
    budget: int = BUDGET,
    draws: int = DRAWS,
    seed: int = 0,
    memory_bytes: int = MEMORY_BYTES,
) -> ExamplePValues:
    """p-values of ``observed`` (B,), the metric's per-example scores of the batch.

    "More extreme" is lower where ``spec.higher_is_better``, higher where it is not. Exact while C(N, n) is within the
    budget, else Monte Carlo (``note`` says so, also when exact was asked for). Raises :class:`HarnessError` for a metric
    that has no permutation null, or no direction.
    """
    name = metric.spec.name
    if metric.spec.higher_is_better is None:
        raise HarnessError(f"metric '{name}' has no direction: which scores are extreme is not defined")
    if not isinstance(metric, (ExactTestable, Testable)):
        raise HarnessError(f"metric '{name}' has no p-values: it defines neither null nor exact_p_values")
    tail: Tail = "lower" if metric.spec.higher_is_better else "upper"
    observed = np.asarray(observed, dtype=np.float64)
    plan = permutation.plan(batch.n, batch.m, method=method, budget=budget, draws=draws, seed=seed)
    if plan.method == "exact" and isinstance(metric, ExactTestable):
        values = np.where(np.isnan(observed), np.nan, metric.exact_p_values(batch, features, state))
    elif isinstance(metric, Testable):
        step = max(1, memory_bytes // (32 * max(1, len(batch))))
        null = (_null(metric, batch, features, state, labels) for labels in plan.chunks(step))
        values = permutation.p_values(observed, null, tail, plan.method)
    else:
        raise HarnessError(f"metric '{name}' has an exact test alone, and {plan.note or 'Monte Carlo was asked for'}")
    return ExamplePValues(values, plan.method, plan.floor, plan.relabelings, plan.note)


def _null(metric: Testable, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
    values = np.asarray(metric.null(batch, features, state, labels), dtype=np.float64)
    if values.shape != (len(batch), len(labels)):
        raise HarnessError(
            f"{type(metric).__name__}.null returned shape {values.shape}; expected {(len(batch), len(labels))}"
        )
    return values
