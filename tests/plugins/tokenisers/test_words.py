"""Runs of words: split at single blanks, equal texts once, and what is derived from each word found once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.ngram.index import NgramIndex, count_ngrams
from harness.plugins.tokenisers.words import WordIndex, WordMap

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


@settings(deadline=None)  # kernels and rules are compiled on first use
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


@settings(deadline=None)  # kernels and rules are compiled on first use
@given(st.lists(TEXTS, max_size=3))
def test_numbers_of_words_are_asked_for_once(calls):
    index, asked = WordIndex(), []

    def number(words):
        asked.extend(words)
        return np.asarray([ord(word) if len(word) == 1 else -1 for word in words], dtype=np.int64)

    numbers = WordMap(index, number)
    for texts in calls:
        good, flat, bounds = numbers.numbers_of(index.add(texts))
        runs = [flat[start:stop].tolist() for start, stop in pairwise(bounds)]
        expected = [text.split(" ") for text in texts]
        assert good.tolist() == [all(len(word) == 1 for word in words) for words in expected]
        assert runs == [[*map(ord, words)] for words, plain in zip(expected, good) if plain]
    assert len(asked) == len(set(asked))


def grams(index: NgramIndex, row: int) -> list[dict[str, int]]:
    names, bounds = index.names(), index.bounds[row]
    return [
        {names[index.ids[entry]]: int(index.counts[entry]) for entry in range(bounds[k], bounds[k + 1])}
        for k in range(4)
    ]


@settings(deadline=None)  # kernels and rules are compiled on first use
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=3))
def test_split_texts_count_as_whole_ones(calls):
    """Equal up to white space: one row; what is not one word at white space is split there; duplicates in one call."""
    words, index = WordIndex(), NgramIndex()
    for whole, texts in calls:
        index.add(whole)
        texts = [*texts, *texts[:2]]
        rows = index.add_split(texts, words, words.add(texts))
        for text, row in zip(texts, rows):
            expected = [{" ".join(gram): n for gram, n in counts.items()} for counts in count_ngrams(text.split())]
            assert grams(index, row) == expected
            assert index.lengths[row] == len(text.split())
        assert len(set(rows.tolist())) == len({tuple(text.split()) for text in texts})
        assert index.add(texts).tolist() == rows.tolist()
