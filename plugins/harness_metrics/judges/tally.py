"""Counts of a judge's answers as columns of statistics: answers by status, requests and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.llm.client import Prices
from harness_metrics.judges.answers import STATUSES, Verdict

COLUMNS = (*STATUSES, "requests", "prompt_tokens", "completion_tokens")
"""Columns of :func:`row`."""


def row(verdicts: Sequence[Verdict[Any]]) -> np.ndarray:
    """Return the counts of the verdicts on one example, float64, shape (9,), in the order of :data:`COLUMNS`."""
    counts = [sum(verdict.status == status for verdict in verdicts) for status in STATUSES]
    sums = [sum(getattr(verdict, name) for verdict in verdicts) for name in COLUMNS[len(STATUSES) :]]
    return np.asarray([*counts, *sums], dtype=np.float64)


def details(counts: np.ndarray, prices: Prices | None) -> dict[str, object]:
    """Return the sums of counts (B, 9): answers by status, requests, tokens, and the cost where prices are known."""
    sums = dict(zip(COLUMNS, counts.sum(axis=0).astype(int).tolist()))
    out: dict[str, object] = {
        "answers": {status: sums[status] for status in STATUSES},
        "requests": sums["requests"],
        "tokens": {"input": sums["prompt_tokens"], "output": sums["completion_tokens"]},
    }
    if prices is not None:
        paid = sums["prompt_tokens"] * prices.get("input", 0.0) + sums["completion_tokens"] * prices.get("output", 0.0)
        out["cost"] = paid / 1e6
    return out
