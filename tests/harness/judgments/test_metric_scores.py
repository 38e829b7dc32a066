"""Scores of a metric: differences that are rounding, sets of other sizes."""

import numpy as np
import pytest

from harness.judgments.metric_scores import Agreement, MetricScores, count_unequal


def test_differences_by_rounding_alone_are_ties():
    # BLEU-1 of 3 in 6 words and of 4 in 8 words, as the toolkit computes them.
    first = 3 / (6 + 1e-9)
    second = 4 / (8 + 1e-9)
    assert first != second
    scores = MetricScores(np.array([first, second, 1.0, 0.9, 0.0, np.nan])[:, None])
    compared = scores.compare_pairs(np.array([0, 2, 4, 5]), np.array([1, 3, 4, 4]))
    assert (
        compared[:, 0].tolist() == pytest.approx([0.0, 0.1, 0.0, np.nan], nan_ok=True)
        and compared[0, 0] == 0.0
    )


def test_sizes_that_count():
    first = np.array([0, 0])
    second = np.array([1, 2])
    scores = MetricScores(np.zeros((3, 1)), sizes={"references": np.array([4, 5, 4])})
    unequal = scores.sizes_differ(first, second)
    assert unequal.tolist() == [True, False] and count_unequal(unequal) == {
        "unequal": 1
    }
    assert scores.sizes_differ(second, first).tolist() == [True, False]
    several = MetricScores(
        np.zeros((3, 1)),
        sizes={"candidates": np.array([1, 2, 1]), "references": np.array([4, 5, 5])},
    )
    assert several.sizes_differ(
        np.array([0, 0, 1, 1]), np.array([0, 1, 2, 1])
    ).tolist() == [False, True, True, False]
    assert (
        not MetricScores(np.zeros((3, 1))).sizes_differ(first, second).any()
        and count_unequal(~unequal & unequal) == {}
    )


def test_the_largest_difference_by_rounding_is_relative():
    scores = MetricScores(np.array([1e7, 1e7 - 1, 1e7 - 2, 0.5, 0.5001])[:, None])
    first = np.array([0, 1, 0, 3, 4])
    second = np.array([1, 0, 2, 4, 3])
    assert scores.compare_pairs(first, second)[:, 0].tolist() == pytest.approx(
        [0.0, 0.0, 2.0, -1e-4, 1e-4]
    )


def test_preferences_of_a_metric_that_judges_pairs_are_taken_as_they_are():
    of_pairs = np.array([[1.0], [np.nan], [-1.0]])
    scores = MetricScores(np.zeros((2, 1)), of_pairs=of_pairs)
    np.testing.assert_array_equal(
        scores.compare_pairs(np.array([0, 1, 0]), np.array([1, 0, 1])), of_pairs
    )


def test_an_agreement_skips_nothing_unless_it_says_so():
    agreement = Agreement(lambda weights: weights.sum(axis=1), 3)
    assert (agreement.n, agreement.skipped, agreement.details) == (3, 0, {})
