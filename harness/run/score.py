"""Scores of one metric on the caption sets of one model and decoding:
statistics, p-values, interval.

Sets are batched by shape; rows come back in the order of the examples, so that neither
batching nor sharding changes a digit. A row whose first statistic is NaN is undefined:
counted, listed and left out of the number, never scored as 0.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.contracts import (
    Batch,
    CaptionSet,
    Features,
    Metric,
    Objects,
    PositionedBatch,
    State,
    Statistics,
    has_corpus_state,
    place_statistics,
)
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.run.scored import Scored
from harness.run.shard_grid import check_example
from harness.stats.significance import (
    ExamplePValues,
    has_generic_null,
    metric_p_values,
    sum_relabelings,
    untestable_reason,
)

if TYPE_CHECKING:
    from harness.spec.models import SignificanceSpec

BATCH = 512
"""Examples per batch where p-values are computed."""
MIN_DRAWS = 99
"""Minimum number of relabelings per example of a test that scores texts again; the
smallest p-value is then 0.01.
"""
_MAX_PAIRS = 1 << 18
"""Number of text pairs per batch without p-values,
of examples that are more than :data:`BATCH`.
"""
MAX_BATCH_PAIRS = 1 << 22
"""Maximum number of text pairs per batch of several examples:
their matrices take some 300 MB.
"""


def batches(
    sets: Sequence[CaptionSet], features: Features, size: int | None = BATCH
) -> list[PositionedBatch]:
    """Return the caption sets as batches of one (n, m) shape.

    Parameters
    ----------
    sets : sequence of CaptionSet
        Caption sets of any shapes.
    features : Features
        The cache that interns the texts.
    size : int, optional
        Examples per batch. None: more examples the fewer texts they have, for metrics
        without p-values, which need nothing wider than (N, N) numbers per example.
    """
    by_shape: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position, item in enumerate(sets):
        by_shape[len(item.candidates), len(item.references)].append(position)

    positioned_batches: list[PositionedBatch] = []
    for shape in sorted(by_shape):
        positions = by_shape[shape]
        pairs = sum(shape) ** 2
        target = size or max(BATCH, _MAX_PAIRS // pairs)
        step = min(target, max(1, MAX_BATCH_PAIRS // pairs))
        for start in range(0, len(positions), step):
            chunk = positions[start : start + step]
            batch = features.batch([sets[i] for i in chunk])
            positioned_batches.append(PositionedBatch(np.asarray(chunk), batch))
    return positioned_batches


def nested(
    full: Sequence[PositionedBatch], features: Features, n: int | None, m: int | None
) -> list[PositionedBatch]:
    """Return the batches cut to the first n candidates and m references (None: all)."""
    nested_batches: list[PositionedBatch] = []
    for positions, batch in full:
        n_here = min(n or batch.n, batch.n)
        m_here = min(m or batch.m, batch.m)
        smaller = features.sub_batch(batch, n_here, m_here)
        nested_batches.append(PositionedBatch(positions, smaller))
    return nested_batches


def check_batches(
    metrics: Sequence[tuple[str, Metric]],
    positioned_batches: Sequence[PositionedBatch],
    significance: SignificanceSpec | None,
) -> None:
    """Raise :class:`HarnessError` where an example of the batches is too large for one
    of the metrics, given with their labels.
    """
    for _, batch in positioned_batches:
        longest = max((text for texts in batch.texts for text in texts), key=len)
        tokens = 1 + longest.count(" ")
        for label, metric in metrics:
            tested = is_tested(metric, significance)
            check_example(label, metric, batch.n, batch.m, tokens, tested=tested)


def can_score(metric: Metric, batch: Batch) -> bool:
    """Return True when the shape is large enough for the metric."""
    return bool(scorable(metric, np.asarray(batch.n), np.asarray(batch.m)))


def scorable(metric: Metric, n: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Return a mask of the set sizes, arrays of one shape,
    that are large enough for the metric.
    """
    spec = metric.spec
    # judged by the image or the source
    alone = (m == 0) & ("references" not in spec.needs) & (spec.min_texts <= 2)
    return (n >= spec.min_candidates) & (
        alone | (m >= spec.min_references) & (n + m >= spec.min_texts)
    )


def depends_on_all_examples(
    metric: Metric, significance: SignificanceSpec | None
) -> bool:
    """Return True where the number of relabelings per example depends on the number of
    examples of the run.
    """
    return is_tested(metric, significance) and has_generic_null(metric)


def is_tested(metric: Metric, significance: SignificanceSpec | None) -> bool:
    """Return True where a metric gets permutation p-values."""
    return (
        significance is not None
        and significance.method != "none"
        and not untestable_reason(metric)
    )


def few_examples_reason(metric: Metric, documents: int) -> str:
    """Return the reason why a metric has no p-values in a task of so many examples,
    to follow its name.
    """
    examples = "one example" if documents == 1 else f"{documents} examples"
    fitted = has_corpus_state(metric)
    return (
        f"is {'fitted on the references of' if fitted else 'tested on'} {examples}: "
        f"its p-values have their size from {metric.spec.testable_from} on"
    )


def fit_once(metric: Metric, features: Features) -> State:
    """Return the corpus state of a metric, fitted once per run."""
    return features.memo(
        ("state", metric.signature()), lambda: metric.fit(features.references, features)
    )


def score(
    metric: Metric,
    positioned_batches: Sequence[PositionedBatch],
    features: Features,
    significance: SignificanceSpec | None,
    seed: int,
    advance: Callable[[int], None] = lambda n: None,
    examples: int | None = None,
    observe: Callable[[Statistics], None] | None = None,
) -> Scored:
    """Compute statistics and p-values of a metric on all batches.

    Parameters
    ----------
    metric : Metric
        The metric.
    positioned_batches : sequence of PositionedBatch
        Batches that together hold every example once.
    features : Features
        The cache of the run.
    significance : SignificanceSpec, optional
        Method of the permutation p-values; None or ``none``: no p-values.
    seed : int
        Seed of Monte Carlo relabelings.
    advance : callable
        Called with the number of examples after each batch.
    examples : int, optional
        Number of examples that the metric can score in the whole run, of which the
        batches may be a shard; None: those of the batches. It determines the number of
        relabelings where texts are scored again.
    observe : callable, optional
        Called with the statistics of each batch.

    Raises
    ------
    ValueError
        The metric returns statistics of a wrong shape.
    HarnessError
        The metric reads the references of the task, or what is fitted on them, without
        declaring it.
    """
    started = time.perf_counter()
    total = sum(len(batch) for _, batch in positioned_batches)
    documents = features.examples
    # what is read from here on is read by this metric
    features.corpus_read = ""
    state = fit_once(metric, features)

    if examples is None:
        examples = sum(
            len(batch) for _, batch in positioned_batches if can_score(metric, batch)
        )
    test, p_note = _test(metric, examples, documents, significance)
    p_values = _PValues(metric, test, significance, total, seed) if test else None

    blocks: list[tuple[np.ndarray, Statistics]] = []
    for positions, batch in positioned_batches:
        # A shape that is too small for the metric stays undefined.
        if can_score(metric, batch):
            stats = _checked_stats(metric, batch, features, state)
            blocks.append((positions, stats))
            if observe is not None:
                observe(stats)
            if p_values is not None:
                p_values.add(positions, batch, features, state, stats)
            _ensure_declared(metric, features)
        advance(len(batch))

    return Scored(
        place_statistics(blocks, total),
        p_values.values if p_values else None,
        p_values.floors if p_values else None,
        " + ".join(sorted(p_values.methods)) if p_values else "",
        time.perf_counter() - started,
        p_note,
        p_values.sums if p_values else None,
    )


class _PValues:
    """P-values of the examples of a metric, which its batches fill.

    Parameters
    ----------
    metric : Metric
        The metric.
    test : SignificanceSpec
        Settings of its test, with the number of draws that its budget allows.
    significance : SignificanceSpec, optional
        The test that was asked for.
    total : int
        Number of examples.
    seed : int
        Seed of Monte Carlo relabelings.
    """

    def __init__(
        self,
        metric: Metric,
        test: SignificanceSpec,
        significance: SignificanceSpec | None,
        total: int,
        seed: int,
    ) -> None:
        self._metric = metric
        self._test = test
        self._significance = significance
        self._seed = seed
        self.values = np.full(total, np.nan)
        self.floors = np.full(total, np.nan)
        self.methods: set[str] = set()
        self.sums: np.ndarray | None = None
        if test.aggregate == "summed":
            self.sums = np.zeros(test.draws + 1)

    def add(
        self,
        positions: np.ndarray,
        batch: Batch,
        features: Features,
        state: State,
        stats: Statistics,
    ) -> None:
        """Test the examples of a batch with these statistics."""
        assert self._test.method != "none"
        outcome = metric_p_values(
            self._metric,
            batch,
            features,
            state,
            self._metric.per_example(stats),
            method=self._test.method,
            budget=self._test.budget,
            draws=self._test.draws,
            seed=self._seed,
        )
        self.values[positions] = outcome.values
        self.floors[positions] = outcome.floor
        self.methods.add(_method_text(self._test, self._significance, outcome))
        if self.sums is not None:
            self.sums += sum_relabelings(
                self._metric, batch, features, state, self._test.draws, self._seed
            )


def score_sets(
    metrics: Iterable[Metric],
    sets: Sequence[CaptionSet],
    significance: SignificanceSpec | None = None,
    seed: int = 0,
    references: Sequence[Sequence[str]] | None = None,
) -> list[Scored]:
    """Return the results of metrics on caption sets in memory; features are shared.

    ``references`` are those on which the metrics fit their corpus state, one sequence
    per example; None: those of the sets.
    """
    if references is None:
        references = [item.references for item in sets]
    features = FeatureCache(references)
    positioned_batches = batches(sets, features, BATCH if significance else None)

    metrics = list(metrics)
    pairs = [(metric.spec.name, metric) for metric in metrics]
    check_batches(pairs, positioned_batches, significance)
    return [
        score(metric, positioned_batches, features, significance, seed)
        for metric in metrics
    ]


def _ensure_declared(metric: Metric, features: Features) -> None:
    """Raise :class:`HarnessError` where a metric without corpus state has read the
    references of the task.

    Its statistics are stored under names that say nothing of other examples, and would
    be read again when there are others.
    """
    if features.corpus_read and not has_corpus_state(metric):
        raise HarnessError(
            f"metric '{metric.spec.name}' declares no corpus state and reads "
            f"{features.corpus_read}: set MetricSpec(held_fixed='... held fixed'), "
            "which metrics of an embedding or distance take from its attribute "
            "held_fixed"
        )


def _test(
    metric: Metric, examples: int, documents: int, significance: SignificanceSpec | None
) -> tuple[SignificanceSpec | None, str]:
    """Return the settings of a metric's permutation test, or None and the reason why a
    requested test is not possible.

    The reason may be that corpus state is fitted on the references of too few examples,
    ``documents``. A metric that scores texts again under each relabeling gets at most
    ``scorings`` scorings for all examples together, and at least :data:`MIN_DRAWS`
    relabelings per example.
    """
    if significance is None or significance.method == "none":
        return None, ""

    reason = untestable_reason(metric)
    if reason:
        return None, reason
    if documents < metric.spec.testable_from:
        return None, few_examples_reason(metric, documents)
    if not has_generic_null(metric):
        return significance, ""

    # Texts are scored again under each relabeling: the scorings of a run are limited.
    max_draws = max(MIN_DRAWS, significance.scorings // max(1, examples))
    budget = significance.budget
    if not hasattr(metric, "exact_p_values"):
        budget = min(budget, max_draws)
    limits = {"budget": budget, "draws": min(significance.draws, max_draws)}
    return significance.model_copy(update=limits), ""


def _method_text(
    tested: SignificanceSpec,
    significance: SignificanceSpec | None,
    outcome: ExamplePValues,
) -> str:
    """Return the method of a test, with the number of draws where the budget of
    scorings reduced it.
    """
    if significance is None or tested.draws == significance.draws:
        return outcome.method
    if outcome.method == "exact":
        return outcome.method
    return (
        f"{outcome.method} of {outcome.relabelings:,} draws "
        f"(budget of {significance.scorings:,} scorings)"
    )


def _checked_stats(
    metric: Metric, batch: Batch, features: Features, state: State
) -> Statistics:
    stats = metric.stats(batch, features, state)
    if isinstance(stats, Objects):
        if len(stats) != len(batch):
            raise ValueError(
                f"metric '{metric.spec.name}' collected {len(stats)} objects for "
                f"{len(batch)} examples"
            )
        return stats
    stats = np.asarray(stats, dtype=np.float64)
    if stats.ndim != 2 or len(stats) != len(batch):
        raise ValueError(
            f"metric '{metric.spec.name}' returned statistics of shape {stats.shape} "
            f"for {len(batch)} examples"
        )
    return stats
