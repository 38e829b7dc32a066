"""The n-gram index against counts in dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.ngram import index as ngrams
from harness.plugins.tokenisers.words import WordIndex
from harness.run.features import FeatureCache

sentences = st.lists(st.sampled_from(["a", "b", "dog", "ünï"]), max_size=9).map(" ".join)
quick = settings(max_examples=60, deadline=None)


def decoded(index, row):
    """Counts of a row: for each order the list of (n-gram, count), in the order of the index."""
    names = index.names()
    return [
        [(tuple(names[index.ids[e]].split()), int(index.counts[e])) for e in range(*index.bounds[row, k : k + 2])]
        for k in range(ngrams.ORDERS)
    ]


@quick
@given(st.lists(sentences, max_size=8), st.lists(sentences, max_size=4))
def test_rows_hold_the_counts_by_first_occurrence(first, second):
    index = ngrams.NgramIndex()
    rows = np.concatenate([index.add(first), index.add(second)])
    for text, row in zip([*first, *second], rows):
        expected = ngrams.count_ngrams(text.split())
        assert decoded(index, row) == [list(counts.items()) for counts in expected]
        assert index.lengths[row] == len(text.split())


def test_equal_token_sequences_share_a_row():
    index = ngrams.NgramIndex()
    assert index.add(["a b", "a  b", "b a", "", " "]).tolist() == [0, 0, 1, 2, 2]
    assert index.add(["b a"]).tolist() == [1]


def test_tables_grow_past_their_first_size():
    rng = np.random.default_rng(0)
    texts = [" ".join(map(str, rng.integers(0, 500, size=40))) for _ in range(3000)]
    index = ngrams.NgramIndex()
    rows = index.add(texts)
    for i in (0, 1500, 2999):
        assert decoded(index, rows[i]) == [list(c.items()) for c in ngrams.count_ngrams(texts[i].split())]
    assert index.n_grams == len(set(index.names()))


def test_ids_of_n_grams_by_name_are_those_of_the_texts():
    index = ngrams.NgramIndex()
    row = index.add(["a b c d"])[0]
    names = ["a", "c d", "b c d", "a b c d"]
    ids = index.gram_ids(names)
    assert set(ids) <= set(index.ids[index.bounds[row, 0] : index.bounds[row, 4]].tolist())
    assert [index.names()[i] for i in ids] == names
    new = index.gram_ids(["x y z", "x y"])
    row = index.add(["x y z"])[0]
    assert set(new) <= set(index.ids[index.bounds[row, 0] : index.bounds[row, 4]].tolist())


@quick
@given(st.lists(st.lists(sentences, min_size=1, max_size=3), min_size=1, max_size=5))
def test_document_frequencies_count_documents_once(documents):
    index = ngrams.NgramIndex()
    df = index.document_frequencies([index.add(texts) for texts in documents])
    for gram, name in enumerate(index.names()):
        contains = [any(tuple(name.split()) in c for t in d for c in ngrams.count_ngrams(t.split())) for d in documents]
        assert df[gram] == sum(contains)


def test_a_text_is_counted_once_per_run():
    features = FeatureCache()
    ids = features.intern(["a dog", "a dog", "the dog"])
    index = ngrams.index_of(features, "none")
    first = ngrams.rows_of(features, ids, "none")
    entries = index.n_entries
    assert np.array_equal(ngrams.rows_of(features, ids.reshape(1, 3), "none"), first.reshape(1, 3))
    assert index.n_entries == entries


def test_n_grams_by_name_have_one_to_four_words():
    index = ngrams.NgramIndex()
    for gram in ("", " ", "a b c d e"):
        with pytest.raises(ValueError, match="is not an n-gram of one to 4 words"):
            index.gram_ids(["a", gram])


WORDS = ("a", "b", "A", "", "\t", "\n", "\x85", "\u00a0", "3\u00a01/2", "a\tb", "\0", "\u200b", "\ud800", "é")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=8)


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=3))
def test_texts_that_a_word_index_has_split_are_counted_as_whole_ones(calls):
    """Texts equal up to white space share a row; a word that contains white space is split."""
    words, index = WordIndex(), ngrams.NgramIndex()
    for whole, texts in calls:
        index.add(whole)
        texts = [*texts, *texts[:2]]
        rows = index.add_split(texts, words, words.add(texts))
        for text, row in zip(texts, rows):
            assert decoded(index, row) == [list(counts.items()) for counts in ngrams.count_ngrams(text.split())]
            assert index.lengths[row] == len(text.split())
        assert len(set(rows.tolist())) == len({tuple(text.split()) for text in texts})
        assert index.add(texts).tolist() == rows.tolist()
