"""Tolerance of ties: relative to a scale, for single numbers and arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import HasConstants, MeanMetric, MetricSpec, Objects
from harness.stats import ties

NUMBERS = st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-3)
SCORES = st.sampled_from(
    [
        0.0,
        1e-16,
        0.1,
        0.1 + 1e-9,
        0.1 + 2e-9,
        0.3,
        -0.3,
        -0.3 - 1e-9,
        np.nan,
        np.inf,
        -np.inf,
    ]
)


@given(st.lists(NUMBERS, min_size=1, max_size=200), st.randoms(use_true_random=False))
def test_sums_in_another_order_are_ties(terms, random):
    shuffled = list(terms)
    random.shuffle(shuffled)
    assert abs(sum(terms) - sum(shuffled)) <= ties.tolerance(sum(map(abs, terms)))


@given(st.lists(NUMBERS, min_size=1, max_size=50))
def test_float32_values_are_ties_of_their_float64_values(values):
    exact = np.array(values)
    rounded = exact.astype(np.float32).astype(np.float64)
    assert (
        np.abs(exact - rounded) <= ties.tolerance(np.abs(exact), ties.FLOAT32)
    ).all()


def test_magnitude_is_per_example_and_omits_infinities_and_nan():
    values = np.array(
        [[1.0, -2.0, 0.0], [np.inf, -3.0, np.nan], [np.nan, np.nan, np.nan]]
    )
    assert ties.magnitude(values).tolist() == [2.0, 3.0, 0.0]
    assert ties.magnitude(np.empty((2, 0))).tolist() == [0.0, 0.0]


@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=12))
def test_settled_values_are_the_smallest_of_their_chain_column_by_column(rows):
    values = np.array(rows)
    settled = ties.settle(values, 1e-7)
    for column, of_column in zip(values.T, settled.T):
        np.testing.assert_array_equal(of_column, ties.settle(column, 1e-7))
        chain = None
        expected = {}
        previous = None
        for value in sorted(column[~np.isnan(column)]):
            together = previous is not None and (
                value == previous
                or (
                    np.isfinite([value, previous]).all()
                    and value - previous <= 1e-7 * max(abs(value), abs(previous))
                )
            )
            chain = chain if together else value
            expected[value], previous = chain, value
        np.testing.assert_array_equal(
            of_column, [expected.get(value, np.nan) for value in column]
        )


class Halves(MeanMetric):
    """A metric of two factors, of which the statistics say whether they are
    constants.
    """

    spec = MetricSpec("halves", True)

    def own_share(self, stats):
        return np.where(np.isnan(stats[:, 0]), np.nan, stats[:, 1])


def test_scores_of_constants_are_zero_and_those_of_constants_alone_rank_as_zero():
    assert isinstance(Halves(), HasConstants) and not isinstance(
        MeanMetric(), HasConstants
    )
    stats = np.array([[0.5, 1.0], [1e-5, 0.5], [1e-9, 0.0], [np.nan, np.nan]])
    scores = stats[:, 0]
    np.testing.assert_array_equal(
        ties.without_constants(Halves(), stats, scores), [0.5, 0.0, 0.0, np.nan]
    )
    np.testing.assert_array_equal(
        ties.rank_scores(Halves(), stats, scores), [0.5, 1e-5, 0.0, np.nan]
    )


@pytest.mark.parametrize("zero", [ties.without_constants, ties.rank_scores])
def test_scores_of_other_metrics_and_without_statistics_stay(zero):
    scores = np.array([1e-16, 0.5])
    assert (
        zero(MeanMetric(), scores[:, None], scores) is scores
        and zero(Halves(), None, scores) is scores
    )
    assert zero(Halves(), Objects.of([[1.0], [2.0]], "halves"), scores) is scores
