"""Interned n-grams against counting in dictionaries."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.ngram import index as ngrams
from harness.plugins.tokenisers import words
from harness.run.features import FeatureCache

sentences = st.lists(st.sampled_from(["a", "b", "dog", "ünï"]), max_size=9).map(" ".join)
quick = settings(max_examples=60, deadline=None)


def decoded(index, row):
    """Counts of a row by order, as lists of (n-gram, count) in the order in which they stand."""
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


def test_grams_by_name_are_those_of_the_texts():
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
        holds = [any(tuple(name.split()) in c for t in d for c in ngrams.count_ngrams(t.split())) for d in documents]
        assert df[gram] == sum(holds)


def test_texts_of_a_run_are_counted_once():
    features = FeatureCache()
    ids = features.intern(["a dog", "a dog", "the dog"])
    index = ngrams.index_of(features, "none")
    first = ngrams.rows_of(features, ids, "none")
    entries = index.n_entries
    assert np.array_equal(ngrams.rows_of(features, ids.reshape(1, 3), "none"), first.reshape(1, 3))
    assert index.n_entries == entries


def test_words_split_at_single_blanks():
    index = words.WordIndex()
    rows = index.add(["a b", "", "a\u00a0b", "a b"])
    assert rows.tolist() == [0, 1, 2, 0]
    assert np.diff(index.starts).tolist() == [2, 1, 1]
    assert index.words[:2].tolist() == [0, 1]
