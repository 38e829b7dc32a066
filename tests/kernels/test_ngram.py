"""BLEU, ROUGE-L and CIDEr of rows against loops of one line over words."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caption_kernels import TextIndex, cider_idf
from caption_kernels.batches import ngram

TEXT = st.lists(st.sampled_from("abc"), min_size=1, max_size=7).map(" ".join)


def grams(text, n):
    words = text.split(" ")
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))


def rows_of(hyps, refs, as_grams=True):
    """Return an index and the rows (1, n) and (1, m) of the texts of one example."""
    index = TextIndex("none")
    rows = index.add([*hyps, *refs])
    rows = index.gram_rows(rows) if as_grams else rows
    return index, rows[None, : len(hyps)], rows[None, len(hyps) :]


@given(st.lists(TEXT, min_size=1, max_size=3), st.lists(TEXT, min_size=1, max_size=3))
def test_matches_are_clipped_at_each_reference_or_at_all(hyps, refs):
    index, hyp, ref = rows_of(hyps, refs)
    of_each = ngram.clip_at_each(index, hyp, ref)
    of_all = ngram.clip_at_all(index, hyp, ref)
    for i, text in enumerate(hyps):
        for n in range(1, 5):
            sides = [grams(other, n) for other in refs]
            counts = [(grams(text, n) & side).total() for side in sides]
            assert of_each[0, i, :, n - 1].tolist() == counts
            largest = Counter()
            for side in sides:
                largest |= side
            assert of_all[0, i, n - 1] == (grams(text, n) & largest).total()


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=4),
    st.lists(st.integers(0, 9), min_size=1, max_size=4),
)
def test_the_closest_length_is_the_shorter_on_ties(lengths, references):
    closest = ngram.closest_lengths(np.array([lengths]), np.array([references]))
    assert closest[0].tolist() == [
        min(references, key=lambda m: (abs(m - n), m)) for n in lengths
    ]


def test_guesses_are_the_numbers_of_grams():
    assert ngram.count_guesses(np.array([0, 1, 3, 9])).tolist() == [
        [0, 0, 0, 0],
        [1, 0, 0, 0],
        [3, 2, 1, 0],
        [9, 8, 7, 6],
    ]


@given(TEXT)
def test_equal_texts_have_the_largest_values(text):
    index, hyp, ref = rows_of([text], [text])
    lengths = ngram.row_lengths(index, hyp)
    for n in range(1, min(4, len(text.split(" "))) + 1):
        matches = ngram.clip_at_all(index, hyp, ref)
        guesses = ngram.count_guesses(lengths)
        bleu = ngram.bleu(matches, guesses, lengths, lengths, n)
        assert bleu == pytest.approx(1.0, abs=1e-6)
    for n in range(1, 5):
        assert ngram.add_one_bleu(matches, lengths, lengths, n) == pytest.approx(1.0)
    index, hyp, ref = rows_of([text], [text], as_grams=False)
    assert ngram.rouge_l(index, hyp, ref) == pytest.approx(1.0)


def test_added_counts_and_texts_without_words():
    # 2 of 3 words, 1 of 2 bigrams, reference of 4 words: by hand
    matches = np.array([2, 1, 0, 0])
    value = ngram.add_one_bleu(matches, np.array(3), np.array(4), 2)
    assert value == pytest.approx(math.sqrt(2 / 3 * 2 / 3) * math.exp(1 - 4 / 3))
    nothing = np.zeros(4, dtype=int)
    assert ngram.add_one_bleu(nothing, np.array(0), np.array(0), 4) == 1.0
    assert ngram.add_one_bleu(nothing, np.array(0), np.array(2), 4) == 0.0


def longest_common(a, b):
    """Return the length of the longest common subsequence, by recursion."""
    if not a or not b:
        return 0
    if a[-1] == b[-1]:
        return 1 + longest_common(a[:-1], b[:-1])
    return max(longest_common(a[:-1], b), longest_common(a, b[:-1]))


@given(st.lists(TEXT, min_size=1, max_size=2), st.lists(TEXT, min_size=1, max_size=2))
def test_common_subsequences_and_rouge(hyps, refs):
    index, hyp, ref = rows_of(hyps, refs, as_grams=False)
    common = ngram.common_lengths(index, hyp, ref)
    pairs = ngram.rouge_l_pairs(index, hyp, ref)
    best = ngram.rouge_l(index, hyp, ref)
    for i, text in enumerate(hyps):
        words = text.split(" ")
        lengths = [longest_common(words, other.split(" ")) for other in refs]
        assert common[0, i].tolist() == lengths
        recalls = [n / len(other.split(" ")) for n, other in zip(lengths, refs)]
        precisions = [n / len(words) for n in lengths]
        for j in range(len(refs)):
            expected = f_measure(precisions[j], recalls[j])
            assert pairs[0, i, j] == pytest.approx(expected)
        assert best[0, i] == pytest.approx(f_measure(max(precisions), max(recalls)))


def f_measure(precision, recall):
    if not precision or not recall:
        return 0.0
    return (1 + 1.2**2) * precision * recall / (recall + 1.2**2 * precision)


@given(st.lists(TEXT, min_size=2, max_size=4), st.integers(1, 4))
def test_means_under_relabelings(texts, order):
    """One candidate at a time against all other texts."""
    labels = np.eye(len(texts), dtype=bool)
    index = TextIndex("none")
    rows = index.add(texts)
    gram_rows = index.gram_rows(rows)
    bleu = ngram.relabel_bleu(index, gram_rows[None], labels, order)
    rouge = ngram.relabel_rouge(index, rows[None], labels)
    assert bleu.shape == rouge.shape == (1, len(texts))
    for k in range(len(texts)):
        others = [j for j in range(len(texts)) if j != k]
        hyp, ref = gram_rows[None, [k]], gram_rows[None, others]
        lengths = ngram.row_lengths(index, hyp)
        closest = ngram.closest_lengths(lengths, ngram.row_lengths(index, ref))
        matches = ngram.clip_at_all(index, hyp, ref)
        guesses = ngram.count_guesses(lengths)
        expected = ngram.bleu(matches, guesses, lengths, closest, order)
        assert bleu[0, k] == pytest.approx(expected[0, 0])
        expected = ngram.rouge_l(index, rows[None, [k]], rows[None, others])
        assert rouge[0, k] == pytest.approx(expected[0, 0])


def test_the_best_pair_under_relabelings():
    pairs = np.array([[[9.0, 1.0, 4.0], [2.0, 9.0, 3.0], [5.0, 6.0, 9.0]]])
    labels = np.array([[True, False, False], [True, True, False]])
    # text 0: best of 1 and 4; texts 0 and 1 against text 2: mean of 4 and 3
    assert ngram.relabel_best(pairs, labels).tolist() == [[4.0, 3.5]]
    assert ngram.label_bits(labels).tolist() == [[1, 0, 0], [1, 1, 0]]


def cider_of(hyps, refs, documents, **settings):
    index, hyp, ref = rows_of(hyps, refs)
    frequencies = index.document_frequencies(ref[0], np.arange(len(refs) + 1))
    idf = cider_idf(frequencies, float(documents))
    return ngram.cider(index, idf, ngram.unseen_idf(documents), hyp, ref, **settings)


def test_cider_of_equal_texts_is_ten_and_of_others_zero():
    values = cider_of(["a b c d e", "v w x y z"], ["a b c d e"], documents=8)
    assert values[0, :, 0] == pytest.approx([10.0, 0.0])


def test_the_penalty_of_length_is_that_of_its_width():
    # Equal words, of which the longer has two more: cosines apart from the penalty.
    text, longer = "a b c d e", "a b c d e a b"
    plain = cider_of([longer], [text], 8, sigma=math.inf)[0, 0, 0]
    narrow = cider_of([longer], [text], 8, sigma=1.0)[0, 0, 0]
    assert narrow == pytest.approx(plain * math.exp(-(2**2) / 2))


def test_an_unseen_gram_weighs_the_logarithm_of_the_documents():
    assert ngram.unseen_idf(8) == pytest.approx(math.log(8))


@given(TEXT, TEXT)
def test_cider_r_is_at_most_cider_without_a_width(text, other):
    index, hyp, ref = rows_of([text], [other])
    frequencies = index.document_frequencies(ref[0], np.array([0, 1]))
    idf, unseen = cider_idf(frequencies, 8.0), ngram.unseen_idf(8)
    value = ngram.cider_r(index, idf, unseen, hyp, ref)
    bound = ngram.cider(index, idf, unseen, hyp, ref, sigma=math.inf)
    assert (value <= bound + 1e-12).all() and (value >= 0).all()
    same = ngram.cider_r(index, idf, unseen, ref, ref)
    assert same == pytest.approx(ngram.cider(index, idf, unseen, ref, ref))


def test_slices_fill_an_array_in_order():
    out = ngram.fill_slices(
        np.empty(1000), lambda part: np.arange(1000)[part] * 2.0, pairs=10**6
    )
    assert out.tolist() == (np.arange(1000) * 2.0).tolist()
