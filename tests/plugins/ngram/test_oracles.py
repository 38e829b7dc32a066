"""The compiled kernels against the readable Python formulas, on any texts."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contracts import CaptionSet
from harness.plugins.ngram import bleu, cider, rouge
from harness.plugins.ngram import bleu_formula as bleu_math
from harness.plugins.ngram import cider_formula as cider_math
from harness.plugins.ngram import rouge_formula as rouge_math
from harness.run.features import FeatureCache
from harness.stats import forms, permutation

EXACT = 1e-12
short = st.lists(st.sampled_from(["a", "dog", "runs", "the", "a3", "é"]), max_size=12).map(" ".join)
long = st.lists(st.sampled_from("ab"), min_size=60, max_size=150).map(" ".join)
texts = st.lists(st.one_of(short, short, short, long), min_size=2, max_size=6)
quick = settings(max_examples=60, deadline=None)


def batch_of(items, n, references=None):
    """(features, batch) of lists of texts, the first n of each the candidates."""
    sets = [CaptionSet(str(i), tuple(item[:n]), tuple(item[n:])) for i, item in enumerate(items)]
    features = FeatureCache([item.references for item in sets] if references is None else references)
    return features, features.batch(sets)


@quick
@given(texts, st.sampled_from(["d", "plain"]))
def test_cider_matrix_equals_the_formula(items, variant):
    words = [text.split() for text in items]
    df = cider_math.document_frequencies([[w] for w in words])
    expected = [[cider_math.pair_score(h, r, df, len(items), plain=variant == "plain") for r in words] for h in words]
    assert np.abs(cider.matrix(items, tokenizer="none", variant=variant) - expected).max() <= EXACT


@quick
@given(texts, st.integers(1, 4))
def test_bleu_matrices_equal_the_formula(items, n):
    words = [text.split() for text in items]
    for smoothing, formula in (("toolkit", bleu_math.sentence_bleu), ("add-one", bleu_math.smoothed_bleu)):
        expected = [[formula(bleu_math.counts(h, [r]), n) for r in words] for h in words]
        found = bleu.matrix(items, n=n, tokenizer="none", smoothing=smoothing)
        assert np.abs(found - expected).max() <= EXACT


@quick
@given(texts)
def test_rouge_matrix_equals_the_formula(items):
    words = [text.split(" ") for text in items]
    expected = [[rouge_math.score(h, [r]) for r in words] for h in words]
    assert np.array_equal(rouge.matrix(items, tokenizer="none"), expected)


def multi_reference(name, item, labels, df, documents):
    """Mean over candidates of a metric's own multi-reference score, the readable way."""
    refs = [text for text, candidate in zip(item, labels) if not candidate]
    values = []
    for text in itertools.compress(item, labels):
        if name == "rouge":
            values.append(rouge_math.score(text.split(" "), [ref.split(" ") for ref in refs]))
        elif name == "bleu":
            values.append(bleu_math.sentence_bleu(bleu_math.counts(text.split(), [ref.split() for ref in refs])))
        else:
            plain = name == "plain"
            values.append(cider_math.score(text.split(), [r.split() for r in refs], df, documents, plain=plain))
    return sum(values) / len(values)


METRICS = {
    "rouge": partial(rouge.Rouge, tokenizer="none"),
    "bleu": partial(bleu.Bleu, tokenizer="none"),
    "d": partial(cider.Cider, tokenizer="none"),
    "plain": partial(cider.Cider, tokenizer="none", variant="plain"),
}


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_scores_and_null_equal_the_formula_under_every_relabeling(name, data):
    n, m = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    items = data.draw(st.lists(st.lists(short, min_size=n + m, max_size=n + m), min_size=1, max_size=3))
    features, batch = batch_of(items, n)
    metric = METRICS[name]()
    state = metric.fit(features.references, features)
    df = cider_math.document_frequencies([[t.split() for t in refs] for refs in features.references])
    labels = permutation.relabelings(n, m)
    expected = np.array([[multi_reference(name, item, row, df, len(items)) for row in labels] for item in items])
    stats = metric.stats(batch, features, state)
    assert np.abs(metric.per_example(stats) - expected[:, 0]).max() <= EXACT
    null = metric.null(batch, features, state, labels)
    assert np.abs(null - expected).max() <= 1e-11  # CIDEr's null is a matrix product: another order of summation
    if name in ("d", "plain"):
        p = metric.exact_p_values(batch, features, state)
        assert np.array_equal(p, permutation.p_values(expected[:, 0], [expected], "lower", "exact"))


def test_bleu_null_with_more_than_64_texts_and_uneven_labels():
    rng = np.random.default_rng(5)
    item = [" ".join(rng.choice(list("abcde"), size=rng.integers(1, 9))) for _ in range(70)]
    features, batch = batch_of([item], 3)
    labels = rng.random((20, 70)) < 0.1
    labels[:, 0], labels[:, 69] = True, False
    found = bleu.Bleu(tokenizer="none").null(batch, features, None, labels)[0]
    expected = [multi_reference("bleu", item, row, None, 1) for row in labels]
    assert np.abs(found - expected).max() <= EXACT


def test_pooled_bleu_of_several_candidates_sums_counts():
    features, batch = batch_of([["a dog", "the cat sat", "a dog sat"], ["x", "x y", "x y z"]], 2)
    metric = bleu.Bleu(n=2, tokenizer="none")
    found = [
        bleu_math.counts(c.split(), [r.split() for r in item.references])
        for item in batch.sets
        for c in item.candidates
    ]
    total = bleu_math.BleuCounts(
        list(np.sum([f.correct for f in found], axis=0)),
        sum(f.length for f in found),
        sum(f.reference_length for f in found),
    )
    guess = np.array([sum(max(0, f.length - k) for f in found) for k in range(4)])
    expected = bleu_math.toolkit_bleu(np.array(total.correct), guess, total.length, total.reference_length, 2)
    stats = metric.stats(batch, features, None)
    assert abs(metric.reduce(stats) - expected) <= EXACT
    assert np.allclose(metric.reduce(stats, np.ones((2, 2))), expected, rtol=0, atol=EXACT)
    assert metric.reduce(stats, np.array([[2.0, 1.0]]))[0] == metric.reduce(stats[[0, 0, 1]])


def test_cider_matrix_of_the_batch_serves_metric_distance_null_and_parts():
    features, batch = batch_of([["a dog runs", "a cat", "the dog runs", "a dog"], ["x y", "y", "x", "z"]], 2)
    metric = cider.Cider(tokenizer="none")
    state = metric.fit(features.references, features)
    before = metric.stats(batch, features, state)
    distance = cider.CiderDistance(tokenizer="none")
    features.distances(distance, batch)
    assert features.peek(("cider", state.key), batch) is not None  # the distance shares the metric's scores
    assert np.array_equal(before, metric.stats(batch, features, state))
    part = features.sub_batch(batch, 1, 1)
    form = state.matrices(part, features)
    assert form.shape == (2, 2, 2)
    assert np.allclose(forms.identity(form, 1), metric.stats(part, features, state)[:, 0], rtol=0, atol=EXACT)
