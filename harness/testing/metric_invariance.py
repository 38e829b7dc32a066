"""Checks of a metric under other orders, shards, weights, shapes,
set sizes and unusual texts.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.contracts import CaptionSet, has_corpus_state, join_statistics
from harness.contracts.metrics import SET_SIZES
from harness.run.features import FeatureCache
from harness.testing.metric_subject import (
    MetricSubject,
    largest_difference,
    nearly_equal,
    numbers_of,
    same_rows,
)
from harness.testing.metrics import ensure_finite
from harness.testing.results import (
    Checks,
    NotApplicable,
    Violation,
    ensure,
    violation_on_error,
)
from harness.testing.sample_captions import (
    NONSENSE,
    UNUSUAL_TEXTS,
    repeat_to,
    with_candidates,
)
from harness.testing.shared_checks import constructor_values, second_instance

INVARIANCE_CHECKS = Checks("metrics")
SMALL_SHAPES = ((1, 1), (1, 4), (3, 1), (2, 3), (4, 2))
"""Shapes (n, m) of the sets that the check ``ragged`` mixes."""


# --------------------------------------------------------------------------- order, shards, weights
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
        # each shard is scored with the corpus state of the whole task
        for start in range(0, len(sets), size):
            shards.append(
                subject.numbers(
                    sets[start : start + size], features=subject.fit_features()
                ).stats
            )
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
    difference = largest_difference(
        base.per_example, numbers_of(metric, stats).per_example, sets
    )
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
    numbers = subject.numbers(
        subject.sets, metric=metric, features=FeatureCache([NONSENSE])
    )
    difference = largest_difference(base.per_example, numbers.per_example, subject.sets)
    same = same_rows(numbers.stats, base.stats, subject.tolerance)
    ensure(
        same,
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
    # a single row cannot be left out
    vectors[1, 0], vectors[2, 0] = 2, 0 if count > 1 else 1
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


# --------------------------------------------------------------------------- shapes and unusual texts
@INVARIANCE_CHECKS.of(MetricSubject)
def ragged(subject: MetricSubject) -> None:
    """Sets of several shapes in one corpus are scored or undefined; each has the row
    that it has alone, of embeddings within 1e-5.
    """
    _ = subject.base
    shapes = [shape for shape in SMALL_SHAPES if subject.accepts(*shape)]
    if not shapes:
        raise NotApplicable("accepts none of the small shapes")
    mixed = [
        subject.reshape_sets(*shapes[k % len(shapes)])[k]
        for k in range(len(subject.sets))
    ]
    together = subject.numbers(mixed, features=subject.fit_features())
    ensure_finite(subject, together, mixed, "sets of several shapes")
    for k, item in enumerate(mixed):
        alone = subject.numbers([item], features=subject.fit_features())
        difference = largest_difference(
            alone.per_example, together.per_example[k : k + 1], [item]
        )
        ensure(
            same_rows(alone.stats, together.stats[k : k + 1], subject.tolerance),
            f"a set of {len(item.candidates)} + {len(item.references)} has another "
            f"row among other shapes: {difference}",
        )


@INVARIANCE_CHECKS.of(MetricSubject)
def one_reference(subject: MetricSubject) -> None:
    """One reference is scored or undefined."""
    _ = subject.base
    n = max(2, subject.component.spec.min_candidates)
    if not subject.accepts(n, 1):
        raise NotApplicable(f"needs {subject.component.spec.min_references} references")
    sets = subject.reshape_sets(n, 1)
    ensure_finite(subject, subject.numbers(sets), sets, "one reference")


@INVARIANCE_CHECKS.of(MetricSubject)
def odd_texts(subject: MetricSubject) -> None:
    """Empty, blank, one-word, unicode and long candidates are scored or undefined, and
    change no other example's row (embeddings: 1e-5).
    """
    base = subject.base
    sets = subject.sets
    for kind, texts in UNUSUAL_TEXTS.items():
        changed = [with_candidates(sets[0], texts), *sets[1:]]
        with violation_on_error(f"candidates ({kind})"):
            numbers = subject.numbers(changed)
            ensure_finite(subject, numbers, changed, f"candidates ({kind})")
        ensure(
            same_rows(numbers.stats[1:], base.stats[1:], subject.tolerance),
            f"candidates ({kind}) of one example change the rows of others",
        )


@INVARIANCE_CHECKS.of(MetricSubject)
def odd_references(subject: MetricSubject) -> None:
    """Empty, blank, one-word, unicode and long references are scored or undefined."""
    _ = subject.base
    sets = subject.sets
    for kind, texts in UNUSUAL_TEXTS.items():
        references = repeat_to(texts, len(sets[0].references))
        changed = [replace(sets[0], references=references), *sets[1:]]
        with violation_on_error(f"references ({kind})"):
            ensure_finite(
                subject, subject.numbers(changed), changed, f"references ({kind})"
            )


DEPENDENCE_CHECKS = Checks("metrics")
SLACK = 1e-6
"""Largest relative difference of two expected numbers that counts as none;
features are float32.
"""


@DEPENDENCE_CHECKS.of(MetricSubject)
def depends_on(subject: MetricSubject) -> None:
    """``spec.depends_on`` has every set size on which the expected number depends."""
    _ = subject.base
    declared = subject.component.spec.depends_on or frozenset()
    sizes = [name for name in SET_SIZES if name not in declared]
    if not sizes:
        raise NotApplicable("declares that it depends on all sizes")
    measured = {name: _expected_numbers(subject, name) for name in sizes}
    for name, numbers in measured.items():
        if numbers is not None and not np.allclose(*numbers, rtol=SLACK, atol=SLACK):
            small, large = (float(np.mean(values)) for values in numbers)
            raise Violation(
                f"depends on the number of {name}: {small:.6g} is the mean over all "
                f"subsets of {large:.6g}; "
                f'declare MetricSpec(depends_on=frozenset({{"{name}", ...}}))'
            )
    if all(numbers is None for numbers in measured.values()):
        raise NotApplicable(
            "is undefined for fewer texts than the captions of the check have"
        )


def _expected_numbers(
    subject: MetricSubject, side: str
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the mean score of each example over all subsets of one text less, and the
    score of the whole set, shapes (B,).

    A number that does not depend on the size, such as a mean over candidates, has the
    same expectation on both. The number of a corpus metric stands for the scores. None
    where the metric needs the whole set.
    """
    sets = subject.sets
    features = subject.fit_features()
    count = min(len(getattr(item, side)) for item in sets)
    sizes = {
        name: min(len(getattr(item, name)) for item in sets) for name in SET_SIZES
    } | {side: count - 1}
    if not subject.accepts(sizes["candidates"], sizes["references"]):
        return None

    def scores(positions: tuple[int, ...]) -> np.ndarray:
        subsets = [_with_texts(item, side, positions) for item in sets]
        numbers = subject.numbers(subsets, features=features)
        return (
            np.array([numbers.value])
            if subject.component.spec.level == "corpus"
            else numbers.per_example
        )

    small = np.stack(
        [
            scores(positions)
            for positions in itertools.combinations(range(count), count - 1)
        ]
    )
    large = scores(tuple(range(count)))
    defined = ~np.isnan(small).any(axis=0) & ~np.isnan(large)
    return (small[:, defined].mean(axis=0), large[defined]) if defined.any() else None


def _with_texts(item: CaptionSet, side: str, chosen: tuple[int, ...]) -> CaptionSet:
    texts = getattr(item, side)
    return replace(item, **{side: tuple(texts[index] for index in chosen)})
