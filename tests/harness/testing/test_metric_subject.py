"""Caption sets of a metric under check, and comparisons of its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness.contracts import MetricSpec, Objects
from harness.testing.metric_subject import (
    MetricSubject,
    TokenScoreSubject,
    copy_of_sets,
    largest_difference,
    nearly_equal,
    numbers_of,
    same_rows,
    token_scores,
)
from harness.testing.results import NotApplicable
from harness.testing.sample_captions import caption_sets

ROWS = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 3)),
    elements=st.floats(-10, 10),
)


@given(ROWS)
def test_rows_are_the_same_apart_from_trailing_nan(rows):
    padded = np.pad(rows, ((0, 0), (0, 2)), constant_values=np.nan)
    assert same_rows(rows, padded)
    assert not same_rows(rows, rows + 1)
    assert not same_rows(rows, rows[:-1])


def test_rows_within_a_tolerance_of_the_largest_number():
    rows = np.array([[1.0, 0.0], [np.nan, 2.0]])
    assert same_rows(rows, rows + 1e-6, 1e-5)
    assert not same_rows(rows, rows + 1e-6)
    assert not same_rows(rows, rows + 1e-4, 1e-5)
    assert not same_rows(rows, np.nan_to_num(rows), 1e-5)
    objects = [
        Objects.of([{"v": np.array([1.0, 0.0]) + size, "n": np.array([3])}], "m")
        for size in (0, 1e-6)
    ]
    assert same_rows(*objects, 1e-5)
    assert not same_rows(*objects)


def test_nearly_equal_accepts_another_order_of_summation():
    assert nearly_equal(0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1)
    assert nearly_equal([np.nan, 1.0], [np.nan, 1.0])
    assert not nearly_equal(1.0, 1.0 + 1e-8)


def test_the_largest_difference_names_the_example():
    sets = caption_sets(count=3)
    assert (
        largest_difference(np.array([1, 2, 3.0]), np.array([1, 2.5, 3.1]), sets)
        == "scene-1: 2 and 2.5"
    )
    assert (
        largest_difference(np.array([1, 2, np.nan]), np.array([9, 2, 3.0]), sets)
        == "scene-2: nan and 3"
    )


def test_numbers_leave_out_undefined_rows(overlap):
    numbers = numbers_of(overlap(), np.array([[0.5], [np.nan], [1.0]]))
    assert numbers.is_defined.tolist() == [True, False, True]
    assert numbers.value == 0.75
    assert np.array_equal(numbers.per_example, [0.5, np.nan, 1.0], equal_nan=True)
    assert np.isnan(numbers_of(overlap(), np.array([[np.nan]])).value)


def test_the_sets_fit_the_specification(overlap):
    metric = overlap()
    assert [
        len(MetricSubject(metric).sets[0].candidates),
        len(MetricSubject(metric).sets[0].references),
    ] == [3, 3]
    metric.spec = MetricSpec("overlap", True, min_candidates=2, min_texts=8)
    subject = MetricSubject(metric)
    assert {len(item.candidates) + len(item.references) for item in subject.sets} == {8}
    assert subject.accepts(4, 4)
    assert not subject.accepts(1, 8)
    metric.spec = MetricSpec("overlap", True, min_candidates=9)
    with pytest.raises(NotApplicable, match=r"needs 9 \+ 3 texts"):
        _ = MetricSubject(metric).sets


def test_shaped_sets_and_a_small_batch(overlap):
    subject = MetricSubject(overlap())
    assert {
        (len(item.candidates), len(item.references))
        for item in subject.reshape_sets(5, 1)
    } == {(5, 1)}
    batch, features, _ = subject.small_batch(5)
    assert (len(batch), batch.n, batch.m) == (3, 2, 3)
    assert list(features.references) == [item.references for item in subject.sets]
    with pytest.raises(NotApplicable, match="too many relabelings to enumerate"):
        subject.small_batch(2)


def test_differences_of_numbers(overlap):
    subject = MetricSubject(overlap())
    other = subject.compute(overlap(power=2.0))
    assert subject.difference(subject.base, subject.compute()) == ""
    assert subject.difference(subject.base, other).startswith("scene-")
    assert not subject.nearly_equal(subject.base, other)


def test_differences_of_columns():
    subject = TokenScoreSubject(None)
    assert subject.difference({"a": 1.0, "b": np.nan}, {"a": 1.0, "b": np.nan}) == ""
    assert subject.difference({"a": 1.0}, {"b": 1.0}) == "other columns"
    assert subject.difference({"a": 1.0}, {"a": 2.0}) == "a: 1.0 and 2.0"


def test_token_scores_are_valid_and_repeatable():
    scores = token_scores(examples=2, references=3)
    assert [len(example) for example in scores] == [3, 3]
    for entry in (entry for example in scores for entry in example):
        assert (entry.log_probs < 0).all()
        assert (entry.ranks >= 0).all()
        assert len(entry.tokens) == len(entry.log_probs) == len(entry.ranks)
    again = token_scores(examples=2, references=3)
    assert np.array_equal(scores[1][2].log_probs, again[1][2].log_probs)


def test_a_copy_of_sets_does_not_change_with_them():
    sets = caption_sets(count=1)
    before = copy_of_sets(sets)
    sets[0].meta["key"] = 1  # type: ignore[index]
    assert copy_of_sets(sets) != before
