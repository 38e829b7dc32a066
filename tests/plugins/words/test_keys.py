"""Words and keys of n-grams."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness_metrics.words.keys import Vocabulary, changes, pack, sort_order


def test_a_word_has_one_id_in_all_corpora():
    vocabulary = Vocabulary()
    assert vocabulary.ids([["a", "b"], ["a"]], 3).tolist() == [0, 1, 0]
    assert vocabulary.ids([["c", "b"]], 2).tolist() == [2, 1]


@given(st.integers(1, 5), st.data())
def test_keys_are_ordered_as_their_words(order, data):
    ids = st.lists(st.integers(0, 2**32 - 1), min_size=order, max_size=order)
    grams = data.draw(st.lists(ids, min_size=1, max_size=8))
    keys = pack([np.array(column) for column in zip(*grams)])
    assert keys.shape == (-(-order // 2), len(grams))
    indices = sort_order(keys)
    assert [grams[index] for index in indices] == sorted(grams)
    ordered = sorted(grams)
    assert changes(keys[:, indices]).tolist() == [
        k == 0 or ordered[k] != ordered[k - 1] for k in range(len(grams))
    ]
