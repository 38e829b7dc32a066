"""METEOR without Java: the jar's golden values, and the compiled kernels against the readable version."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.plugins.meteor import engine as meteor
from harness.plugins.meteor import reference as meteor_reference
from harness.plugins.meteor import score as meteor_score
from harness.plugins.meteor.lexicon import cache as lexicon_cache

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
    return meteor_reference.Aligner(lexicon_cache.load())


def pairs_of(items):
    return [(item["hyp"], item["refs"]) for item in items]


def test_golden_statistics_and_scores(golden):
    statistics = meteor.statistics(pairs_of(golden))
    assert statistics.shape == (1500, 23)
    np.testing.assert_array_equal(statistics, [item["stats"] for item in golden])
    scores = meteor.scores(pairs_of(golden))
    np.testing.assert_allclose(scores, [item["score"] for item in golden], rtol=0, atol=1e-12)


def test_golden_corpus_score(golden, root):
    known = json.loads((root / "tests/golden/meteor/meteor_golden_corpus.json").read_text())
    statistics = np.array([item["stats"] for item in golden])
    assert meteor.corpus_score(statistics) == pytest.approx(known["corpus_score"], abs=1e-12)
    mean = meteor_score.scores_of(statistics).mean()
    assert mean == pytest.approx(known["mean_of_segment_scores"], abs=1e-12)


def test_golden_alignments_of_the_readable_version(golden, aligner):
    items = [item for item in golden if "alignment" in item]
    for item in [*items[::4], *(item for item in items if item["kind"] in ("edge", "shuffled_stress"))]:
        found = [list(match) for match in aligner.align(item["hyp_tokens"], item["ref_tokens"])]
        assert found == item["alignment"]
        assert aligner.statistics(item["hyp"], item["refs"]) == item["stats"]


def check_against_the_readable_version(aligner, texts):
    found = meteor.statistics([(hyp, [ref]) for hyp in texts for ref in texts])
    known = [aligner.pair_statistics(aligner.words(hyp), aligner.words(ref)) for hyp in texts for ref in texts]
    np.testing.assert_array_equal(found, known)
    square = meteor.matrix(texts)
    assert square.ravel().tolist() == [meteor_score.segment_score(row) for row in known]  # not one digit


@settings(max_examples=60, deadline=None)
@given(st.lists(sentence, min_size=1, max_size=4))
@example(["a the a the a the a dog", "the a dog a the a the a the"])
@example(["em aé", "aé em"])  # two words of one Java hash
def test_sentences_full_of_rivals_align_as_in_the_readable_version(aligner, texts):
    check_against_the_readable_version(aligner, texts)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(anything, sentence), min_size=1, max_size=4))
def test_any_texts_align_as_in_the_readable_version(aligner, texts):
    check_against_the_readable_version(aligner, texts)


def test_odd_texts_align_as_in_the_readable_version(aligner):
    check_against_the_readable_version(aligner, ODD)


def test_long_texts_align_as_in_the_readable_version(aligner):
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(WORDS, size=size)) for size in (64, 65, 90)]
    check_against_the_readable_version(aligner, texts)


def test_the_first_of_equally_good_references_counts():
    first, second = meteor.statistics([("a dog", ["x y", "a b c"])])[0], meteor.statistics([("q", ["x y", "a b c"])])[0]
    assert first[1] == 3
    assert second[1] == 2  # no score: the first reference


def test_scores_are_bounded_and_directed():
    square = meteor.matrix(["a dog runs in the park", "a dog", "nothing of that"])
    assert (square >= 0).all()
    assert (square <= 1).all()
    assert square[0, 1] > square[1, 0]  # recall weighs more: the short reference is recalled
    assert np.diag(square).tolist() == [1, 1, 1]


def test_a_wide_matrix_is_made_of_tiles(monkeypatch):
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


def test_chunks_of_many_items_are_put_together(monkeypatch):
    pairs = [("a dog runs", ["the dog is running", "a cat"]), ("", ["x"]), ("a cat", ["cats"])]
    whole = meteor.statistics(pairs)
    monkeypatch.setattr(meteor, "_ITEMS_AT_ONCE", 2)
    np.testing.assert_array_equal(meteor.statistics(pairs), whole)


def test_nothing_gives_nothing():
    assert meteor.statistics([]).shape == (0, 23)
    assert meteor.scores([]).shape == (0,)
    assert meteor.corpus_score(np.zeros((0, 23))) == 0
    assert meteor.matrix([]).shape == (0, 0)


def test_a_hypothesis_without_references_is_named():
    with pytest.raises(InputError, match="pair 2: a hypothesis needs at least one reference"):
        meteor.statistics([("a", ["b"]), ("a", [])])


def test_ten_thousand_words_against_a_caption():
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


def test_texts_too_repetitive_to_align_are_refused():
    with pytest.raises(InputError, match="METEOR cannot align texts of 10000 and 9000 words: more than 4 million"):
        meteor.scores([("dog " * 10_000, ["dog " * 9_000])])
