"""METEOR's alignment: statistics and scores of the compiled version equal those of the
readable one in every digit.
"""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import caption_kernels_reference as reference
from caption_kernels.lexicon.file_format import finish_lexicon
from caption_kernels.lexicon.word_lists import read_lists
from caption_kernels_reference.meteor import aligner

compiled = pytest.importorskip("caption_kernels._compiled")
ENGINES = [compiled, reference]

WORDS = [
    "a",
    "the",
    "dog",
    "dogs",
    "hound",
    "puppy",
    "is",
    "running",
    "run",
    "went",
    "in front of",
    "before",
    "on top of",
    "over",
    "park",
    ".",
]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
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
    "aé em",
    "...a...",
    "\U0001d7d8 x",
]


class Answer(NamedTuple):
    excess: int
    scores: list[float]
    statistics: list[list[int]]


def all_pairs(table, texts, rows=None):
    """Return the alignment of all pairs of the texts as one group."""
    n = len(texts)
    hyps, refs = (places.ravel().astype(np.int32) for places in np.indices((n, n)))
    rows = np.arange(n * n, dtype=np.int64) if rows is None else rows
    scores = np.full(n * n, -1.0)
    statistics = np.full((int(rows.max(initial=-1)) + 1, 23), -1, dtype=np.int32)
    bounds = np.array([0, n]), np.array([0, n * n])
    excess = table.align(
        bounds[0],
        table.intern(texts),
        bounds[1],
        hyps,
        refs,
        rows,
        0,
        1,
        scores,
        statistics,
    )
    return Answer(excess, scores.tolist(), statistics.tolist())


def assert_engines_agree(new_meteor_texts, texts):
    ours, theirs = (all_pairs(new_meteor_texts(engine), texts) for engine in ENGINES)
    assert ours == theirs
    assert ours.excess == -1


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=4))
@example(["a the a the a the a dog", "the a dog a the a the a the"])
# paths in another order after a fixed match
@example(
    ["dog a hound a a a a before", "a dog hound dog before hound dog a hound dog dog a"]
)
@example(["em aé", "aé em"])  # two words with equal Java hashes
@example(["dog dog dogs hound a dog", "a dog the dog an animal that barks dog"])
def test_sentences_with_many_overlapping_matches(new_meteor_texts, texts):
    assert_engines_agree(new_meteor_texts, texts)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=40), SENTENCES), min_size=1, max_size=4))
def test_arbitrary_texts(new_meteor_texts, texts):
    assert_engines_agree(new_meteor_texts, texts)


def test_odd_texts(new_meteor_texts):
    assert_engines_agree(new_meteor_texts, ODD)


@pytest.mark.first_case_fast
@pytest.mark.parametrize("length", [20, 63, 64, 65, 80])
def test_more_branches_than_the_beam_is_wide_and_more_words_than_bits_in_a_number(
    new_meteor_texts, length
):
    rng = np.random.default_rng(length)
    assert_engines_agree(
        new_meteor_texts,
        [" ".join(rng.choice(WORDS[:8], size=length)) for _ in range(2)],
    )


def test_texts_of_hundreds_of_words(new_meteor_texts):
    rng = np.random.default_rng(3)
    words = [f"w{k}" for k in range(200)]
    texts = [
        " ".join(rng.choice([*words, "dog", "hound", "dogs"], size=size))
        for size in (250, 12)
    ]
    assert_engines_agree(new_meteor_texts, texts)


def test_keys_of_more_than_64_bits(new_meteor_texts):
    answer = all_pairs(
        new_meteor_texts(compiled),
        ["dog dog", "lady " + "dog " * 50_000],
        rows=np.array([-1, 0, 1, -1])[[0, 1, 2, 0]],
    )
    assert answer.statistics[0] == [2, 50_001, 0, 0, 2, 2, 0, 0, *[0] * 12, 1, 2, 2]
    assert answer.statistics[1] == [50_001, 2, 0, 0, 2, 2, 0, 0, *[0] * 12, 1, 2, 2]


@pytest.mark.slow
@settings(max_examples=3000, deadline=None)
@given(st.lists(SENTENCES, min_size=2, max_size=6))
def test_many_sentences(new_meteor_texts, texts):
    assert_engines_agree(new_meteor_texts, texts)


@pytest.mark.parametrize("engine", ENGINES)
def test_statistics_are_written_for_pairs_with_a_row_only(new_meteor_texts, engine):
    texts = ["a dog", "dogs"]
    whole = all_pairs(new_meteor_texts(engine), texts)
    some = all_pairs(new_meteor_texts(engine), texts, rows=np.array([-1, 1, -1, 0]))
    assert some.scores == whole.scores
    assert some.statistics == [whole.statistics[3], whole.statistics[1]]


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_from_start_to_stop_are_aligned(new_meteor_texts, engine):
    table = new_meteor_texts(engine)
    ids = table.intern(["a dog", "the dog", "dogs", "a hound", "a dog"])
    # the second group is empty
    starts = np.array([0, 2, 2, 5])
    pairs = np.array([0, 1, 1, 3])
    places = np.array([0, 0, 1], dtype=np.int32), np.array([1, 1, 2], dtype=np.int32)
    scores = np.full(3, -1.0)
    statistics = np.zeros((0, 23), dtype=np.int32)
    none = np.full(3, -1)
    assert (
        table.align(starts, ids, pairs, *places, none, 1, 3, scores, statistics) == -1
    )
    assert scores[0] == -1
    assert scores[1:].min() > 0
    assert (
        table.align(starts, ids, pairs, *places, none, 0, 1, scores, statistics) == -1
    )
    assert scores[0] > 0
    assert (
        table.align(starts, ids, pairs, *places, none, 3, 3, scores, statistics) == -1
    )


def test_first_pair_with_too_many_matches_is_returned(new_meteor_texts, monkeypatch):
    table = new_meteor_texts(compiled)
    answer = all_pairs(table, ["a dog", "dog " * 2100])
    assert answer.excess == 3  # 4.41 million matches
    assert [score > 0 for score in answer.scores] == [True, True, True, False]
    assert answer.scores[3] == -1
    monkeypatch.setattr(aligner, "MOST_MATCHES", 4)
    assert (
        all_pairs(new_meteor_texts(reference), ["dog dog", "dog dog dog"]).excess == 1
    )


@pytest.mark.slow
def test_many_paraphrases_of_a_repeated_word_are_counted_while_they_are_found(
    new_meteor_texts,
):
    texts = ["a dog " * 1200, "the dog " * 1200]
    # each text has 2.9 million matches with itself
    assert all_pairs(new_meteor_texts(compiled), texts).excess == 1


def groups_of(table, n=2):
    """Return arguments of a correct call for the pairs of two texts:
    arrays that a test may spoil.
    """
    ids = table.intern(["a dog", "the dog"])
    places = np.zeros(n, dtype=np.int32)
    return {
        "text_starts": np.array([0, 2]),
        "texts": ids,
        "pair_starts": np.array([0, n]),
        "hyps": places,
        "refs": places + 1,
        "rows": np.arange(n),
        "start": 0,
        "stop": 1,
        "scores": np.zeros(n),
        "statistics": np.zeros((n, 23), dtype=np.int32),
    }


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("texts", 0, -1),
        ("texts", 1, 2),
        ("text_starts", 0, -1),
        ("text_starts", 0, 3),
        ("text_starts", 1, 3),
        ("pair_starts", 0, -1),
        ("pair_starts", 1, 3),
        ("pair_starts", 0, 3),
        ("hyps", 1, 2),
        ("hyps", 0, -1),
        ("refs", 0, 2),
        ("refs", 1, -(1 << 31)),
        ("rows", 0, 2),
        ("rows", 1, 1 << 60),
        ("start", None, -1),
        ("start", None, 2),
        ("stop", None, 2),
    ],
)
def test_numbers_outside_their_table(new_meteor_texts, engine, name, place, value):
    table = new_meteor_texts(engine)
    arguments = groups_of(table)
    assert table.align(**arguments) == -1
    if place is None:
        arguments[name] = value
    else:
        arguments[name][place] = value
    with pytest.raises(IndexError, match="METEOR: a row or id lies outside its table"):
        table.align(**arguments)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "name", ["text_starts", "pair_starts", "hyps", "refs", "rows", "scores"]
)
def test_arrays_of_different_lengths(new_meteor_texts, engine, name):
    table = new_meteor_texts(engine)
    arguments = groups_of(table)
    arguments[name] = arguments[name][:1]
    with pytest.raises(ValueError, match="expected"):
        table.align(**arguments)
    arguments = {**groups_of(table), "statistics": np.zeros((2, 22), dtype=np.int32)}
    with pytest.raises(ValueError, match="23 columns"):
        table.align(**arguments)


@pytest.mark.parametrize("name", ["texts", "hyps", "rows", "scores", "statistics"])
def test_arrays_of_another_type_order_or_without_writing(new_meteor_texts, name):
    table = new_meteor_texts(compiled)
    arguments = groups_of(table)
    for spoilt in (
        arguments[name].astype(np.float32),
        np.repeat(arguments[name], 2, axis=0)[::2],
        [1, 2],
    ):
        with pytest.raises(TypeError):
            table.align(**{**arguments, name: spoilt})
    if name in ("scores", "statistics"):
        arguments[name].flags.writeable = False
        with pytest.raises(TypeError):
            table.align(**arguments)


def test_alignment_goes_on_while_another_thread_adds_texts(new_meteor_texts):
    table = new_meteor_texts(compiled)
    texts = [
        "a dog is running in front of the park",
        "the hound went before a park .",
        "a puppy",
        "dogs run over the dog",
    ]
    expected = all_pairs(table, texts)

    def work(thread: int) -> bool:
        return all(all_pairs(table, texts) == expected for _ in range(50))

    def add(thread: int) -> bool:
        return all(
            len(table.intern([f"a dog{k}x{thread} in the park{k}"])) == 1
            for k in range(2000)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda k: (work if k % 2 else add)(k), range(8)))


def test_a_table_keeps_its_lexicon():
    paraphrases = compiled.ParaphraseReader()
    paraphrases.feed(b"0.5\na dog\nthe dog\n")
    buffer = finish_lexicon(
        paraphrases, read_lists(b"a\n", b"Mr\n", b"go\nwent\n", b"go\n7\n")
    )
    table = compiled.MeteorTexts(compiled.Lexicon(buffer))
    del paraphrases, buffer
    gc.collect()
    assert all_pairs(table, ["a dog", "the dog"]).statistics[1][16:18] == [1, 2]
