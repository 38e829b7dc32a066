"""Pair forms: values and exact p-values equal the plain sums over pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import forms, permutation
from harness.stats.permutation_p_values import p_values


def plain(form: np.ndarray, labels: np.ndarray) -> float:
    return sum(
        form[p, q] for p in np.flatnonzero(labels) for q in np.flatnonzero(~labels)
    )


def random_forms(number: int, size: int, seed: int = 0) -> np.ndarray:
    return (
        np.random.default_rng(seed).integers(-5, 6, (number, size, size)).astype(float)
    )


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 100))
def test_evaluate_and_sweep_equal_the_sums(n, m, seed):
    stack = random_forms(2, n + m, seed)
    labels = permutation.relabelings(n, m)
    wanted = np.array([[plain(form, row) for row in labels] for form in stack])
    assert np.array_equal(forms.evaluate(stack, labels), wanted)
    assert np.array_equal(forms.evaluate(stack, labels, memory_bytes=1), wanted)
    assert np.array_equal(forms.identity(stack, n), wanted[:, 0])
    for memory in (1, 1 << 20):
        swept = np.concatenate(
            [values.copy() for values in forms.sweep(stack, n, memory_bytes=memory)],
            axis=1,
        )
        assert np.array_equal(np.sort(swept, axis=1), np.sort(wanted, axis=1))


@given(
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from(["upper", "lower"]),
    st.integers(0, 100),
)
def test_exact_p_values(n, m, tail, seed):
    stack = random_forms(3, n + m, seed)
    null = forms.evaluate(stack, permutation.relabelings(n, m))
    wanted = p_values(null[:, 0], [null], tail, "exact")
    assert np.array_equal(forms.exact_p_values(stack, n, tail), wanted)


def test_labels_of_other_sizes_are_evaluated_too():
    form = random_forms(1, 5)
    labels = np.array(
        [
            [True, False, False, False, False],
            [True, True, True, False, True],
            [False] * 5,
        ]
    )
    assert forms.evaluate(form, labels)[0].tolist() == [
        plain(form[0], row) for row in labels
    ]


def test_mirrored_visits_one_of_each_pair():
    stack = random_forms(2, 8)
    symmetric = stack + stack.transpose(0, 2, 1)
    assert np.array_equal(
        forms.exact_p_values(symmetric, 4, "upper", mirrored=True),
        forms.exact_p_values(symmetric, 4, "upper"),
    )
    assert (
        sum(len(b.rows) * len(b.columns) for b in forms.blocks(4, 4, mirrored=True))
        == 35
    )
    with pytest.raises(ValueError, match="as many candidates as references"):
        forms.blocks(3, 4, mirrored=True)


def test_undefined_forms_give_undefined_p():
    assert np.isnan(forms.exact_p_values(np.full((1, 4, 4), np.nan), 2, "upper")).all()


@given(st.integers(1, 4), st.integers(1, 4), st.integers(-12, 12), st.integers(0, 1000))
def test_p_values_do_not_depend_on_the_unit(n, m, exponent, seed):
    stack = random_forms(3, n + m, seed) / 7
    for tail in ("upper", "lower"):
        p = forms.exact_p_values(stack, n, tail)
        assert np.array_equal(forms.exact_p_values(stack * 10.0**exponent, n, tail), p)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 1000))
def test_magnitude_is_the_mean_sum_of_absolute_terms(n, m, seed):
    stack = random_forms(2, n + m, seed)
    sums = forms.evaluate(np.abs(stack), permutation.relabelings(n, m))
    assert forms.magnitude(stack, n) == pytest.approx(sums.mean(axis=1), rel=1e-12)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_values_whose_terms_cancel_are_ties(unit):
    # f(s) = sum of a over candidates, for centred a: of three equal pairs, those that
    # take one of each pair sum to 0.
    a = np.array([0.1, -0.1, 0.7, -0.7]) * unit
    form = np.repeat(a[:, None], 4, axis=1)[None] / 2
    assert forms.exact_p_values(form, 2, "upper").tolist() == [4 / 6]
    form[0] += 1e-17 * unit * np.random.default_rng(0).normal(size=(4, 4))
    assert forms.exact_p_values(form, 2, "upper").tolist() == [4 / 6]


def test_mirrored_blocks_hold_the_relabelings_with_text_0_among_the_candidates():
    rows = [
        np.concatenate([row, column])
        for b in forms.blocks(3, 3, mirrored=True)
        for row in b.rows
        for column in b.columns
    ]
    assert len({tuple(row) for row in rows}) == 10
    assert all(row[0] == 1 and row.sum() == 3 for row in rows)


def test_stacks_of_forms_in_two_dimensions():
    stack = random_forms(6, 5).reshape(2, 3, 5, 5)
    labels = permutation.relabelings(2, 3)
    flat = forms.evaluate(stack.reshape(6, 5, 5), labels)
    assert np.array_equal(forms.evaluate(stack, labels), flat.reshape(2, 3, -1))
    assert np.array_equal(forms.identity(stack, 2), flat[:, 0].reshape(2, 3))
