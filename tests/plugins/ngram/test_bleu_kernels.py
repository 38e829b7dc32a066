"""Compiled loops of BLEU against the formula."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.ngram import bleu_kernels as kernels
from harness.plugins.ngram.bleu_formula import SMALL, TINY, counts, sentence_bleu
from harness.plugins.ngram.index import NgramIndex

sentences = st.lists(st.sampled_from(["a", "dog", "runs", "é"]), max_size=9).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(sentences, min_size=2, max_size=5), st.lists(sentences, min_size=1, max_size=4))
def test_clipped_counts_equal_the_formula(hyps, refs):
    index = NgramIndex()
    hyp, ref = index.add(hyps)[None], index.add(refs)[None]
    scratch = np.zeros(index.n_grams, dtype=np.int64)
    pairs = np.empty((1, len(hyps), len(refs), 4), dtype=np.int64)
    multi = np.empty((1, len(hyps), 4), dtype=np.int64)
    kernels.clip_pairs(hyp, ref, index.bounds, index.ids, index.counts, scratch, pairs)
    kernels.clip_multi(hyp, ref, index.bounds, index.ids, index.counts, scratch, multi)
    assert pairs[0].tolist() == [[counts(h.split(), [r.split()]).correct for r in refs] for h in hyps]
    assert multi[0].tolist() == [counts(h.split(), [r.split() for r in refs]).correct for h in hyps]
    assert not scratch.any()


def relabelled(texts, labels, n):
    """(P,) scores of :func:`relabel`, and its scratch array after the call."""
    index = NgramIndex()
    rows = index.add(texts)[None]
    lengths = index.lengths[rows]
    gap = np.abs(lengths[:, None, :] - lengths[:, :, None])
    order = np.lexsort((np.broadcast_to(lengths[:, None, :], gap.shape), gap))
    bits = np.zeros((len(labels), -(-len(texts) // 64)), dtype=np.uint64)
    for p, j in np.argwhere(~labels):
        bits[p, j // 64] |= np.uint64(1) << np.uint64(j % 64)
    local, out = np.full(index.n_grams, -1, dtype=np.int64), np.empty((1, len(labels)))
    kernels.relabel(
        rows, labels, bits, order, index.bounds, index.ids, index.counts, index.lengths, n, TINY, SMALL, local, out
    )
    return out[0], local


def formula(texts, labels, n):
    refs = [text.split() for text, candidate in zip(texts, labels) if not candidate]
    scores = [sentence_bleu(counts(text.split(), refs), n) for text, candidate in zip(texts, labels) if candidate]
    return sum(scores) / len(scores)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.lists(sentences, min_size=2, max_size=6), st.integers(1, 4))
def test_relabelings_equal_the_formula(data, texts, n):
    rows = st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)).filter(lambda row: 0 < sum(row) < len(row))
    labels = np.array(data.draw(st.lists(rows, min_size=1, max_size=4)))
    scores, local = relabelled(texts, labels, n)
    assert np.abs(scores - [formula(texts, row, n) for row in labels]).max() <= 1e-12
    assert (local == -1).all()


def test_relabelings_of_more_than_64_texts_equal_the_formula():
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(list("abcde"), size=rng.integers(1, 9))) for _ in range(70)]
    labels = rng.random((20, 70)) < 0.1
    labels[:, 0], labels[:, 69] = True, False
    scores, _ = relabelled(texts, labels, 4)
    assert np.abs(scores - [formula(texts, row, 4) for row in labels]).max() <= 1e-12
