"""Checks of a metric on sets of several shapes and on unusual texts."""

from __future__ import annotations

from dataclasses import replace

from harness.testing.metric_scores import ensure_finite
from harness.testing.metric_subject import MetricSubject, largest_difference, same_rows
from harness.testing.results import Checks, NotApplicable, ensure, violation_on_error
from harness.testing.sample_captions import UNUSUAL_TEXTS, repeat_to, with_candidates

UNUSUAL_SET_CHECKS = Checks("metrics")
SMALL_SHAPES = ((1, 1), (1, 4), (3, 1), (2, 3), (4, 2))
"""Shapes (n, m) of the sets that the check ``ragged`` mixes."""


@UNUSUAL_SET_CHECKS.of(MetricSubject)
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


@UNUSUAL_SET_CHECKS.of(MetricSubject)
def one_reference(subject: MetricSubject) -> None:
    """One reference is scored or undefined."""
    _ = subject.base
    n = max(2, subject.component.spec.min_candidates)
    if not subject.accepts(n, 1):
        raise NotApplicable(f"needs {subject.component.spec.min_references} references")
    sets = subject.reshape_sets(n, 1)
    ensure_finite(subject, subject.numbers(sets), sets, "one reference")


@UNUSUAL_SET_CHECKS.of(MetricSubject)
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


@UNUSUAL_SET_CHECKS.of(MetricSubject)
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
