"""ROUGE-L as a metric, as matrices and as a distance."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caption_kernels_reference import rouge as formula
from harness.errors import UnknownName
from harness.stats import permutation
from harness_metrics.ngram import rouge

EXACT = 1e-12
short = st.lists(
    st.sampled_from(["a", "dog", "runs", "the", "a3", "é"]), max_size=12
).map(" ".join)
long = st.lists(st.sampled_from("ab"), min_size=60, max_size=150).map(" ".join)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(short, short, short, long), min_size=2, max_size=6))
def test_matrices_equal_the_formula(items):
    words = [text.split(" ") for text in items]
    expected = [[formula.score(h, [r]) for r in words] for h in words]
    assert np.array_equal(rouge.matrix(items, tokenizer="none"), expected)


@settings(max_examples=25, deadline=None)
@given(data=st.data(), n=st.integers(1, 3), m=st.integers(1, 3))
def test_scores_and_null_equal_the_formula_under_every_relabeling(batch_of, data, n, m):
    items = data.draw(
        st.lists(
            st.lists(short, min_size=n + m, max_size=n + m), min_size=1, max_size=3
        )
    )
    features, batch = batch_of(items, n)
    labels = permutation.relabelings(n, m)

    def score(item, row):
        refs = [text.split(" ") for text in itertools.compress(item, ~row)]
        return np.mean(
            [
                formula.score(text.split(" "), refs)
                for text in itertools.compress(item, row)
            ]
        )

    expected = np.array([[score(item, row) for row in labels] for item in items])
    metric = rouge.Rouge(tokenizer="none")
    assert np.abs(metric.scores(batch, features, None) - expected[:, 0]).max() <= EXACT
    assert np.abs(metric.null(batch, features, None, labels) - expected).max() <= EXACT


def test_the_distance_is_one_minus_the_score_and_zero_for_equal_texts(batch_of):
    texts = ["a dog runs", "a dog", "a dog runs", "", "two cats"]
    features, batch = batch_of([texts], 2)
    distances = features.distances(rouge.RougeDistance(tokenizer="none"), batch)[0]
    assert distances == pytest.approx(
        1 - rouge.matrix(texts, tokenizer="none"), abs=1e-15
    )
    assert distances[0, 2] == 0.0
    assert distances[0, 4] == 1.0
    assert distances[0, 1] != distances[1, 0]


def test_signatures_and_unknown_tokenisers():
    assert rouge.Rouge(tokenizer="none").signature() == "rouge-l|beta:1.2|tok:none"
    assert (
        rouge.RougeDistance(tokenizer="none").signature() == "rouge|beta:1.2|tok:none"
    )
    for kind in (rouge.Rouge, rouge.RougeDistance):
        with pytest.raises(UnknownName, match="did you mean 'none'"):
            kind(tokenizer="nono")
