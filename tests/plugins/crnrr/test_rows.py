"""Captions as rows of numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.crnrr.rows import WordRows, parse, repeat_rows, word_hash


class Plain(WordRows):
    tokenizer = "none"


texts = st.lists(st.text("ab ", max_size=6), min_size=2, max_size=2).map(tuple)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_words_are_read_back_from_the_rows(items):
    sets = [CaptionSet(str(k), candidates, references) for k, (candidates, references) in enumerate(items)]
    features = FeatureCache()
    stats = Plain().stats(features.batch(sets), features, None)
    q, p = parse(stats)
    lengths = [len(text.split()) for candidates, references in items for text in (*candidates, *references)]
    counts = np.bincount(q.sentence, minlength=len(lengths)) + np.bincount(p.sentence, minlength=len(lengths))
    assert counts.tolist() == lengths
    assert q.unit.tolist() == [row for row in range(len(items)) for _ in range(4)]
    number = [row * 4 + k for row in range(len(items)) for k in range(2)]
    assert set(q.sentence) <= set(number) and not set(p.sentence) & set(number)


def test_equal_words_have_equal_ids():
    features = FeatureCache()
    stats = Plain().stats(features.batch([CaptionSet("1", ("a b a",), ("b c",))]), features, None)
    q, p = parse(stats)
    assert q.ids[0] == q.ids[2] != q.ids[1]
    assert q.ids[1] == p.ids[0] != p.ids[1]


def test_hashes_are_whole_numbers_that_do_not_change():
    assert word_hash("dog") == word_hash("dog") != word_hash("cat")
    assert word_hash("dog").is_integer() and 0 <= word_hash("dog") < 2**52


def test_repeated_rows():
    stats = np.array([[1.0], [2.0], [3.0]])
    parts = list(repeat_rows(stats, np.array([[1, 0, 2], [0, 0, 0]])))
    assert parts[0].ravel().tolist() == [1, 3, 3] and parts[1].shape == (0, 1)
