"""Sorted keys of n-grams with their counts."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness_metrics.crnrr.runs import NgramRun, changes, count_keys, merge_runs, pack, sort_order, unpack


@given(st.integers(1, 6), st.sampled_from([16, 32]), st.data())
def test_packed_words_are_unpacked(order, bits, data):
    size = data.draw(st.integers(0, 5))
    numbers = st.lists(st.integers(0, (1 << bits) - 1), min_size=size, max_size=size)
    words = [np.array(data.draw(numbers), dtype=np.int64) for _ in range(order)]
    keys = pack(words, bits)
    assert keys.shape == (-(-order * bits // 64), size)
    for column, expected in zip(unpack(keys, order, bits), words):
        np.testing.assert_array_equal(column, expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20))
def test_sorted_keys_and_their_changes(pairs):
    keys = np.array(pairs, dtype=np.uint64).reshape(-1, 2).T
    keys = keys[:, sort_order(keys)]
    assert [tuple(row) for row in keys.T.tolist()] == sorted(pairs)
    assert int(changes(keys).sum()) == len(set(pairs))


def test_merged_runs_add_their_counts():
    runs = [
        NgramRun(np.array([[1, 5]], np.uint64), np.array([2, 3])),
        NgramRun(np.array([[5]], np.uint64), np.array([4])),
    ]
    result = merge_runs(runs)
    assert (result.keys.tolist(), result.counts.tolist()) == ([[1, 5]], [2, 7])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20), st.integers(1, 2))
def test_a_run_has_the_sorted_keys_and_their_counts(pairs, columns):
    tokens = [pair[:columns] for pair in pairs]
    run = count_keys(np.array(tokens, dtype=np.uint64).reshape(-1, columns).T)
    expected = sorted(Counter(tokens).items())
    assert [tuple(key) for key in run.keys.T.tolist()] == [key for key, _ in expected]
    assert run.counts.tolist() == [count for _, count in expected]
