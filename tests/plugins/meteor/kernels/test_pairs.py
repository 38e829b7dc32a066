"""Matches, statistics and scores of pairs against the readable version; limits of the number of matches."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.plugins.meteor.kernels import SOURCES, groups, pairs, search
from harness.plugins.meteor.lexicon.disk_cache import load_lexicon
from harness.plugins.meteor.reference import Aligner
from harness.plugins.meteor.score import segment_score
from harness.plugins.meteor.texts import TextTable, WordTable

TEXTS = st.lists(
    st.lists(st.sampled_from(["a", "the", "dog", "dogs", "hound", "went", "go", "an animal that barks"]), max_size=6),
    min_size=2, max_size=3,
)  # fmt: skip


@pytest.fixture
def lexicon(tiny_sources):
    return load_lexicon(tiny_sources)


def aligned(lexicon, texts, score_groups, rows=None):
    """Return (result, scores, statistics) of all pairs of the texts as one group."""
    table = TextTable(WordTable(lexicon))
    ids = table.intern([" ".join(words) for words in texts])
    hyps, refs = (index.ravel().astype(np.int32) for index in np.indices((len(texts), len(texts))))
    n = len(hyps)
    rows = np.arange(n, dtype=np.int64) if rows is None else rows
    bounds = np.array([0, len(texts)]), np.array([0, n])
    group = pairs.Groups(bounds[0], ids, bounds[1], hyps, refs, rows)
    scores, statistics = np.zeros(n), np.zeros((max(rows) + 1, 23), dtype=np.int32)
    sizes = table.words.n_numbers, lexicon.n_synsets
    result = score_groups(0, 1, group, table.prepared(), *sizes, scores, statistics)
    return result, scores, statistics


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS)
def test_interpreted_kernels_equal_the_reference(lexicon, interpreted, texts):
    for module in (pairs, groups, search):
        interpreted(module)
    result, scores, statistics = aligned(lexicon, texts, pairs.score_groups)
    aligner = Aligner(lexicon)
    expected = [
        aligner.pair_statistics(aligner.words(" ".join(hyp)), aligner.words(" ".join(ref)))
        for hyp, ref in itertools.product(texts, repeat=2)
    ]
    assert result == -1
    np.testing.assert_array_equal(statistics, expected)
    assert scores.tolist() == [segment_score(row) for row in expected]


def test_interpreted_and_compiled_kernels_agree(lexicon, interpreted):
    texts = [["a", "dog", "went"], ["the", "hounds", "go", "an animal that barks"], ["a", "dog"] * 4]
    compiled = aligned(lexicon, texts, pairs.score_groups)
    for module in (pairs, groups, search):
        interpreted(module)
    for one, other in zip(compiled, aligned(lexicon, texts, pairs.score_groups)):
        np.testing.assert_array_equal(one, other)


def test_statistics_are_written_for_pairs_with_a_row_only(lexicon):
    texts = [["a", "dog"], ["dogs"]]
    _, scores, statistics = aligned(lexicon, texts, pairs.score_groups)
    _, same_scores, some = aligned(lexicon, texts, pairs.score_groups, rows=np.array([-1, 1, -1, 0]))
    assert same_scores.tolist() == scores.tolist()
    np.testing.assert_array_equal(some, statistics[[3, 1]])


@pytest.mark.parametrize(("limit", "pair"), [(3, 0), (4, 1), (9, -1)])
def test_first_pair_with_too_many_matches_is_returned(lexicon, interpreted, monkeypatch, limit, pair):
    for module in (pairs, groups, search):
        interpreted(module)
    monkeypatch.setattr(pairs, "MOST_MATCHES", limit)
    texts = [["dog", "dog"], ["dog", "dog", "dog"]]  # 4, 6, 6 and 9 exact matches
    assert aligned(lexicon, texts, pairs.score_groups)[0] == pair


@pytest.mark.parametrize("room", [1, 2])
def test_room_for_matches_grows(lexicon, interpreted, monkeypatch, room):
    texts = [["a", "dog", "the", "dog"], ["the", "hound", "a", "dog"]]
    expected = aligned(lexicon, texts, pairs.score_groups)
    for module in (pairs, groups, search):
        interpreted(module)
    monkeypatch.setattr(pairs, "_FIRST_ROOM", room)
    for one, other in zip(expected, aligned(lexicon, texts, pairs.score_groups)):
        np.testing.assert_array_equal(one, other)


@given(st.lists(st.lists(st.integers(0, 9), min_size=23, max_size=23), max_size=4))
@settings(deadline=None)
def test_rows_are_scored_by_the_formula(rows):
    for row in rows:
        row[:4] = [100 + row[0], 100 + row[1], row[2], row[3]]
        row[20:] = [1 + row[20], 1 + row[21], 1 + row[22]]
    statistics = np.array(rows, dtype=np.float64).reshape(-1, 23)
    assert pairs.score_rows(statistics).tolist() == [segment_score(row) for row in statistics.tolist()]


def test_sources_are_the_files_of_the_compiled_functions():
    files = {module.__file__ for module in (pairs, groups, search)} | {segment_score.__code__.co_filename}
    assert set(SOURCES) == files
