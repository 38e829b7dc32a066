"""The score of 23 statistics: range, special cases, and statistics of a corpus."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.meteor.engine import corpus_score, scores_of
from harness.plugins.meteor.score import CHUNKS, N_STATISTICS, segment_score, summable


def row(lengths, functions=(0, 0), modules=((0, 0, 0, 0),), chunks=1):
    """Return the 23 statistics; ``modules`` are (content, content, function, function) of exact, stem, synonym, paraphrase."""
    modules = [*modules, *[(0, 0, 0, 0)] * (4 - len(modules))]
    matched = [sum(module[side] + module[side + 2] for module in modules) for side in range(2)]
    return [*lengths, *functions, *(count for module in modules for count in module), chunks, *matched]


@st.composite
def statistics_rows(draw):
    """Return statistics of a possible alignment."""
    content, function = (
        draw(st.lists(st.integers(0, 5), min_size=4, max_size=4)),
        draw(st.lists(st.integers(0, 5), min_size=4, max_size=4)),
    )
    rest = draw(st.lists(st.integers(0, 5), min_size=4, max_size=4))
    modules = [(c, c, f, f) for c, f in zip(content, function)]
    matched = sum(content) + sum(function)
    functions = [sum(function) + rest[0], sum(function) + rest[1]]
    lengths = [matched + rest[0] + rest[2], matched + rest[1] + rest[3]]
    return row(lengths, functions, modules, draw(st.integers(1, max(matched, 1))))


@given(statistics_rows())
def test_score_is_in_the_unit_interval(stats):
    assert 0.0 <= segment_score(stats) <= 1.0


def test_complete_match_in_one_chunk_scores_one():
    assert segment_score(row((3, 3), modules=[(3, 3, 0, 0)])) == 1.0
    assert segment_score(row((3, 3), (1, 1), [(2, 2, 1, 1)])) == 1.0


@pytest.mark.parametrize("stats", [row((0, 0)), row((3, 0)), row((0, 3)), row((3, 3))])
def test_no_match_scores_zero(stats):
    assert segment_score(stats) == 0.0


def test_formula_of_a_partial_match():
    precision, recall = 2 / 3, 2 / 4
    f_mean = 1 / (0.15 / precision + 0.85 / recall)
    expected = f_mean * (1 - 0.6 * (2 / 2) ** 0.2)
    assert segment_score(row((3, 4), modules=[(2, 2, 0, 0)], chunks=2)) == pytest.approx(expected, abs=1e-15)


def test_modules_are_ordered_by_weight():
    scores = [segment_score(row((4, 4), modules=[(0,) * 4] * m + [(2, 2, 0, 0)])) for m in range(4)]
    assert scores[0] > scores[2] > scores[1] == scores[3]


@given(st.integers(1, 5), st.integers(1, 9))
def test_recall_has_the_larger_weight(matched, extra):
    modules = [(matched, matched, 0, 0)]
    long_hypothesis = segment_score(row((matched + extra, matched), modules=modules))
    long_reference = segment_score(row((matched, matched + extra), modules=modules))
    assert long_hypothesis > long_reference


def test_compiled_scores_equal_the_formula_for_integers_and_floats():
    rows = np.array([row((3, 4), modules=[(2, 2, 0, 0)], chunks=2), row((3, 3), modules=[(3, 3, 0, 0)]), row((0, 0))])
    expected = [segment_score(stats) for stats in rows.tolist()]
    assert scores_of(rows).tolist() == scores_of(rows.astype(float)).tolist() == expected


def test_chunk_of_a_complete_match_is_not_summed():
    rows = np.array([row((3, 3), modules=[(3, 3, 0, 0)]), row((3, 4), modules=[(3, 3, 0, 0)])])
    sums = summable(rows[None])
    assert sums.shape == (1, 2, N_STATISTICS)
    assert sums.dtype == np.float64
    assert sums[0, :, CHUNKS].tolist() == [0.0, 1.0]
    assert rows[:, CHUNKS].tolist() == [1, 1]  # the input is unchanged
    assert corpus_score(rows[:1]) == 1.0
