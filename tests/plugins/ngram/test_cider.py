"""CIDEr as a metric, as matrices and as a distance."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contracts import CaptionSet, is_defined
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache
from harness.stats import forms, permutation, permutation_p_values
from harness_metrics.ngram import cider
from tests.support import cider_formula as formula

EXACT = 1e-12
short = st.lists(
    st.sampled_from(["a", "dog", "runs", "the", "a3", "é"]), max_size=12
).map(" ".join)
long = st.lists(st.sampled_from("ab"), min_size=60, max_size=150).map(" ".join)
texts = st.lists(st.one_of(short, short, short, long), min_size=2, max_size=6)
SIX = [["a dog runs", "a cat", "the dog runs", "a dog"], ["x y", "y", "x", "z"]]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(texts, st.sampled_from(["d", "plain"]))
def test_matrices_equal_the_formula(items, variant):
    words = [text.split() for text in items]
    df = formula.document_frequencies([[w] for w in words])
    expected = [
        [
            formula.pair_score(h, r, df, len(items), plain=variant == "plain")
            for r in words
        ]
        for h in words
    ]
    assert (
        np.abs(cider.matrix(items, tokenizer="none", variant=variant) - expected).max()
        <= EXACT
    )


@pytest.mark.parametrize("variant", ["d", "plain"])
@settings(max_examples=25, deadline=None)
@given(data=st.data(), n=st.integers(1, 3), m=st.integers(1, 3))
def test_scores_null_and_p_values_equal_the_formula_under_every_relabeling(
    batch_of, variant, data, n, m
):
    items = data.draw(
        st.lists(
            st.lists(short, min_size=n + m, max_size=n + m), min_size=2, max_size=3
        )
    )
    features, batch = batch_of(items, n)
    df = formula.document_frequencies(
        [[t.split() for t in refs] for refs in features.references]
    )
    labels = permutation.relabelings(n, m)

    def score(item, row):
        refs = [text.split() for text in itertools.compress(item, ~row)]
        candidates = itertools.compress(item, row)
        return np.mean(
            [
                formula.score(c.split(), refs, df, len(items), plain=variant == "plain")
                for c in candidates
            ]
        )

    expected = np.array([[score(item, row) for row in labels] for item in items])
    metric = cider.Cider(tokenizer="none", variant=variant)
    state = metric.fit(features.references, features)
    assert (
        np.abs(
            metric.per_example(metric.stats(batch, features, state)) - expected[:, 0]
        ).max()
        <= EXACT
    )
    null = metric.null(batch, features, state, labels)
    # a matrix product: another order of summation
    assert np.abs(null - expected).max() <= 1e-11
    p_values = metric.exact_p_values(batch, features, state)
    assert np.array_equal(
        p_values,
        permutation_p_values.p_values(expected[:, 0], [expected], "lower", "exact"),
    )


def test_metric_distance_and_p_value_share_one_matrix(batch_of, monkeypatch):
    features, batch = batch_of(SIX, 2)
    metric = cider.Cider(tokenizer="none")
    state = metric.fit(features.references, features)
    before = metric.stats(batch, features, state)

    shapes = []
    pairs = cider.CiderScores.pairs
    monkeypatch.setattr(
        cider.CiderScores,
        "pairs",
        lambda self, h, r: (shapes.append((h.shape, r.shape)), pairs(self, h, r))[1],
    )

    features.distances(cider.CiderDistance(tokenizer="none"), batch)
    assert np.array_equal(before, metric.stats(batch, features, state))
    metric.exact_p_values(batch, features, state)

    part = features.sub_batch(batch, 1, 1)
    form = state.matrices(part, features)
    assert form.shape == (2, 2, 2)
    assert np.allclose(
        forms.identity(form, 1),
        metric.stats(part, features, state)[:, 0],
        rtol=0,
        atol=EXACT,
    )
    assert shapes == [((2, 4), (2, 4))]


def test_without_a_matrix_only_candidates_times_references_are_scored(
    batch_of, monkeypatch
):
    features, batch = batch_of(SIX, 2)
    metric = cider.CiderD(tokenizer="none")
    state = metric.fit(features.references, features)
    shapes = []
    pairs = cider.CiderScores.pairs
    monkeypatch.setattr(
        cider.CiderScores,
        "pairs",
        lambda self, h, r: (shapes.append((h.shape, r.shape)), pairs(self, h, r))[1],
    )
    metric.stats(batch, features, state)
    metric.stats(features.sub_batch(batch, 1, 2), features, state)
    assert shapes == [((2, 2), (2, 2)), ((2, 1), (2, 2))]


def test_scores_of_a_part_do_not_depend_on_what_was_computed_before(batch_of):
    rng = np.random.default_rng(0)
    items = [
        [" ".join(rng.choice(list("abcdefgh"), 8)) for _ in range(15)]
        for _ in range(20)
    ]
    features, batch = batch_of(items, 3)
    metric = cider.Cider(tokenizer="none")
    state = metric.fit(features.references, features)
    part = features.sub_batch(batch, 2, 11)
    before = metric.stats(part, features, state)
    # computes the matrix of the whole batch
    metric.exact_p_values(features.sub_batch(batch, 3, 3), features, state)
    assert np.array_equal(metric.stats(part, features, state), before)


def test_variants_and_references_of_a_fit_have_matrices_of_their_own(batch_of):
    features, batch = batch_of(SIX, 2)
    states = [
        cider.Cider(tokenizer="none").fit(features.references, features),
        cider.Cider(tokenizer="none", variant="plain").fit(
            features.references, features
        ),
        cider.Cider(tokenizer="none", df="given").fit([["a dog"], ["a cat"]], features),
        cider.Cider(tokenizer="none", df="given").fit(
            [["x y"], ["x"], ["z"]], features
        ),
    ]
    matrices = [state.matrices(batch, features) for state in states]
    assert not any(np.array_equal(a, b) for a, b in itertools.combinations(matrices, 2))


def test_a_fitted_state_scores_in_another_process(batch_of):
    features, batch = batch_of([["a dog", "a dog runs", "a cat"]] * 3, 1)
    metric = cider.Cider(tokenizer="none")
    state = metric.fit(features.references, features)
    expected = metric.stats(batch, features, state)
    other = FeatureCache(features.references)
    copy = pickle.loads(pickle.dumps(state))
    assert np.array_equal(metric.stats(other.batch(batch.sets), other, copy), expected)


def test_the_distance_of_equal_short_texts_is_zero_though_their_score_is_below_ten(
    batch_of,
):
    features, batch = batch_of([["a dog", "a dog", "a cat"]] * 2, 1)
    scores = (
        cider.Cider(tokenizer="none")
        .fit(features.references, features)
        .matrices(batch, features)
    )
    assert scores[0, 0, 1] < 10
    distances = features.distances(cider.CiderDistance(tokenizer="none"), batch)
    assert distances[0, 0, 1] == 0
    assert distances[0, 0, 2] == 10 - scores[0, 0, 2]


@pytest.mark.parametrize("df", ["references", "resampled", [["a dog"]]])
def test_the_references_of_one_example_give_no_score_and_one_line(batch_of, caplog, df):
    features, batch = batch_of([["a dog runs fast", "a dog runs fast"]], 1)
    metric = cider.Cider(df=df, tokenizer="none")
    stats = metric.stats(batch, features, metric.fit(features.references, features))
    assert not is_defined(stats).any()
    assert caplog.messages == [
        "cider: one document: all idf weights are 0; use df=TABLE"
    ]


def test_names_and_signatures():
    assert cider.Cider(tokenizer="none").spec.name == "cider"
    assert cider.Cider(variant="plain", tokenizer="none").spec.name == "cider(plain)"
    assert cider.CiderD(tokenizer="none").spec.name == "ciderd"
    assert (
        cider.CiderD(tokenizer="none").signature()
        == cider.Cider(tokenizer="none").signature()
    )
    assert cider.CiderDistance(tokenizer="none").signature() == "cider|df:task|tok:none"


@pytest.mark.parametrize(
    "build, error, message",
    [
        (
            lambda: cider.Cider(variant="x"),
            HarnessError,
            "variant is 'x'; expected d or plain",
        ),  # type: ignore[arg-type]
        (lambda: cider.Cider(df="refrences"), InputError, "did you mean 'references'"),
        (lambda: cider.Cider(df=[]), InputError, "no documents"),
        (
            lambda: cider.Cider(df=["a", "b"]),
            InputError,
            "df: document 0: 'a'; expected a list of texts",
        ),
        (
            lambda: cider.Cider(df=[["a", 3]]),
            InputError,
            "df: document 0: 3; expected a text",
        ),  # type: ignore[list-item]
        (
            lambda: cider.matrix(["a"], df="references", tokenizer="none"),
            HarnessError,
            "no task",
        ),
    ],
)
def test_invalid_parameters_raise_one_line(build, error, message):
    with pytest.raises(error, match=message) as raised:
        build()
    assert "\n" not in str(raised.value)


def test_a_distance_without_references_raises():
    features = FeatureCache()
    batch = features.batch([CaptionSet("0", ("a",), ("b",))])
    with pytest.raises(HarnessError, match="need references"):
        features.distances(cider.CiderDistance(tokenizer="none"), batch)
