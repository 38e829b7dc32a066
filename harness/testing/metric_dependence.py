"""Check of the set sizes on which a metric's expected number depends."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from harness.contracts import CaptionSet
from harness.contracts.metrics import SET_SIZES
from harness.testing.metric_subject import MetricSubject
from harness.testing.results import Checks, NotApplicable, Violation

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
    sizes = {name: min(len(getattr(item, name)) for item in sets) for name in SET_SIZES}
    sizes[side] = count - 1
    if not subject.accepts(sizes["candidates"], sizes["references"]):
        return None

    def scores(positions: tuple[int, ...]) -> np.ndarray:
        subsets = [_with_texts(item, side, positions) for item in sets]
        numbers = subject.numbers(subsets, features=features)
        if subject.component.spec.level == "corpus":
            return np.array([numbers.value])
        return numbers.per_example

    subsets = itertools.combinations(range(count), count - 1)
    small = np.stack([scores(positions) for positions in subsets])

    large = scores(tuple(range(count)))
    defined = ~np.isnan(small).any(axis=0) & ~np.isnan(large)
    if not defined.any():
        return None
    return small[:, defined].mean(axis=0), large[defined]


def _with_texts(item: CaptionSet, side: str, chosen: tuple[int, ...]) -> CaptionSet:
    texts = getattr(item, side)
    return replace(item, **{side: tuple(texts[index] for index in chosen)})
