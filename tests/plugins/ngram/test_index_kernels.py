"""Compiled loops of the n-gram index: hash table, counts, document frequencies."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.ngram import index_kernels as kernels
from harness.plugins.ngram.index import count_ngrams


def table(size):
    return np.full(size, kernels.EMPTY, dtype=np.int64), np.zeros(size, dtype=np.int32)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=60))
def test_extended_n_grams_have_one_id_each_also_in_a_larger_table(pairs):
    prefix, words = (np.array([pair[k] for pair in pairs], dtype=np.int64) for k in (0, 1))
    keys, values = table(128)
    ids, n_grams = kernels.extend_grams(words, prefix, keys, values, 100)
    first_seen = {pair: 100 + number for number, pair in enumerate(dict.fromkeys(pairs))}
    assert ids.tolist() == [first_seen[pair] for pair in pairs]
    assert n_grams == 100 + len(first_seen)
    larger = table(256)
    kernels.rehash(keys, values, *larger)
    again, n_again = kernels.extend_grams(words, prefix, *larger, n_grams)
    assert again.tolist() == ids.tolist()
    assert n_again == n_grams


def counted(texts):
    """Arrays ids, counts, bounds and the number of n-grams of texts of word ids below 10."""
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    flat = np.array([word for text in texts for word in text], dtype=np.int64)
    ids, counts = np.zeros(4 * len(flat), dtype=np.int32), np.zeros(4 * len(flat), dtype=np.int32)
    bounds, seen = np.zeros((len(texts), 5), dtype=np.int64), np.full(10 + 4 * len(flat), -1, dtype=np.int64)
    n_grams, n_entries = kernels.count_texts(flat, starts, *table(512), 10, seen, 0, ids, counts, bounds)
    return ids[:n_entries], counts[:n_entries], bounds, n_grams


TEXTS = st.lists(st.lists(st.integers(0, 9), max_size=8), min_size=1, max_size=5)


@settings(deadline=None)
@given(TEXTS)
def test_counts_are_those_of_a_dictionary_by_first_occurrence(texts):
    ids, counts, bounds, n_grams = counted(texts)
    gram_of = {}
    for text, row in zip(texts, bounds):
        for k, expected in enumerate(count_ngrams([str(word) for word in text])):
            entries = slice(row[k], row[k + 1])
            assert counts[entries].tolist() == list(expected.values())
            for gram, number in zip(expected, ids[entries].tolist()):
                assert gram_of.setdefault(number, gram) == gram
    longer = {gram for gram in gram_of.values() if len(gram) > 1}
    assert len(set(gram_of.values())) == len(gram_of)
    assert n_grams == 10 + len(longer)


@settings(deadline=None)
@given(TEXTS, st.integers(1, 3))
def test_document_frequencies_count_documents(texts, n_documents):
    ids, _, bounds, n_grams = counted(texts)
    rows = np.arange(len(texts), dtype=np.int64)
    documents = np.array_split(rows, n_documents)
    starts = np.concatenate([[0], np.cumsum([len(part) for part in documents])]).astype(np.int64)
    df = kernels.document_frequencies(rows, starts, bounds, ids, n_grams)
    sets = [{int(i) for row in part for i in ids[bounds[row, 0] : bounds[row, 4]]} for part in documents]
    assert df.tolist() == [sum(gram in grams for grams in sets) for gram in range(n_grams)]
