"""Statistics, scores and matrices equal the jar's golden values and the readable
version.
"""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import caption_kernels_reference as reference
from caption_kernels.lexicon.installed import build, find_sources
from caption_kernels_reference.meteor.aligner import statistics
from caption_kernels_reference.meteor.score import segment_score
from harness.errors import InputError
from harness_metrics.meteor import engine as meteor

ODD = [
    "",
    " ",
    "a",
    "the the the",
    "...",
    "!?",
    "🐶 🐶",
    "e\u0301",
    "nul\x00here",
    "\x00",
    "\u2028",
    "\ud800",
    "a|||b",
    "||",
    "a\rb",
    "a\nb",
    "\u200f\u05e9\u05dc\u05d5\u05dd",
    "\x0bdog.\x0b",
    "DOTMULTI.x",
    "a.b.",
    "Mr. a",
    "1,000, 2,b",
    "--",
    "ΣΑΣ",
    "İstanbul",
    "a\x85b",
    "em aé",
    "...a...",
    "\U0001d7d8 x",
]
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
    with gzip.open(
        golden / "meteor/meteor_golden.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def readable():
    return reference.MeteorTexts(reference.Lexicon(build(find_sources())))


def pairs_of(items):
    return [(item["hyp"], item["refs"]) for item in items]


def test_golden_statistics_and_scores(golden):
    statistics = meteor.statistics(pairs_of(golden))
    assert statistics.shape == (1500, 23)
    np.testing.assert_array_equal(statistics, [item["stats"] for item in golden])
    scores = meteor.scores(pairs_of(golden))
    np.testing.assert_allclose(
        scores, [item["score"] for item in golden], rtol=0, atol=1e-12
    )


def test_golden_corpus_score(golden, root):
    expected = json.loads(
        (root / "tests/golden" / "meteor/meteor_golden_corpus.json").read_text()
    )
    statistics = np.array([item["stats"] for item in golden])
    assert meteor.corpus_score(statistics) == pytest.approx(
        expected["corpus_score"], abs=1e-12
    )
    mean = meteor.scores_of(statistics).mean()
    assert mean == pytest.approx(expected["mean_of_segment_scores"], abs=1e-12)


def assert_equal_to_reference(readable, texts):
    prepared = [readable._texts[i] for i in readable.intern(texts).tolist()]
    expected = [statistics(hyp, ref) for hyp in prepared for ref in prepared]
    np.testing.assert_array_equal(
        meteor.statistics([(hyp, [ref]) for hyp in texts for ref in texts]), expected
    )
    square = meteor.matrix(texts)
    # equal in every digit
    assert square.ravel().tolist() == [segment_score(row) for row in expected]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(sentence, min_size=1, max_size=4))
@example(["a the a the a the a dog", "the a dog a the a the a the"])
@example(["em aé", "aé em"])  # two words with equal Java hashes
def test_sentences_with_many_overlapping_matches_align_as_in_the_reference(
    readable, texts
):
    assert_equal_to_reference(readable, texts)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(anything, sentence), min_size=1, max_size=4))
def test_arbitrary_texts_align_as_in_the_reference(readable, texts):
    assert_equal_to_reference(readable, texts)


def test_odd_texts_align_as_in_the_reference(readable):
    assert_equal_to_reference(readable, ODD)


@pytest.mark.slow
def test_long_texts_align_as_in_the_reference(readable):
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(WORDS, size=size)) for size in (64, 65, 90)]
    assert_equal_to_reference(readable, texts)


def test_no_pairs_give_empty_results():
    assert meteor.statistics([]).shape == (0, 23)
    assert meteor.scores([]).shape == (0,)
    assert meteor.corpus_score(np.zeros((0, 23))) == 0
    assert meteor.matrix([]).shape == (0, 0)


def test_hypothesis_without_references_is_reported_by_number():
    with pytest.raises(
        InputError, match="pair 2: a hypothesis needs at least one reference"
    ):
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
    with pytest.raises(
        InputError,
        match="METEOR cannot align texts of 10000 and 9000 words: more than 4 million",
    ):
        meteor.scores([("dog " * 10_000, ["dog " * 9_000])])


@given(st.permutations(range(6)))
def test_corpus_score_does_not_depend_on_the_order_of_segments(order):
    pairs = [
        ("a dog runs", ["the dog is running"]),
        ("a cat", ["a cat"]),
        ("", ["x"]),
    ] * 2
    statistics = meteor.statistics(pairs)
    assert meteor.corpus_score(statistics[list(order)]) == meteor.corpus_score(
        statistics
    )
