"""The index of word sequences: equal texts share a row, and numbers of words are looked up once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.tokenisers.words import WordIndex, WordMap, word_index_of, word_rows_of
from harness.run.features import FeatureCache

WORDS = (
    "a",
    "b",
    "c",
    "A",
    "",
    "\t",
    "\n",
    "\x1c",
    "\x85",
    "\u00a0",
    "3\u00a01/2",
    "a\tb",
    "\u3000",
    "\0",
    "\u200b",
    "\ud800",
    "é",
)
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=8)


def words_of(index: WordIndex, row: int) -> list[str]:
    names = index.words_from(0)
    return [names[word] for word in index.words[index.starts[row] : index.starts[row + 1]]]


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=4))
def test_rows_are_the_texts_split_at_blanks(calls):
    index = WordIndex()
    for texts in calls:
        rows = index.add([*texts, *texts])
        assert [words_of(index, row) for row in rows] == [text.split(" ") for text in [*texts, *texts]]
        assert len(set(rows.tolist())) == len(set(texts))
        flat, bounds = index.runs(rows)
        assert bounds.tolist() == [0, *np.cumsum([len(text.split(" ")) for text in [*texts, *texts]])]
        assert [index.words_from(0)[word] for word in flat] == [word for t in [*texts, *texts] for word in t.split(" ")]


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=3))
def test_numbers_of_words_are_looked_up_once(calls):
    index, looked_up = WordIndex(), []

    def number(words):
        looked_up.extend(words)
        return np.asarray([ord(word) if len(word) == 1 else -1 for word in words], dtype=np.int64)

    numbers = WordMap(index, number)
    for texts in calls:
        complete, flat, bounds = numbers.numbers_of(index.add(texts))
        runs = [flat[start:stop].tolist() for start, stop in pairwise(bounds)]
        expected = [text.split(" ") for text in texts]
        assert complete.tolist() == [all(len(word) == 1 for word in words) for words in expected]
        assert runs == [[*map(ord, words)] for words, plain in zip(expected, complete) if plain]
    assert len(looked_up) == len(set(looked_up))


def test_words_are_separated_by_single_blanks():
    index = WordIndex()
    assert index.add(["a b", "", "a\u00a0b", "a b"]).tolist() == [0, 1, 2, 0]
    assert index.starts.tolist() == [0, 2, 3, 4]
    assert index.words[:2].tolist() == [0, 1]


def test_rows_of_a_run_are_shared_by_its_metrics():
    features = FeatureCache()
    ids = features.intern(["A dog.", "a dog", "A cat"])
    rows = word_rows_of(features, ids.reshape(3, 1), "ptb")
    assert rows.tolist() == [[0], [0], [1]]  # equal tokens share a row
    index = word_index_of(features, "ptb")
    assert index is word_index_of(features, "ptb")
    assert index is not word_index_of(features, "none")
    assert index.words_from(0) == ["a", "dog", "cat"]
    assert index.words_from(2) == ["cat"]
