"""Compiled loops of ROUGE-L against the formula."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.ngram import rouge_kernels as kernels
from harness.plugins.ngram.rouge_formula import BETA, lcs, score
from harness.plugins.tokenisers.words import WordIndex

short = st.lists(st.sampled_from(["a", "dog", "runs", "é"]), max_size=9).map(" ".join)
long = st.lists(st.sampled_from("ab"), min_size=60, max_size=70).map(
    " ".join
)  # 64 words end the bit-parallel recurrence


def lcs_matrix(texts):
    """(N, N) lengths of common subsequences, and the scratch array after the call."""
    index = WordIndex()
    rows = index.add(texts)[None]
    scratch, out = np.zeros(index.n_words, dtype=np.uint64), np.empty((1, len(texts), len(texts)), dtype=np.int64)
    kernels.lcs_pairs(rows, rows, index.words, index.starts, scratch, out)
    return out[0], scratch


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(short, short, long), min_size=1, max_size=4))
def test_common_subsequences_equal_the_formula(texts):
    lengths, scratch = lcs_matrix(texts)
    assert lengths.tolist() == [[lcs(hyp.split(" "), ref.split(" ")) for ref in texts] for hyp in texts]
    assert not scratch.any()


def test_references_of_63_to_66_words_equal_the_formula():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcd"), size=size)) for size in (63, 64, 65, 66)]
    lengths, _ = lcs_matrix(texts)
    assert lengths.tolist() == [[lcs(hyp.split(" "), ref.split(" ")) for ref in texts] for hyp in texts]


@settings(max_examples=40, deadline=None)
@given(st.data(), st.lists(short, min_size=2, max_size=6))
def test_relabelings_equal_the_formula(data, texts):
    rows = st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)).filter(lambda row: 0 < sum(row) < len(row))
    labels = np.array(data.draw(st.lists(rows, min_size=1, max_size=4)))
    common, _ = lcs_matrix(texts)
    lengths = np.array([len(text.split(" ")) for text in texts])
    by_precision = np.argsort(-common[None], axis=2)
    by_recall = np.argsort(-(common / lengths)[None], axis=2)
    out = np.empty((1, len(labels)))
    kernels.relabel(common[None], lengths[None], by_precision, by_recall, labels, BETA, out)
    for row, value in zip(labels, out[0]):
        refs = [text.split(" ") for text, candidate in zip(texts, row) if not candidate]
        scores = [score(text.split(" "), refs) for text, candidate in zip(texts, row) if candidate]
        assert abs(value - sum(scores) / len(scores)) <= 1e-12
