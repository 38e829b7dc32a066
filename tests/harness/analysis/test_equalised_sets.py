"""Tests of systems on sets of equal size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

from harness.analysis import equalised_sets
from harness.analysis.equalised_sets import equalised_tests
from harness.analysis.paired_family import PairedTests
from harness.contracts import CaptionSet
from harness.registry import resolve
from harness.stats.resampled_difference import ResampledDifference

WORDS = [f"w{number}" for number in range(400)]


def sets(
    candidates: int, seed: int, words: int = 400, copies: int = 1
) -> list[CaptionSet]:
    """Caption sets of random words; ``copies`` repeats the candidates."""
    rng = np.random.default_rng(seed)
    texts = [
        [" ".join(rng.choice(WORDS[:words], 6)) for _ in range(candidates)] * copies
        for _ in range(40)
    ]
    references = [
        [" ".join(np.random.default_rng(k).choice(WORDS, 6)) for _ in range(3)]
        for k in range(40)
    ]
    return [
        CaptionSet(str(k), tuple(c), tuple(r))
        for k, (c, r) in enumerate(zip(texts, references))
    ]


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "name", ["distinct", "compression-ratio", "vocabulary", "entropy"]
)
def test_copies_of_the_same_captions_do_not_differ(name):
    tests = equalised_tests(
        resolve("metrics", name), sets(1, 0), sets(1, 0, copies=10), 100, 0
    )
    assert tests.reported is not None
    assert tests.reported.difference == 0 and tests.reported.a == tests.reported.b


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "name", ["distinct", "vocabulary", {"trm": {"distance": "rouge"}}]
)
def test_more_captions_of_one_distribution_do_not_differ_and_poorer_ones_do(name):
    metric = resolve("metrics", name)
    same = equalised_tests(metric, sets(2, 1), sets(6, 2), 200, 0).reported
    poorer = equalised_tests(metric, sets(2, 1), sets(6, 2, words=20), 200, 0).reported
    assert same is not None and poorer is not None
    assert same.p_value > 0.05 and same.ci95[0] <= 0 <= same.ci95[1]
    assert poorer.p_value < 0.05 and not poorer.ci95[0] <= 0 <= poorer.ci95[1]


@pytest.mark.slow
def test_tests_of_subsets_are_pooled_with_the_variance_within_and_between_them():
    nan = float("nan")
    results = [
        ResampledDifference(
            0.5 + d, 0.5, d, (d - 0.196, d + 0.196), nan, 0.1, 99, False
        )
        for d in (0.2, 0.4, 0.3)
    ]
    subsets = [PairedTests(result, "", None, 10, 5, 5, 0) for result in results]
    pooled = equalised_sets._pool(subsets).reported
    error = np.sqrt(0.1**2 + np.var([0.2, 0.4, 0.3], ddof=1) / 3)
    assert (pooled.a, pooled.b, pooled.difference) == pytest.approx((0.8, 0.5, 0.3))
    assert pooled.ci95 == pytest.approx((0.3 - 1.96 * error, 0.3 + 1.96 * error))
    assert pooled.p_value == pytest.approx(2 * scipy_stats.norm.sf(0.3 / error))
    unknown = [
        *subsets[:2],
        replace(subsets[2], reported=replace(results[2], ci95=None)),
    ]
    assert equalised_sets._pool(unknown).reported.ci95 is None and np.isnan(
        equalised_sets._pool(unknown).reported.p_value
    )


@pytest.mark.slow
def test_subsets_are_determined_by_the_seed():
    metric = resolve("metrics", "distinct")
    first, again, other = (
        equalised_tests(metric, sets(2, 1), sets(6, 2), 50, seed).reported
        for seed in (0, 0, 1)
    )
    assert repr(first) == repr(again) != repr(other)
