"""Law of a sum of discrete scores: equal to the enumerated law, in the bulk and in the
tails, on the whole grid and on a window.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stats import discrete_null
from harness.stats.discrete_null import SumNull


def fisher(size):
    return -np.log(np.arange(1, size + 1) / size)


@settings(max_examples=10)  # each example enumerates all sums
@given(st.lists(st.sampled_from([2, 3, 5, 6]), min_size=1, max_size=4), st.data())
def test_tails_equal_the_enumerated_ones(sizes, data):
    designs = sorted(set(sizes))
    null = SumNull(
        [fisher(size) for size in designs], [sizes.count(size) for size in designs]
    )
    tables = [null.scores[designs.index(size)].tolist() for size in sizes]
    sums = np.array([sum(outcome) for outcome in itertools.product(*tables)])
    for total in np.unique(sums):
        expected = math.log((sums >= total).mean())
        assert null.log_tail(int(total)) == pytest.approx(expected, abs=1e-9)
    total = data.draw(st.sampled_from(sums.tolist()))
    assert null._tilted_log_tail(total) == pytest.approx(
        math.log((sums >= total).mean()), abs=1e-8
    )
    assert null.log_tail(int(sums.max()) + 1) == -math.inf
    assert null.log_tail(0) == 0


@pytest.mark.parametrize(("size", "count"), [(5, 3000), (1820, 2000), (184_756, 500)])
def test_tilted_and_untilted_tails_agree_where_both_hold(size, count):
    null = SumNull([fisher(size)], [count])
    assert not null.is_whole
    start, tail = null._tail_probabilities
    for probability in (1e-2, 1e-4, 1e-7):
        index = int(np.flatnonzero(tail < probability)[0])
        assert null._tilted_log_tail(start + index) == pytest.approx(
            math.log(tail[index]), abs=1e-5
        )
    assert null.log_tail(start + 1) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("size", "count"), [(5, 40), (3003, 5000)])
def test_the_largest_sum_has_the_product_of_the_smallest_probabilities(size, count):
    null = SumNull([fisher(size)], [count])
    assert null.scores[0][0] > null.scores[0][1], (
        "the smallest two p-values have different scores"
    )
    assert null.log_tail(int(null.scores[0][0]) * count) == pytest.approx(
        -count * math.log(size), rel=1e-9
    )


def test_a_design_with_one_outcome_has_a_degenerate_law():
    null = SumNull([np.zeros(1)], [7])
    assert null.log_tail(0) == 0
    assert null.log_tail(1) == -math.inf


def test_tails_do_not_increase_across_the_switch_to_the_tilted_law():
    null = SumNull([fisher(20)], [200])
    start, tail = null._tail_probabilities
    switch = start + int(np.flatnonzero(tail < discrete_null._DIRECT)[0])
    values = [null.log_tail(total) for total in range(switch - 20, switch + 20)]
    assert all(a >= b - 1e-8 for a, b in itertools.pairwise(values))


def test_examples_without_a_choice_leave_the_law_of_the_others():
    null = SumNull([np.array([1.0, 0.0]), np.array([0.0])], [1, 70_000])
    assert null.step > 0
    assert null.log_tail(int(null.scores[0][0])) == pytest.approx(math.log(0.5))


def test_ties_of_products_stay_ties_in_150_small_designs():
    rng = np.random.default_rng(0)
    for _ in range(150):
        sizes = rng.integers(2, 13, rng.integers(2, 5)).tolist()
        designs = sorted(set(sizes))
        null = SumNull(
            [fisher(size) for size in designs], [sizes.count(size) for size in designs]
        )
        products = np.array(
            [
                math.prod(ranks)
                for ranks in itertools.product(*(range(1, m + 1) for m in sizes))
            ]
        )
        for _ in range(10):
            ranks = [int(rng.integers(1, size + 1)) for size in sizes]
            p = null.log_p(
                [
                    np.array([r for r, m in zip(ranks, sizes) if m == size])
                    for size in designs
                ]
            )
            assert math.exp(p) == pytest.approx(
                float((products <= math.prod(ranks)).mean()), rel=1e-12
            )


def test_sums_of_too_many_values_are_those_of_the_grid():
    for size, count in ((4, 500), (200, 40)):
        null = SumNull([fisher(size)], [count])
        ranks = np.full(count, 2)
        assert null._enumerated is None
        assert null.log_p([ranks]) == null.log_tail(
            int(null.scores[0][ranks - 1].sum())
        )


@pytest.mark.parametrize(("size", "count"), [(4, 60), (6, 20)])
def test_enumerated_tails_are_those_of_the_grid_up_to_ties(size, count):
    null = SumNull([fisher(size)], [count])
    assert null._enumerated is not None
    ranks = np.random.default_rng(1).integers(1, size + 1, count)
    grid = null.log_tail(int(null.scores[0][ranks - 1].sum()))
    assert null.log_p([ranks]) == pytest.approx(grid, abs=0.05)
    assert null.log_p([np.ones(count, dtype=int)]) == pytest.approx(
        -count * math.log(size), rel=1e-9
    )
    assert null.log_p([np.full(count, size)]) == pytest.approx(0.0, abs=1e-12)
