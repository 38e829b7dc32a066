"""Time and memory that a run will take, from what its metrics declare, and the refusal of a run that needs more memory than there is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.contracts import Cost, Metric, cost_of
from harness.errors import HarnessError
from harness.run.example_store import ExampleStore
from harness.run.limits import check_example, duration_text, memory_text
from harness.run.score import BATCH, MAX_BATCH_PAIRS, MIN_DRAWS, depends_on_all_examples, is_tested
from harness.run.shard_grid import BYTES_PER_TEXT, available_memory, grid_of
from harness.run.task_plan import Plan
from harness.spec.models import SignificanceSpec

_PROCESS_BYTES = 200e6
"""Memory of a process with its libraries."""
_EXAMPLE_BYTES = 250.0
"""Memory per example of a run with any metric: keys, positions, the resampling of one metric."""
_LABEL_SECONDS = 5e-8
"""Time of one relabeling of a metric with a permutation test of its own."""


@dataclass(frozen=True)
class ResourceEstimate:
    """Estimate of a run, within a factor of three for what the metrics declare; models are not part of it."""

    seconds: float
    """Seconds of one core."""
    bytes: float
    """Peak memory."""

    def __str__(self) -> str:
        return f"about {duration_text(self.seconds)} of one core for the metrics, {memory_text(self.bytes)} of memory"


def check_plan(plan: Plan, examples: ExampleStore) -> None:
    """Raise :class:`HarnessError` where the examples of a run are too many for the memory, or the largest one is too large for a metric."""
    n, m = _largest_sizes(plan, examples)
    for item in plan.caption_metrics:
        check_example(item.label, item.metric, n, m, examples.longest, tested=is_tested(item.metric, plan.spec.significance))
    needed, free = estimate(plan, examples).bytes, available_memory()
    if needed > free:
        subject = f"{len(examples):,} examples of {n} + {m} captions need about {memory_text(needed)} of memory"
        raise HarnessError(f"{subject}, and {memory_text(free)} are free; fewer metrics, or more memory")


def estimate(plan: Plan, examples: ExampleStore) -> ResourceEstimate:
    """Return the estimate of a run on its examples; candidates are taken to be as long as the references."""
    n, m = _largest_sizes(plan, examples)
    count, systems = len(examples), len(plan.models) * len(plan.decodings) * len(plan.reference_counts)
    texts, significance = m + n * systems, plan.spec.significance
    seconds = largest = corpus = 0.0
    for item in plan.caption_metrics:
        cost = cost_of(item.metric, n, m, examples.words, tested=is_tested(item.metric, significance))
        seconds += count * systems * (cost.seconds + _test_seconds(item.metric, significance, cost, n, m, count))
        largest = max(largest, min(BATCH, count, 1 + MAX_BATCH_PAIRS // (n + m) ** 2) * cost.bytes + cost.fixed)
        corpus = max(corpus, cost.corpus)
    shard = BYTES_PER_TEXT * texts * min(count, grid_of(count, texts).size)
    return ResourceEstimate(seconds, _PROCESS_BYTES + shard + largest + (corpus + _EXAMPLE_BYTES) * count)


def _largest_sizes(plan: Plan, examples: ExampleStore) -> tuple[int, int]:
    """Return the numbers of candidates, one where the models decide, and of references of the largest example."""
    return max(decoding.candidates or 1 for decoding in plan.decodings), max(examples.reference_counts)


def _test_seconds(metric: Metric, significance: SignificanceSpec, cost: Cost, n: int, m: int, examples: int) -> float:
    """Return the time of the permutation test of one example."""
    total = math.comb(n + m, n) if is_tested(metric, significance) else 0
    relabelings = total if significance.method == "exact" and total <= significance.budget else min(total, significance.draws)
    if depends_on_all_examples(metric, significance):  # texts are scored again
        return cost.seconds * min(relabelings, max(MIN_DRAWS, significance.scorings // max(1, examples)))
    return _LABEL_SECONDS * relabelings
