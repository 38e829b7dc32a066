"""Compiled loops of CIDEr against the formula."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.ngram import cider_kernels as kernels
from harness.plugins.ngram.cider_formula import SIGMA, document_frequencies, pair_score, vectors
from harness.plugins.ngram.index import NgramIndex

sentences = st.lists(st.sampled_from(["a", "dog", "runs", "é"]), max_size=9).map(" ".join)


def weighed(texts):
    """Index, rows, weights and norms of texts, each a document of its own."""
    index = NgramIndex()
    rows = index.add(texts)
    df = index.document_frequencies(list(rows[:, None]))
    idf = math.log(len(texts)) - np.log(np.maximum(df, 1))
    weights, norms = np.zeros(index.n_entries), np.zeros((index.n_rows, 4))
    kernels.weigh(0, index.n_rows, index.bounds, index.ids, index.counts, idf, weights, norms)
    return index, rows, weights, norms


@settings(max_examples=40, deadline=None)
@given(st.lists(sentences, min_size=1, max_size=6))
def test_weights_and_norms_equal_the_formula(texts):
    index, rows, weights, norms = weighed(texts)
    df = document_frequencies([[text.split()] for text in texts])
    for text, row in zip(texts, rows):
        for k, vector in enumerate(vectors(text.split(), df, len(texts))):
            first, last = index.bounds[row, k : k + 2]
            assert np.allclose(weights[first:last], list(vector.values()), rtol=0, atol=1e-12)
            assert abs(norms[row, k] - math.hypot(*vector.values())) <= 1e-12


def test_only_the_rows_asked_for_are_weighed():
    index = NgramIndex()
    index.add(["a b", "c d"])
    weights, norms = np.full(index.n_entries, -1.0), np.full((2, 4), -1.0)
    kernels.weigh(1, 2, index.bounds, index.ids, index.counts, np.ones(index.n_grams), weights, norms)
    assert weights.tolist() == [-1.0] * 3 + [1.0] * 3
    assert (norms[0] == -1).all()
    assert norms[1].tolist() == [math.sqrt(2), 1.0, 0.0, 0.0]


@settings(max_examples=40, deadline=None)
@given(st.lists(sentences, min_size=2, max_size=5), st.booleans())
def test_scores_equal_the_formula(texts, plain):
    index, rows, weights, norms = weighed(texts)
    bigrams = np.maximum(index.lengths - 1, 0)
    penalty = np.exp(-(np.arange(10.0) ** 2) / (2 * SIGMA**2))
    scratch, out = np.zeros(index.n_grams), np.empty((1, len(texts), len(texts)))
    kernels.score_pairs(
        rows[None], rows[None], index.bounds, index.ids, weights, norms, bigrams, penalty, not plain, scratch, out
    )
    df = document_frequencies([[text.split()] for text in texts])
    expected = [[pair_score(hyp.split(), ref.split(), df, len(texts), plain=plain) for ref in texts] for hyp in texts]
    assert np.abs(out[0] - expected).max() <= 1e-12
    assert not scratch.any()
