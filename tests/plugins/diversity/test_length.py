"""Length of captions."""

import numpy as np

import harness


def test_length_counts_the_words_of_candidates():
    result = harness.metric("caption-length", tokenizer="none")(
        [["a b c", "a"], ["a b", "a b"]], [["x"], ["x"]]
    )
    assert result.value == 2.0
    np.testing.assert_array_equal(result.per_example, [2.0, 2.0])
