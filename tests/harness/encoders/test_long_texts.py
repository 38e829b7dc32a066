"""Texts beyond the length of a model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.encoders.long_texts import (
    count_cut_tokens,
    cut_ids,
    divide,
    mean_of_windows,
    window_ids,
)

IDS = st.lists(st.integers(5, 9), max_size=30).map(lambda inner: [1, *inner, 2])


@given(IDS, st.integers(3, 12))
def test_windows_hold_all_tokens_once(ids, limit):
    windows = window_ids(ids, limit)
    assert all(len(w) <= limit and (w[0], w[-1]) == (1, 2) for w in windows)
    assert [k for window in windows for k in window[1:-1]] == ids[1:-1]
    assert cut_ids(ids, limit)[: limit - 1] == windows[0][: limit - 1]


def test_means_of_windows_have_unit_length_and_single_vectors_keep_their_bits():
    rows, owners = divide([[1, 2], [1, 5, 6, 7, 8, 2]], 4, "windows")
    assert rows == [[1, 2], [1, 5, 6, 2], [1, 7, 8, 2]]
    vectors = np.array([[0.1, 0.3], [1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    means = mean_of_windows(vectors, owners, 2, normalize=True)
    assert means[0].tolist() == vectors[0].tolist()
    assert means[1] == pytest.approx([0.5**0.5, 0.5**0.5])


def test_tokens_are_counted_of_long_texts_alone():
    asked: list[list[str]] = []

    def token_ids(texts):
        asked.append(texts)
        return [[1, *range(len(text.split())), 2] for text in texts]

    texts = ["a dog", "a b c d e f g", "a" * 30]
    assert count_cut_tokens(texts, 8, token_ids).tolist() == [0, 1, 0]
    assert asked == [texts[1:]]
    assert count_cut_tokens([], 8, token_ids).tolist() == []
