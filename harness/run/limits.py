"""Limits of one example under one metric, in time and memory, by what the metric declares."""

from __future__ import annotations

import os

from harness.contracts import Metric, cost_of
from harness.errors import HarnessError
from harness.run.shard_grid import available_memory

MAX_SECONDS = 30.0
"""Maximum time of one example under one metric, unless the environment variable ``HARNESS_EXAMPLE_SECONDS`` gives another."""


def check_example(label: str, metric: Metric, n: int, m: int, tokens: int, *, tested: bool) -> None:
    """Raise :class:`HarnessError` where one example is too large for a metric.

    Parameters
    ----------
    label : str
        Label of the metric.
    metric : Metric
        The metric.
    n, m, tokens : int
        Numbers of candidates, of references, and of words of the longest text.
    tested : bool
        True with p-values.
    """
    cost = cost_of(metric, n, m, tokens, tested=tested)
    limit, memory = _max_seconds(), available_memory()
    subject = f"{label} of {n} + {m} captions of up to {tokens:,} words"
    if (needed := cost.bytes + cost.fixed) > memory:
        excess = f"needs about {memory_text(needed)} of memory, and {memory_text(memory)} are free"
        raise HarnessError(f"{subject} {excess}; expected {cost.advice}")
    if cost.seconds > limit:
        excess = f"takes about {duration_text(cost.seconds)} for one example, more than {limit:g} s (HARNESS_EXAMPLE_SECONDS)"
        raise HarnessError(f"{subject} {excess}; expected {cost.advice}")


def _max_seconds() -> float:
    text = os.environ.get("HARNESS_EXAMPLE_SECONDS") or str(MAX_SECONDS)
    try:
        return float(text)
    except ValueError:
        raise HarnessError(f"HARNESS_EXAMPLE_SECONDS is {text!r}; expected a number of seconds") from None


def memory_text(count: float) -> str:
    """Return a number of bytes in words, such as ``1.2 GB``."""
    return f"{count / 1e9:,.1f} GB" if count >= 1e8 else f"{count / 1e6:,.0f} MB"


def duration_text(seconds: float) -> str:
    """Return a time in words, such as ``3 min``."""
    unit, size = next(((unit, size) for unit, size in (("h", 3600), ("min", 60)) if seconds >= 2 * size), ("s", 1))
    return f"{seconds / size:,.0f} {unit}"
