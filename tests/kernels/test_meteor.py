"""METEOR over all cores: tiles of wide matrices, parts of long lists, corpus scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import caption_kernels
from caption_kernels.batches import meteor

WORDS = [
    "a",
    "the",
    "dog",
    "dogs",
    "puppy",
    "is",
    "running",
    "run",
    "in front of",
    "before",
    "park",
    ".",
    "over",
]


@pytest.fixture
def table(new_meteor_texts):
    return new_meteor_texts(caption_kernels)


def square(table, texts):
    return meteor.matrices(table, table.intern(texts)[None])[0]


def test_scores_are_bounded_and_directed(table):
    scores = square(table, ["a dog runs in the park", "a dog", "nothing of that"])
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    # recall has the larger weight, and the short reference is matched completely
    assert scores[0, 1] > scores[1, 0]
    assert np.diag(scores).tolist() == [1, 1, 1]


def test_wide_matrix_is_computed_in_tiles(table, monkeypatch):
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(WORDS, size=6)) for _ in range(23)]
    whole = square(table, texts)
    monkeypatch.setattr(meteor, "_TILE", 5)
    np.testing.assert_array_equal(square(table, texts), whole)


def test_matrices_of_several_examples(table):
    texts = [["a dog", "the dog runs", "dogs"], ["a cat", "a dog", ""]]
    ids = table.intern([text for row in texts for text in row]).reshape(2, 3)
    assert ids[0, 0] == ids[1, 1]
    np.testing.assert_array_equal(
        meteor.matrices(table, ids), [square(table, row) for row in texts]
    )


def test_alignment_of_selected_pairs_in_one_tile_and_in_several(table, monkeypatch):
    ids = table.intern(["a dog", "the dog runs", "dogs", "a cat", "a dog", ""]).reshape(
        2, 3
    )
    pairs = np.array([[False, True, True], [False, False, True], [False, False, False]])
    aligned = meteor.align_pairs(table, ids, pairs, with_statistics=True)
    assert aligned.scores.shape == (2, 3)
    assert aligned.statistics.shape == (2, 3, 23)
    np.testing.assert_array_equal(
        meteor.scores_of(aligned.statistics.reshape(6, 23)), aligned.scores.ravel()
    )
    np.testing.assert_array_equal(aligned.scores, meteor.matrices(table, ids)[:, pairs])
    monkeypatch.setattr(meteor, "_TILE", 1)
    tiled = meteor.align_pairs(table, ids, pairs, with_statistics=True)
    np.testing.assert_array_equal(tiled.scores, aligned.scores)
    np.testing.assert_array_equal(tiled.statistics, aligned.statistics)


@pytest.mark.parametrize("with_statistics", [True, False])
def test_alignment_without_pairs_or_without_examples(table, with_statistics):
    ids = table.intern(["a dog", "dogs"])[None]
    none = meteor.align_pairs(
        table, ids, np.zeros((2, 2), dtype=bool), with_statistics=with_statistics
    )
    assert none.scores.shape == (1, 0)
    assert none.statistics.shape == (1, 0, 23)
    empty = meteor.align_pairs(
        table, ids[:0], np.ones((2, 2), dtype=bool), with_statistics=with_statistics
    )
    assert empty.scores.shape == (0, 4)
    assert empty.statistics.shape == (0, 4 if with_statistics else 0, 23)


def test_first_of_equally_good_references_counts(table):
    first, second = meteor.best_statistics(
        table, [("a dog", ["x y", "a b c"]), ("q", ["x y", "a b c"])]
    )
    assert first[1] == 3
    assert second[1] == 2  # all scores are 0: the first reference


def test_long_lists_are_computed_in_parts(table, monkeypatch):
    pairs = [
        ("a dog runs", ["the dog is running", "a cat"]),
        ("", ["x"]),
        ("a cat", ["cats"]),
    ]
    whole = meteor.best_statistics(table, pairs)
    monkeypatch.setattr(meteor, "_PAIRS_PER_PART", 2)
    np.testing.assert_array_equal(meteor.best_statistics(table, pairs), whole)


def test_hypothesis_without_references_is_reported_by_number(table):
    with pytest.raises(
        meteor.UnusableTexts, match="pair 2: a hypothesis needs at least one reference"
    ):
        meteor.best_statistics(table, [("a", ["b"]), ("a", [])])
    assert meteor.best_statistics(table, []).shape == (0, 23)


@given(
    st.lists(
        st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=6
    )
)
def test_first_best_is_the_first_maximum_of_each_run(runs):
    starts = np.cumsum([0, *map(len, runs)])
    positions = meteor.first_best(
        np.array([float(value) for run in runs for value in run]), starts
    )
    assert positions.tolist() == [
        start + run.index(max(run)) for start, run in zip(starts.tolist(), runs)
    ]


def test_chunk_of_a_complete_match_is_not_summed():
    complete = [3, 3, 0, 0, *[3, 3, 0, 0], *[0] * 12, 1, 3, 3]
    partial = [3, 4, 0, 0, *[3, 3, 0, 0], *[0] * 12, 1, 3, 3]
    rows = np.array([complete, partial])
    sums = meteor.summable(rows[None])
    assert sums.shape == (1, 2, meteor.N_STATISTICS)
    assert sums.dtype == np.float64
    assert sums[0, :, meteor.CHUNKS].tolist() == [0.0, 1.0]
    assert rows[:, meteor.CHUNKS].tolist() == [1, 1]  # the input is unchanged
    assert meteor.corpus_score(rows[:1]) == 1.0
