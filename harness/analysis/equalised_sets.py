"""Tests of two systems whose set sizes differ, on random subsets of the larger sets
within each example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import erfc, nan, sqrt
from typing import cast

import numpy as np

from harness.analysis.paired_family import (
    PairedMetric,
    PairedTests,
    SystemData,
    paired_tests,
)
from harness.contracts import CaptionSet, Metric, Objects
from harness.run.score import score_sets
from harness.stats.draws import DrawFamily
from harness.stats.name_order import name_key
from harness.stats.resampled_difference import ResampledDifference
from harness.stats.seeds import derive

SUBSETS = 20
"""Number of random subsets of each example over which a number is averaged."""
CORPUS_DRAWS = 200
"""Maximum number of weight vectors for each subset of a corpus metric:
they give a standard error only.
"""


def equalised_tests(
    metric: Metric,
    a: Sequence[CaptionSet],
    b: Sequence[CaptionSet],
    draws: int,
    seed: int,
) -> PairedTests:
    """Return the tests of two systems after both have the same number of candidates and
    references in each example.

    Of each example the side with fewer references gives those of both, and the side
    with more candidates is cut to the number of the other by :data:`SUBSETS` random
    subsets, determined by ``seed`` and the id. A number of sums is tested once, on
    statistics averaged over the subsets. A corpus metric is tested for each subset; its
    difference is the mean, with the variance of one subset plus that of a mean over
    subsets, and a normal p-value.

    Parameters
    ----------
    metric : Metric
        The metric.
    a, b : sequence of CaptionSet
        Caption sets of both systems; examples that one of them lacks are left out.
    draws, seed : int
        Weight vectors of each test; seed of these and of the subsets.
    """
    sets_b = {item.id: item for item in b}
    pairs = [
        (item, sets_b[item.id])
        for item in sorted(a, key=lambda item: name_key(item.id))
        if item.id in sets_b
    ]
    references = [
        min(one.references, other.references, key=len) for one, other in pairs
    ]
    counts = [min(len(one.candidates), len(other.candidates)) for one, other in pairs]

    # The sets of both systems are scored together, so that a metric is fitted on what
    # both have in common.
    halves = slice(0, len(pairs)), slice(len(pairs), None)
    subsets: list[list[SystemData]] = []
    for number in range(SUBSETS):
        sets: list[CaptionSet] = []
        for system in (0, 1):
            for pair, count, texts in zip(pairs, counts, references):
                candidates = _subset(pair[system], count, number, seed)
                sets.append(CaptionSet(pair[system].id, candidates, texts))
        (scored,) = score_sets([metric], sets, references=references)
        scores = scored.per_example(metric)
        subsets.append(
            [SystemData(scored.stats[half], scores[half]) for half in halves]
        )

    # Sums may be averaged over the subsets, and tested once.
    if not isinstance(subsets[0][0].stats, Objects):
        sides = [_average([subset[side] for subset in subsets]) for side in (0, 1)]
        family = DrawFamily(len(pairs), draws, seed)
        (tests,) = paired_tests([PairedMetric(metric, *sides)], family)
        return tests

    family = DrawFamily(len(pairs), min(draws, CORPUS_DRAWS), seed)
    items = [PairedMetric(metric, *subset) for subset in subsets]
    return _pool(list(paired_tests(items, family)))


def _subset(item: CaptionSet, count: int, number: int, seed: int) -> tuple[str, ...]:
    """Return a random subset of the candidates of an example in their order."""
    if count == len(item.candidates):
        return item.candidates
    generator = np.random.default_rng([derive(seed, item.id), number])
    positions = np.sort(generator.permutation(len(item.candidates))[:count])
    return tuple(item.candidates[int(index)] for index in positions)


def _average(subsets: Sequence[SystemData]) -> SystemData:
    """Return the mean statistics and scores over subsets; an example that is undefined
    for one subset is undefined.
    """
    rows = np.stack([cast(np.ndarray, subset.stats) for subset in subsets])
    stats = np.mean(rows, axis=0)
    stats[np.isnan(rows[:, :, 0]).any(axis=0)] = np.nan
    return SystemData(stats, np.mean([subset.scores for subset in subsets], axis=0))


def _pool(subsets: Sequence[PairedTests]) -> PairedTests:
    """Return the tests of a corpus metric over subsets."""
    first = subsets[0]
    reported = [tests.reported for tests in subsets if tests.reported is not None]
    if len(reported) < len(subsets):
        return first

    a, b, difference = (
        float(np.mean([getattr(result, name) for result in reported]))
        for name in ("a", "b", "difference")
    )
    # A subset on which the systems are equal with every part left out has no interval,
    # and no variance.
    halves = [
        (result.ci95[1] - result.ci95[0]) / (2 * 1.96) if result.ci95 else 0.0
        for result in reported
        if result.ci95 or not result.difference
    ]
    between = float(np.var([result.difference for result in reported], ddof=1))
    # The mean over subsets varies over examples at most as one subset does, and by the
    # finite number of subsets.
    error = 0.0
    if halves:
        error = sqrt(float(np.mean(np.square(halves))) + between / len(reported))

    untested = len(halves) < len(reported)
    if untested or not error:
        p_value = nan if untested or difference else 1.0
        pooled = ResampledDifference(
            a, b, difference, None, nan, nan, 0, False, p_value
        )
    else:
        ends = (difference - 1.96 * error, difference + 1.96 * error)
        p_value = erfc(abs(difference) / error / sqrt(2))
        pooled = ResampledDifference(
            a, b, difference, ends, nan, nan, reported[0].draws, False, p_value
        )
    return replace(first, reported=pooled)
