"""BLEU, ROUGE-L and CIDEr: the compiled functions have the digits of the readable
ones.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import caption_kernels_reference as reference

compiled = pytest.importorskip("caption_kernels._compiled")
pytestmark = pytest.mark.equal_bits

TEXT = st.lists(st.sampled_from("abcde"), max_size=9).map(" ".join)


@st.composite
def examples(draw, most=3):
    """Texts of B examples with n candidates and m references,
    at most ``most`` of each, as a list of B lists.
    """
    size = draw(st.integers(1, most))
    n = draw(st.integers(1, most))
    m = draw(st.integers(1, most))
    texts = draw(
        st.lists(
            st.lists(TEXT, min_size=n + m, max_size=n + m), min_size=size, max_size=size
        )
    )
    return texts, n


def rows_of(engine, texts, grams: bool):
    index = engine.TextIndex("none")
    rows = index.add([text for example in texts for text in example])
    return index, (index.gram_rows(rows) if grams else rows).reshape(len(texts), -1)


def split(rows, n):
    return np.ascontiguousarray(rows[:, :n]), np.ascontiguousarray(rows[:, n:])


def both(function, texts, n, *, grams=True):
    out = []
    for engine in (compiled, reference):
        index, rows = rows_of(engine, texts, grams)
        out.append(function(engine, index, *split(rows, n)))
    assert out[0].dtype == out[1].dtype
    assert np.array_equal(out[0], out[1], equal_nan=True)
    return out[0]


def labels_of(size: int) -> np.ndarray:
    """All relabelings of ``size`` texts with a candidate and a reference."""
    masks = np.arange(1, 2**size - 1)
    return (masks[:, None] >> np.arange(size) & 1).astype(np.uint8)


@given(examples())
def test_matches_of_both_engines(drawn):
    texts, n = drawn
    single = both(
        lambda engine, index, hyp, ref: engine.clip_pairs(index, hyp, ref), texts, n
    )
    multi = both(
        lambda engine, index, hyp, ref: engine.clip_all(index, hyp, ref), texts, n
    )
    assert (single.max(axis=2) <= multi).all()


@given(
    st.lists(st.tuples(*[st.integers(0, 12)] * 10), min_size=1, max_size=5),
    st.integers(1, 4),
)
def test_bleu_of_counts(rows, order):
    counts = np.array(rows, dtype=np.float64)
    arguments = (
        counts[:, :4].copy(),
        counts[:, 4:8].copy(),
        counts[:, 8].copy(),
        counts[:, 9].copy(),
        order,
    )
    scores = compiled.bleu_scores(*arguments)
    assert np.array_equal(scores, reference.bleu_scores(*arguments))


@given(examples(most=2), st.integers(1, 4))
def test_bleu_under_relabelings(drawn, order):
    texts, _ = drawn
    labels = labels_of(len(texts[0]))
    out = []
    for engine in (compiled, reference):
        index, rows = rows_of(engine, texts, True)
        out.append(engine.bleu_relabel(index, rows, labels, order))
    assert np.array_equal(*out)


@pytest.mark.parametrize("size", [64, 65, 130])
def test_bleu_under_relabelings_of_more_texts_than_a_number_has_bits(size):
    rng = np.random.default_rng(size)
    texts = [
        [" ".join(rng.choice(list("abcde"), rng.integers(0, 7))) for _ in range(size)]
    ]
    labels = np.ones((4, size), dtype=np.uint8)
    # a single reference: its bits alone count
    labels[0, 0] = labels[1, 63] = labels[2, -1] = 0
    labels[3, rng.integers(0, size, 3)] = 0
    results = []
    for engine in (compiled, reference):
        index, rows = rows_of(engine, texts, True)
        results.append(engine.bleu_relabel(index, rows, labels, 4))
    assert np.array_equal(*results)


@given(examples(most=2))
def test_common_subsequences_and_relabelings_of_rouge(drawn):
    texts, n = drawn
    both(
        lambda engine, index, hyp, ref: engine.lcs_pairs(index, hyp, ref),
        texts,
        n,
        grams=False,
    )
    index, rows = rows_of(compiled, texts, False)
    lcs = compiled.lcs_pairs(index, rows, rows)
    lengths = index.lengths(rows.ravel()).reshape(rows.shape)
    labels = labels_of(rows.shape[1])
    arguments = (lcs, lengths, labels, 1.2)
    assert np.array_equal(
        compiled.rouge_relabel(*arguments), reference.rouge_relabel(*arguments)
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([63, 64, 65, 128, 130]))
def test_long_references_use_several_blocks(seed, length):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(list("abcdefgh"), size)) for size in (70, length)]
    index = compiled.TextIndex("none")
    rows = index.add(texts)
    found = compiled.lcs_pairs(
        index, rows[:1].reshape(1, 1), rows[1:].reshape(1, 1)
    ).item()
    assert found == reference.rouge.lcs(texts[0].split(), texts[1].split())


@given(examples(), st.booleans(), st.sampled_from([6.0, math.inf]))
def test_cider_of_both_engines(drawn, clip, sigma):
    texts, n = drawn
    documents = len(texts)

    def score(engine, index, hyp, ref):
        starts = np.arange(documents + 1) * ref.shape[1]
        idf = engine.cider_idf(
            index.document_frequencies(ref.ravel(), starts), float(documents)
        )
        unseen = float(reference.log(documents))
        return engine.cider_pairs(
            index, idf[: len(idf) // 2], unseen, hyp, ref, clip, sigma
        )

    scores = both(score, texts, n)
    assert (scores >= 0).all() and (scores <= 10 + 1e-9).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_best_reference_under_relabelings(seed, size):
    pairs = np.random.default_rng(seed).integers(0, 4, (2, size, size)) / 7
    labels = labels_of(size)
    assert np.array_equal(
        compiled.best_relabel(pairs, labels), reference.best_relabel(pairs, labels)
    )


def off_by_one_byte(array):
    buffer = bytearray(array.nbytes + 1)
    buffer[1:] = array.tobytes()
    return np.frombuffer(buffer, array.dtype, array.size, 1).reshape(array.shape)


def test_arrays_whose_numbers_lie_between_multiples_of_their_size_are_refused():
    index, rows = rows_of(compiled, [["a b", "a"]], True)
    hyp, ref = split(rows, 1)
    for call in (
        lambda: compiled.clip_pairs(index, off_by_one_byte(hyp), ref),
        lambda: compiled.clip_pairs(index, hyp, off_by_one_byte(ref)),
        lambda: compiled.best_relabel(
            off_by_one_byte(np.zeros((1, 2, 2))), np.array([[0, 1]], dtype=np.uint8)
        ),
        lambda: compiled.log(off_by_one_byte(np.ones(3))),
    ):
        with pytest.raises(TypeError):
            call()


def test_examples_without_texts_take_no_time():
    index, _ = rows_of(compiled, [["a b", "a"]], True)
    none = np.empty((1 << 40, 0), dtype=np.int64)
    for call in (
        compiled.clip_pairs,
        compiled.clip_all,
        compiled.lcs_pairs,
        compiled.cider_repetition,
    ):
        assert call(index, none, none).shape[:2] == none.shape
    assert (
        compiled.bleu_relabel(index, none, np.empty((0, 0), dtype=np.uint8), 4).shape
        == none.shape
    )
    assert (
        compiled.best_relabel(
            np.empty((1 << 40, 0, 0)), np.empty((0, 0), dtype=np.uint8)
        ).shape
        == none.shape
    )


@pytest.mark.parametrize("engine", [compiled, reference])
def test_laws_and_matrices_at_the_limits(engine):
    with pytest.raises(ValueError, match="law of a sum"):
        engine.sum_law(np.full((2, 2), 0.5), np.array([1, -1]))
    huge = np.random.default_rng(3).choice([1e308, -1e308, 1e-308, 1.0], (1, 20, 20))
    assert not np.isfinite(engine.eigenvalues(huge)).all()


@pytest.mark.parametrize("engine", [compiled, reference])
def test_bad_arguments_are_named(engine):
    index, rows = rows_of(engine, [["a b", "a"]], True)
    hyp, ref = split(rows, 1)
    zeros = np.zeros((1, 4))
    for call in (
        lambda: engine.bleu_scores(zeros, zeros, np.zeros(1), np.zeros(1), 5),
        lambda: engine.best_relabel(
            np.zeros((1, 2, 2)), np.ones((1, 2), dtype=np.uint8)
        ),
        lambda: engine.rouge_relabel(
            np.zeros((1, 2, 2), dtype=np.int64),
            np.ones((1, 2), dtype=np.int64),
            np.zeros((1, 2), dtype=np.uint8),
            1.2,
        ),
    ):
        with pytest.raises(ValueError, match="out of its range"):
            call()
    with pytest.raises(IndexError):
        engine.clip_all(index, hyp + 50, ref)
    with pytest.raises(IndexError):
        engine.cider_idf(np.array([-1]), 3.0)


@pytest.mark.parametrize(
    "arguments",
    [
        lambda index, hyp, ref: (index, hyp.astype(np.int32), ref),
        lambda index, hyp, ref: (index, hyp.ravel(), ref),
        lambda index, hyp, ref: (index, np.zeros((2, 4), dtype=np.int64)[:, ::2], ref),
        lambda index, hyp, ref: (None, hyp, ref),
        lambda index, hyp, ref: (index, hyp, np.concatenate([ref, ref])),
        lambda index, hyp, ref: (index, [[0]], ref),
    ],
)
def test_arrays_of_the_wrong_type_or_shape_are_refused(arguments):
    index, rows = rows_of(compiled, [["a b", "a"]], True)
    with pytest.raises((TypeError, ValueError)):
        compiled.clip_all(*arguments(index, *split(rows, 1)))
