"""Checks of a metric under other orders, shards and weights."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.contracts import CaptionSet, has_corpus_state, join_statistics
from harness.run.features import FeatureCache
from harness.testing.metric_subject import (
    MetricSubject,
    largest_difference,
    nearly_equal,
    numbers_of,
    same_rows,
)
from harness.testing.results import Checks, NotApplicable, Violation, ensure
from harness.testing.sample_captions import NONSENSE
from harness.testing.shared_checks import constructor_values, second_instance

INVARIANCE_CHECKS = Checks("metrics")


@INVARIANCE_CHECKS.of(MetricSubject)
def example_order(subject: MetricSubject) -> None:
    """The order of the examples changes no row, to the digit; rows of embeddings by at
    most 1e-5 of the largest number.
    """
    base = subject.base
    sets = subject.sets

    order = np.random.default_rng(0).permutation(len(sets))
    permuted = subject.numbers([sets[k] for k in order])
    back = np.argsort(order)

    difference = largest_difference(base.per_example, permuted.per_example[back], sets)
    ensure(
        same_rows(permuted.stats[back], base.stats, subject.tolerance),
        f"rows change with the order of the examples: {difference}",
    )
    ensure(
        nearly_equal(permuted.value, base.value, subject.tolerance),
        "the corpus number changes with the order of the examples: "
        f"{base.value!r} and {permuted.value!r}",
    )


@INVARIANCE_CHECKS.of(MetricSubject)
def candidate_order(subject: MetricSubject) -> None:
    """The order of an example's candidates changes no score."""
    reversed_sets = [
        replace(item, candidates=item.candidates[::-1]) for item in subject.sets
    ]
    _ensure_same_scores(subject, reversed_sets, "candidates")


@INVARIANCE_CHECKS.of(MetricSubject)
def reference_order(subject: MetricSubject) -> None:
    """The order of an example's references changes no score."""
    reversed_sets = [
        replace(item, references=item.references[::-1]) for item in subject.sets
    ]
    _ensure_same_scores(subject, reversed_sets, "references")


@INVARIANCE_CHECKS.of(MetricSubject)
def shards(subject: MetricSubject) -> None:
    """Rows of shards, of one or two examples each, are the rows of the whole, to the
    digit; of embeddings within 1e-5.
    """
    base = subject.base
    sets = subject.sets
    for size in (1, 2):
        shards = []
        for start in range(0, len(sets), size):
            # each shard is scored with the corpus state of the whole task
            features = subject.fit_features()
            numbers = subject.numbers(sets[start : start + size], features=features)
            shards.append(numbers.stats)

        joined = numbers_of(subject.component, join_statistics(shards))
        if not same_rows(base.stats, joined.stats, subject.tolerance):
            difference = largest_difference(base.per_example, joined.per_example, sets)
            raise Violation(f"shards of {size} have other rows: {difference}")
        ensure(
            nearly_equal(joined.value, base.value, subject.tolerance),
            f"the corpus number of shards of {size} is {joined.value!r}, "
            f"of the whole {base.value!r}",
        )


@INVARIANCE_CHECKS.of(MetricSubject)
def merge(subject: MetricSubject) -> None:
    """Corpus states of two shards, merged, give the rows of the state of all
    references, to the digit; of embeddings within 1e-5.
    """
    base = subject.base
    metric = subject.component
    sets = subject.sets
    if subject.state(subject.fit_features()) is None:
        raise NotApplicable("has no corpus state")
    if not hasattr(metric, "merge"):
        raise NotApplicable(
            "has corpus state and no merge(first, second): "
            "a run of several shards holds all texts in one process"
        )

    features = subject.fit_features()
    middle = len(sets) // 2
    states = [
        metric.fit([item.references for item in shard], features)
        for shard in (sets[:middle], sets[middle:])
    ]

    stats = metric.stats(features.batch(sets), features, metric.merge(*states))
    scores = numbers_of(metric, stats).per_example
    difference = largest_difference(base.per_example, scores, sets)
    ensure(
        same_rows(stats, base.stats, subject.tolerance),
        f"merged states of two shards give other rows: {difference}",
    )


@INVARIANCE_CHECKS.of(MetricSubject)
def corpus_state(subject: MetricSubject) -> None:
    """The references of other examples change no row of a metric that declares no
    corpus state.
    """
    base = subject.base
    metric = subject.component
    if has_corpus_state(metric):
        raise NotApplicable("declares corpus state")

    # a new instance keeps nothing that the first one has read
    with contextlib.suppress(NotApplicable):
        metric = second_instance(metric, constructor_values(metric, subject.parameters))
    features = FeatureCache([NONSENSE])
    numbers = subject.numbers(subject.sets, metric=metric, features=features)

    difference = largest_difference(base.per_example, numbers.per_example, subject.sets)
    ensure(
        same_rows(numbers.stats, base.stats, subject.tolerance),
        f"rows change with the references of other examples ({difference}): "
        "set MetricSpec(held_fixed=...)",
    )


@INVARIANCE_CHECKS.of(MetricSubject)
def weights(subject: MetricSubject) -> None:
    """Weights of 1 change nothing, weight 2 counts an example twice,
    weight 0 leaves it out.
    """
    metric = subject.component
    stats = subject.base.stats[subject.base.is_defined]
    count = len(stats)
    if not count:
        raise NotApplicable("is undefined for all plain examples")

    vectors = np.ones((3, count))
    vectors[1, 0] = 2
    if count > 1:  # a single row cannot be left out
        vectors[2, 0] = 0
    ones, double, remaining = (
        float(x) for x in np.asarray(metric.reduce(stats, vectors))
    )

    unweighted = float(metric.reduce(stats))
    ensure(
        nearly_equal(ones, unweighted),
        f"reduce with weights of 1 returns {ones!r}, without weights {unweighted!r}",
    )

    rows = np.arange(count)
    cases = (
        ("2", double, np.append(rows, 0)),
        ("0", remaining, rows[1:] if count > 1 else rows),
    )
    for weight, actual, repeated in cases:
        expected = float(metric.reduce(stats[repeated]))
        ensure(
            nearly_equal(actual, expected),
            f"weight {weight} gives {actual!r}; the rows repeated as often give "
            f"{expected!r}",
        )


def _ensure_same_scores(
    subject: MetricSubject, sets: Sequence[CaptionSet], texts: str
) -> None:
    base = subject.base
    numbers = subject.numbers(sets)
    difference = largest_difference(base.per_example, numbers.per_example, sets)
    same = nearly_equal(numbers.per_example, base.per_example, subject.tolerance)
    ensure(same, f"scores change with the order of the {texts}: {difference}")
    same = nearly_equal(numbers.value, base.value, subject.tolerance)
    ensure(same, f"the corpus number changes with the order of the {texts}")
