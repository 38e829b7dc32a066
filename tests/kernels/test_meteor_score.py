"""The METEOR score of 23 statistics: range, special cases,
and equal digits of both engines.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import caption_kernels_reference as reference
from caption_kernels_reference.meteor.score import segment_score

compiled = pytest.importorskip("caption_kernels._compiled")


def row(lengths, functions=(0, 0), modules=((0, 0, 0, 0),), chunks=1):
    """Return the 23 statistics; ``modules`` are (content, content, function, function)
    of exact, stem, synonym, paraphrase.
    """
    modules = [*modules, *[(0, 0, 0, 0)] * (4 - len(modules))]
    matched = [
        sum(module[side] + module[side + 2] for module in modules) for side in range(2)
    ]
    return [
        *lengths,
        *functions,
        *(count for module in modules for count in module),
        chunks,
        *matched,
    ]


@st.composite
def statistics_rows(draw):
    """Return statistics of a possible alignment."""
    content = draw(st.lists(st.integers(0, 5), min_size=4, max_size=4))
    function = draw(st.lists(st.integers(0, 5), min_size=4, max_size=4))
    rest = draw(st.lists(st.integers(0, 5), min_size=4, max_size=4))
    modules = [(c, c, f, f) for c, f in zip(content, function)]
    matched = sum(content) + sum(function)
    functions = [sum(function) + rest[0], sum(function) + rest[1]]
    lengths = [matched + rest[0] + rest[2], matched + rest[1] + rest[3]]
    return row(lengths, functions, modules, draw(st.integers(1, max(matched, 1))))


@given(statistics_rows())
def test_score_is_in_the_unit_interval(stats):
    assert 0.0 <= segment_score(stats) <= 1.0


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(statistics_rows(), st.lists(st.floats(), min_size=23, max_size=23)),
        max_size=5,
    )
)
def test_both_engines_give_the_same_digits(rows):
    statistics = np.array(rows, dtype=np.float64).reshape(-1, 23)
    with np.errstate(all="ignore"):
        try:
            expected = reference.meteor_score(statistics)
        except (ZeroDivisionError, OverflowError):
            # Python's floats; in C++ these are infinite
            return
    np.testing.assert_array_equal(compiled.meteor_score(statistics), expected)


def test_complete_match_in_one_chunk_scores_one():
    assert segment_score(row((3, 3), modules=[(3, 3, 0, 0)])) == 1.0
    assert segment_score(row((3, 3), (1, 1), [(2, 2, 1, 1)])) == 1.0


@pytest.mark.parametrize("stats", [row((0, 0)), row((3, 0)), row((0, 3)), row((3, 3))])
def test_no_match_scores_zero(stats):
    assert segment_score(stats) == 0.0
    assert compiled.meteor_score(np.array([stats], dtype=np.float64)).tolist() == [0.0]


def test_formula_of_a_partial_match():
    precision = 2 / 3
    recall = 2 / 4
    f_mean = 1 / (0.15 / precision + 0.85 / recall)
    expected = f_mean * (1 - 0.6 * (2 / 2) ** 0.2)
    assert segment_score(
        row((3, 4), modules=[(2, 2, 0, 0)], chunks=2)
    ) == pytest.approx(expected, abs=1e-15)


def test_modules_are_ordered_by_weight():
    scores = [
        segment_score(row((4, 4), modules=[(0,) * 4] * m + [(2, 2, 0, 0)]))
        for m in range(4)
    ]
    assert scores[0] > scores[2] > scores[1] == scores[3]


@given(st.integers(1, 5), st.integers(1, 9))
def test_recall_has_the_larger_weight(matched, extra):
    modules = [(matched, matched, 0, 0)]
    long_hypothesis = segment_score(row((matched + extra, matched), modules=modules))
    long_reference = segment_score(row((matched, matched + extra), modules=modules))
    assert long_hypothesis > long_reference


@pytest.mark.parametrize("engine", [compiled, reference])
def test_wrong_shapes(engine):
    with pytest.raises(ValueError, match=r"shape \(n, 23\)"):
        engine.meteor_score(np.zeros((2, 22)))
    assert engine.meteor_score(np.zeros((0, 23))).shape == (0,)
