"""Bags of words: vocabulary, counts, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Embedding
from harness.errors import HarnessError
from harness_metrics.embeddings.bow import BagOfWords
from harness_metrics.tokenisers.plain_words import plain_words


def test_the_vocabulary_holds_the_most_frequent_words():
    bow = BagOfWords(vocabulary=3)
    bow.fit([["a dog", "a cat"], ["A dog's life", "b b"]])
    # a occurs three times, b twice; of the words that occur once, "cat" is the first
    assert bow.encode(["a a b", "cat CAT", "zebra"]).tolist() == [[2, 1, 0], [0, 0, 2], [0, 0, 0]]
    assert isinstance(bow, Embedding)
    assert bow.signature() == "bow|3"


@given(st.lists(st.text("ab' .", max_size=12), min_size=1, max_size=6))
def test_with_the_whole_vocabulary_rows_sum_to_the_number_of_words(texts):
    bow = BagOfWords()
    bow.fit([[*texts, "a"]])
    vectors = bow.encode(texts)
    assert vectors.dtype == np.float32
    assert vectors.sum(axis=1).tolist() == [len(plain_words(text, joiners="'")) for text in texts]


def test_errors():
    with pytest.raises(HarnessError, match="must be fitted on the task's references"):
        BagOfWords().encode(["a"])
    with pytest.raises(HarnessError, match="they hold no word"):
        BagOfWords().fit([["", "!"]])
    with pytest.raises(HarnessError, match="at least one word; found 0"):
        BagOfWords(vocabulary=0)
