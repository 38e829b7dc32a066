"""BLEU as a metric, as matrices and as a distance."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caption_kernels_reference import bleu as formula
from harness.errors import HarnessError
from harness.stats import permutation
from harness_metrics.ngram import bleu
from tests.support.bleu_formula import smoothed_bleu

EXACT = 1e-12
short = st.lists(
    st.sampled_from(["a", "dog", "runs", "the", "a3", "é"]), max_size=12
).map(" ".join)
long = st.lists(st.sampled_from("ab"), min_size=60, max_size=150).map(" ".join)
texts = st.lists(st.one_of(short, short, short, long), min_size=2, max_size=6)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(texts, st.integers(1, 4))
def test_matrices_equal_the_formula(items, n):
    words = [text.split() for text in items]
    for smoothing, score in (
        ("toolkit", formula.sentence_bleu),
        ("add-one", smoothed_bleu),
    ):
        expected = [
            [score(formula.count_matches(h, [r]), n) for r in words] for h in words
        ]
        matrix = bleu.matrix(
            items,
            n=n,
            tokenizer="none",
            smoothing=smoothing,  # type: ignore[arg-type]
        )
        assert np.abs(matrix - expected).max() <= EXACT


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
        refs = [text.split() for text in itertools.compress(item, ~row)]
        return np.mean(
            [
                formula.sentence_bleu(formula.count_matches(c.split(), refs))
                for c in itertools.compress(item, row)
            ]
        )

    expected = np.array([[score(item, row) for row in labels] for item in items])
    metric = bleu.Bleu(tokenizer="none")
    assert (
        np.abs(
            metric.per_example(metric.stats(batch, features, None)) - expected[:, 0]
        ).max()
        <= EXACT
    )
    assert np.abs(metric.null(batch, features, None, labels) - expected).max() <= EXACT


def test_the_corpus_score_is_that_of_summed_counts(batch_of):
    features, batch = batch_of(
        [["a dog", "the cat sat", "a dog sat"], ["x", "x y", "x y z"]], 2
    )
    metric = bleu.Bleu(n=2, tokenizer="none")

    parts = [
        formula.count_matches(c.split(), [r.split() for r in item.references])
        for item in batch.sets
        for c in item.candidates
    ]
    correct = np.sum([part.matches for part in parts], axis=0)
    guess = np.array([sum(max(0, part.length - k) for part in parts) for k in range(4)])
    length = sum(part.length for part in parts)
    reference_length = sum(part.reference_length for part in parts)
    expected = formula.score(correct, guess, length, reference_length, 2)

    stats = metric.stats(batch, features, None)
    assert abs(metric.reduce(stats) - expected) <= EXACT
    assert np.allclose(
        metric.reduce(stats, np.ones((2, 2))), expected, rtol=0, atol=EXACT
    )
    assert metric.reduce(stats, np.array([[2.0, 1.0]]))[0] == metric.reduce(
        stats[[0, 0, 1]]
    )
    assert np.isnan(metric.reduce(stats[:0]))


def test_the_names_with_an_order_are_that_order(batch_of):
    features, batch = batch_of([["a dog runs fast", "a dog runs slowly today"]], 1)
    for n, kind in enumerate((bleu.Bleu1, bleu.Bleu2, bleu.Bleu3, bleu.Bleu4), 1):
        by_name = kind(tokenizer="none")
        by_order = bleu.Bleu(n=n, tokenizer="none")
        assert by_name.spec.name == f"bleu{n}" and by_name.spec.bounds == (0.0, 1.0)
        assert by_name.signature() == by_order.signature() == f"bleu|n:{n}|tok:none"
        assert np.array_equal(
            by_name.stats(batch, features, None), by_order.stats(batch, features, None)
        )


def test_the_distance_is_one_minus_the_smoothed_matrix(batch_of):
    texts = ["a dog runs", "a dog", "", "two cats"]
    features, batch = batch_of([texts], 2)
    distance = bleu.BleuDistance(n=3, tokenizer="none")
    expected = 1 - bleu.matrix(texts, n=3, tokenizer="none", smoothing="add-one")
    assert np.array_equal(features.distances(distance, batch)[0], expected)
    assert distance.signature() == "bleu|n:3|smooth:add-one|tok:none"
    assert expected[0, 3] == 1.0  # no word in common


@pytest.mark.parametrize("n", [0, 5, -1, True, 2.0, "4", None])
def test_an_order_other_than_one_to_four_is_refused(n):
    for kind in (bleu.Bleu, bleu.BleuDistance):
        with pytest.raises(
            HarnessError,
            match=r"^Bleu(Distance)?: n is .*; expected a whole number from 1 to 4$",
        ) as error:
            kind(n=n, tokenizer="none")
        assert error.value.parameter == "n"
    with pytest.raises(HarnessError, match="expected a whole number from 1 to 4"):
        bleu.matrix(["a"], n=n, tokenizer="none")


def test_unknown_tokenisers_and_smoothings_are_refused():
    with pytest.raises(HarnessError, match="did you mean 'ptb'"):
        bleu.Bleu(tokenizer="pbt")
    with pytest.raises(
        HarnessError, match="smoothing is 'x'; expected toolkit or add-one"
    ):
        bleu.matrix(["a"], tokenizer="none", smoothing="x")  # type: ignore[arg-type]


def test_details_give_the_score_of_the_corpus(batch_of):
    features, batch = batch_of(
        [["a dog runs on the grass", "the dog runs on the green grass"], ["a", "b"]], 1
    )
    metric = bleu.Bleu(n=2, tokenizer="none")
    stats = metric.stats(batch, features, None)
    details = metric.details(stats)
    assert details["precisions"] == [5 / 7, 3 / 5]
    assert (details["candidate_length"], details["reference_length"]) == (7, 8)
    assert details["brevity_penalty"] == pytest.approx(np.exp(1 - 8 / 7))
    product = details["brevity_penalty"] * np.sqrt(np.prod(details["precisions"]))
    assert metric.reduce(stats) == pytest.approx(product, rel=1e-8)


def test_details_of_empty_texts_are_plain_numbers(batch_of):
    features, batch = batch_of([["", ""]], 1)
    metric = bleu.Bleu(n=1, tokenizer="none")
    details = metric.details(metric.stats(batch, features, None))
    sizes = {"depends_on": ["candidates", "references"]}
    assert details == {
        "precisions": [0.0],
        "brevity_penalty": 1.0,
        "candidate_length": 0,
        "reference_length": 0,
        **sizes,
    }
