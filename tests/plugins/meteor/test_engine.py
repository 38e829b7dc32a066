"""Statistics, scores and matrices equal the jar's golden values and the readable version."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.plugins.meteor import engine as meteor
from harness.plugins.meteor.lexicon.disk_cache import installed_lexicon
from harness.plugins.meteor.reference import Aligner
from harness.plugins.meteor.score import segment_score

ODD = [
    "", " ", "a", "the the the", "...", "!?", "🐶 🐶", "e\u0301", "nul\x00here", "\x00", "\u2028", "\ud800", "a|||b", "||", "a\rb", "a\nb",
    "\u200f\u05e9\u05dc\u05d5\u05dd", "\x0bdog.\x0b", "DOTMULTI.x", "a.b.", "Mr. a", "1,000, 2,b", "--", "ΣΑΣ", "İstanbul", "a\x85b",
    "em aé", "...a...", "\U0001d7d8 x",
]  # fmt: skip
WORDS = [
    "a",
    "the",
    "dog",
    "dogs",
    "puppy",
    "is",
    "running",
    "run",
    "in",
    "front",
    "of",
    "before",
    "park",
    ".",
    "on top of",
    "over",
]
sentence = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
anything = st.text(max_size=40)


@pytest.fixture(scope="module")
def golden(golden):
    with gzip.open(golden / "meteor/meteor_golden.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def aligner():
    return Aligner(installed_lexicon())


def pairs_of(items):
    return [(item["hyp"], item["refs"]) for item in items]


def test_golden_statistics_and_scores(golden):
    statistics = meteor.statistics(pairs_of(golden))
    assert statistics.shape == (1500, 23)
    np.testing.assert_array_equal(statistics, [item["stats"] for item in golden])
    scores = meteor.scores(pairs_of(golden))
    np.testing.assert_allclose(scores, [item["score"] for item in golden], rtol=0, atol=1e-12)


def test_golden_corpus_score(golden, root):
    expected = json.loads((root / "tests/golden" / "meteor/meteor_golden_corpus.json").read_text())
    statistics = np.array([item["stats"] for item in golden])
    assert meteor.corpus_score(statistics) == pytest.approx(expected["corpus_score"], abs=1e-12)
    mean = meteor.scores_of(statistics).mean()
    assert mean == pytest.approx(expected["mean_of_segment_scores"], abs=1e-12)


def assert_equal_to_reference(aligner, texts):
    statistics = meteor.statistics([(hyp, [ref]) for hyp in texts for ref in texts])
    expected = [aligner.pair_statistics(aligner.words(hyp), aligner.words(ref)) for hyp in texts for ref in texts]
    np.testing.assert_array_equal(statistics, expected)
    square = meteor.matrix(texts)
    assert square.ravel().tolist() == [segment_score(row) for row in expected]  # equal in every digit


@settings(max_examples=60, deadline=None)
@given(st.lists(sentence, min_size=1, max_size=4))
@example(["a the a the a the a dog", "the a dog a the a the a the"])
@example(["em aé", "aé em"])  # two words with equal Java hashes
def test_sentences_with_many_overlapping_matches_align_as_in_the_reference(aligner, texts):
    assert_equal_to_reference(aligner, texts)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(anything, sentence), min_size=1, max_size=4))
def test_arbitrary_texts_align_as_in_the_reference(aligner, texts):
    assert_equal_to_reference(aligner, texts)


def test_odd_texts_align_as_in_the_reference(aligner):
    assert_equal_to_reference(aligner, ODD)


def test_long_texts_align_as_in_the_reference(aligner):
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(WORDS, size=size)) for size in (64, 65, 90)]
    assert_equal_to_reference(aligner, texts)


def test_first_of_equally_good_references_counts():
    first, second = meteor.statistics([("a dog", ["x y", "a b c"])])[0], meteor.statistics([("q", ["x y", "a b c"])])[0]
    assert first[1] == 3
    assert second[1] == 2  # all scores are 0: the first reference


def test_scores_are_bounded_and_directed():
    square = meteor.matrix(["a dog runs in the park", "a dog", "nothing of that"])
    assert (square >= 0).all()
    assert (square <= 1).all()
    assert square[0, 1] > square[1, 0]  # recall has the larger weight, and the short reference is matched completely
    assert np.diag(square).tolist() == [1, 1, 1]


def test_wide_matrix_is_computed_in_tiles(monkeypatch):
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(WORDS, size=6)) for _ in range(23)]
    whole = meteor.matrix(texts)
    monkeypatch.setattr(meteor, "_TILE", 5)
    np.testing.assert_array_equal(meteor.matrix(texts), whole)


def test_matrices_of_prepared_texts():
    texts = [["a dog", "the dog runs", "dogs"], ["a cat", "a dog", ""]]
    table = meteor.new_table()
    ids = table.intern(text for row in texts for text in row).reshape(2, 3)
    assert ids[0, 0] == ids[1, 1]
    np.testing.assert_array_equal(meteor.matrices(table, ids), [meteor.matrix(row) for row in texts])


def test_long_lists_are_computed_in_parts(monkeypatch):
    pairs = [("a dog runs", ["the dog is running", "a cat"]), ("", ["x"]), ("a cat", ["cats"])]
    whole = meteor.statistics(pairs)
    monkeypatch.setattr(meteor, "_PAIRS_PER_PART", 2)
    np.testing.assert_array_equal(meteor.statistics(pairs), whole)


def test_no_pairs_give_empty_results():
    assert meteor.statistics([]).shape == (0, 23)
    assert meteor.scores([]).shape == (0,)
    assert meteor.corpus_score(np.zeros((0, 23))) == 0
    assert meteor.matrix([]).shape == (0, 0)


def test_hypothesis_without_references_is_reported_by_number():
    with pytest.raises(InputError, match="pair 2: a hypothesis needs at least one reference"):
        meteor.statistics([("a", ["b"]), ("a", [])])


def test_ten_thousand_words_align_with_a_caption():
    rng = np.random.default_rng(1)
    huge = " ".join(rng.choice([*WORDS, *(f"w{i}" for i in range(3000))], size=10_000))
    caption = "a dog is running in front of the park ."
    both = meteor.statistics([(huge, [caption]), (caption, [huge])])
    assert both[0, 0] >= 10_000
    assert both[1, 1] == both[0, 0]
    assert (both[:, 21] > 0).all()


def test_ten_thousand_distinct_words_match_themselves():
    huge = " ".join(f"w{i}" for i in range(10_000))
    assert meteor.scores([(huge, [huge])])[0] == 1


def test_texts_with_too_many_matches_are_rejected():
    with pytest.raises(InputError, match="METEOR cannot align texts of 10000 and 9000 words: more than 4 million"):
        meteor.scores([("dog " * 10_000, ["dog " * 9_000])])


def test_alignment_of_selected_pairs_in_one_tile_and_in_several(monkeypatch):
    table = meteor.new_table()
    ids = table.intern(["a dog", "the dog runs", "dogs", "a cat", "a dog", ""]).reshape(2, 3)
    pairs = np.array([[False, True, True], [False, False, True], [False, False, False]])
    aligned = meteor.align_pairs(table, ids, pairs, with_statistics=True)
    assert aligned.scores.shape == (2, 3)
    assert aligned.statistics.shape == (2, 3, 23)
    np.testing.assert_array_equal(meteor.scores_of(aligned.statistics.reshape(6, 23)), aligned.scores.ravel())
    np.testing.assert_array_equal(aligned.scores, meteor.matrices(table, ids)[:, pairs])
    monkeypatch.setattr(meteor, "_TILE", 1)
    tiled = meteor.align_pairs(table, ids, pairs, with_statistics=True)
    np.testing.assert_array_equal(tiled.scores, aligned.scores)
    np.testing.assert_array_equal(tiled.statistics, aligned.statistics)


@pytest.mark.parametrize("with_statistics", [True, False])
def test_alignment_without_pairs_or_without_examples(with_statistics):
    table = meteor.new_table()
    ids = table.intern(["a dog", "dogs"])[None]
    none = meteor.align_pairs(table, ids, np.zeros((2, 2), dtype=bool), with_statistics=with_statistics)
    assert none.scores.shape == (1, 0)
    assert none.statistics.shape == (1, 0, 23)
    empty = meteor.align_pairs(table, ids[:0], np.ones((2, 2), dtype=bool), with_statistics=with_statistics)
    assert empty.scores.shape == (0, 4)
    assert empty.statistics.shape == (0, 4 if with_statistics else 0, 23)


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=6))
def test_first_best_is_the_first_maximum_of_each_run(runs):
    starts = np.cumsum([0, *map(len, runs)])
    positions = meteor.first_best(np.array([float(value) for run in runs for value in run]), starts)
    assert positions.tolist() == [start + run.index(max(run)) for start, run in zip(starts.tolist(), runs)]


@given(st.permutations(range(6)))
def test_corpus_score_does_not_depend_on_the_order_of_segments(order):
    pairs = [("a dog runs", ["the dog is running"]), ("a cat", ["a cat"]), ("", ["x"])] * 2
    statistics = meteor.statistics(pairs)
    assert meteor.corpus_score(statistics[list(order)]) == meteor.corpus_score(statistics)
