"""Time and memory that a run will take, from what its metrics declare, and the refusal
of a run that needs more memory than there is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.contracts import CaptionSet, Cost, Metric, cost_of
from harness.errors import HarnessError
from harness.files.captions import count_words
from harness.run.example_store import ExampleStore
from harness.run.metric_plan import MetricPlan, Plan
from harness.run.results import slices_of
from harness.run.score import (
    BATCH,
    MAX_BATCH_PAIRS,
    MIN_DRAWS,
    depends_on_all_examples,
    is_tested,
)
from harness.run.shard_grid import (
    BYTES_PER_TEXT,
    available_memory,
    check_example,
    duration_text,
    grid_of,
    memory_text,
)
from harness.spec.models import SignificanceSpec

_PROCESS_BYTES = 200e6
"""Memory of a process with its libraries."""
_EXAMPLE_BYTES = 250.0
"""Memory per example of a run with any metric: keys, positions,
the resampling of one metric.
"""
_LABEL_SECONDS = 5e-8
"""Time of one relabeling of a metric with a permutation test of its own."""


@dataclass(frozen=True)
class ResourceEstimate:
    """Estimate of a run, within a factor of three for what the metrics declare;
    models are not part of it.
    """

    seconds: float
    """Seconds of one core."""
    bytes: float
    """Peak memory."""

    def __str__(self) -> str:
        return (
            f"about {duration_text(self.seconds)} of one core for the metrics, "
            f"{memory_text(self.bytes)} of memory"
        )


def check_plan(plan: Plan, examples: ExampleStore) -> ResourceEstimate:
    """Return the estimate of a run on its examples;
    candidates are taken to be as long as the references.

    Raises :class:`HarnessError` where the examples are too many for the memory, the
    largest one is too large for a metric, or the metadata have no such slices as the
    spec asks for.
    """
    slices_of(plan.spec, examples)
    systems = len(plan.models) * len(plan.decodings) * len(plan.reference_counts)
    sizes = (
        max(decoding.candidates or 1 for decoding in plan.decodings),
        max(examples.reference_counts),
    )
    words = examples.words, examples.longest
    return _estimate(
        plan.caption_metrics,
        plan.spec.significance,
        len(examples),
        systems,
        sizes,
        words,
    )


def check_sets(
    metrics: Sequence[MetricPlan], sets: Sequence[CaptionSet]
) -> ResourceEstimate:
    """Return the estimate of metrics on judged caption sets, which have no p-values;
    raises as :func:`check_plan`.
    """
    texts = [text for item in sets for text in (*item.candidates, *item.references)]
    sizes = (
        max(len(item.candidates) for item in sets),
        max(len(item.references) for item in sets),
    )
    words = sum(map(count_words, texts)) / len(texts), count_words(max(texts, key=len))
    return _estimate(metrics, SignificanceSpec(), len(sets), 1, sizes, words)


def _estimate(
    metrics: Sequence[MetricPlan],
    significance: SignificanceSpec,
    count: int,
    systems: int,
    sizes: tuple[int, int],
    words: tuple[float, int],
) -> ResourceEstimate:
    """Return the estimate of metrics on examples with these largest numbers of texts,
    and mean and largest numbers of words.
    """
    n, m = sizes
    mean, longest = words
    examples_per_batch = min(BATCH, count, 1 + MAX_BATCH_PAIRS // (n + m) ** 2)

    # Metrics are scored one after the other: their times add up, of their memory the
    # largest counts.
    seconds = largest = corpus = 0.0
    for item in metrics:
        tested = is_tested(item.metric, significance)
        check_example(item.label, item.metric, n, m, longest, tested=tested)
        cost = cost_of(item.metric, n, m, mean, tested=tested)
        of_test = _test_seconds(item.metric, significance, cost, n, m, count)
        seconds += count * systems * (cost.seconds + of_test)
        largest = max(largest, examples_per_batch * cost.bytes + cost.fixed)
        corpus = max(corpus, cost.corpus)

    texts = m + n * systems
    shard = BYTES_PER_TEXT * texts * min(count, grid_of(count, texts).size)
    needed = _PROCESS_BYTES + shard + largest + (corpus + _EXAMPLE_BYTES) * count
    free = available_memory()
    if needed > free:
        raise HarnessError(
            f"{count:,} examples of {n} + {m} captions need about "
            f"{memory_text(needed)} of memory, and {memory_text(free)} are free; "
            "fewer metrics, or more memory"
        )
    return ResourceEstimate(seconds, needed)


def _test_seconds(
    metric: Metric,
    significance: SignificanceSpec,
    cost: Cost,
    n: int,
    m: int,
    examples: int,
) -> float:
    """Return the time of the permutation test of one example."""
    total = math.comb(n + m, n) if is_tested(metric, significance) else 0
    is_exact = significance.method == "exact" and total <= significance.budget
    relabelings = total if is_exact else min(total, significance.draws)

    if depends_on_all_examples(metric, significance):  # texts are scored again
        most = max(MIN_DRAWS, significance.scorings // examples)
        return cost.seconds * min(relabelings, most)
    return _LABEL_SECONDS * relabelings
