"""The test of labels permuted within prompts: moments, exactness, floors,
size, ties.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats import permutation
from harness.stats.stratified_test import (
    Relabelings,
    adaptive_p,
    rank_shares,
    relabel_sums,
    standardise,
    standardise_values,
    strata_of,
    westfall_young,
)


def mmd(kernel, labels):
    """Unbiased MMD^2 by its definition; the mean of all pairs stands for the pairs of a
    single text.
    """
    size = len(kernel)
    off = ~np.eye(size, dtype=bool)

    def within(rows):
        return (
            kernel[np.ix_(rows, rows)][~np.eye(len(rows), dtype=bool)].mean()
            if len(rows) > 1
            else kernel[off].mean()
        )

    a = np.flatnonzero(labels)
    b = np.flatnonzero(~labels)
    return within(a) + within(b) - 2 * kernel[np.ix_(a, b)].mean()


@pytest.mark.parametrize(("n", "m"), [(3, 4), (1, 4), (4, 1), (2, 2), (2, 1), (5, 5)])
def test_forms_are_the_unbiased_mmd_with_mean_0_and_variance_1_over_all_relabelings(
    n, m
):
    points = np.random.default_rng(n).normal(size=(n + m, 2))
    kernel = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2))
    labels = permutation.relabelings(n, m)
    expected = np.array([mmd(kernel, row) for row in labels])
    forms, deviations = standardise(kernel[None], n)
    values = np.einsum(
        "pi,ij,pj->p", labels.astype(float), forms[0], labels.astype(float)
    )
    assert values * deviations[0] == pytest.approx(expected, abs=1e-12)
    assert (values.mean(), values.std()) == (
        pytest.approx(0, abs=1e-12),
        pytest.approx(1),
    )


@pytest.mark.parametrize(
    "kernel", [np.ones((1, 4, 4)), np.eye(4)[None], np.full((1, 2, 2), 0.3)]
)
def test_prompts_without_information_have_forms_of_0(kernel):
    forms, deviations = standardise(kernel, 1 if len(kernel[0]) == 2 else 2)
    assert not forms.any() and not deviations.any()


def sums(sizes, kernel, features, draws=99, seed=0):
    relabelings = Relabelings(strata_of(sizes), draws, seed)
    return relabelings, relabel_sums(
        relabelings,
        lambda part: kernel[part.rows[:, :, None], part.rows[:, None]][:, None],
        features,
    )


def test_few_prompts_are_enumerated_jointly():
    rng = np.random.default_rng(0)
    sizes = [(2, 2), (1, 3), (2, 2)]
    points = rng.normal(size=12)
    kernel = np.exp(-np.abs(points[:, None] - points))
    relabelings, found = sums(sizes, kernel, points[:, None])
    assert relabelings.exact and relabelings.number == 6 * 4 * 6
    assert relabelings.floor == 4 / 144
    assert len({tuple(row) for row in found.within.round(9)}) <= 3 * 4 * 3, (
        "exchanging equal sources changes nothing"
    )
    assert (found.within.mean(), found.within.std()) == (
        pytest.approx(0, abs=1e-12),
        pytest.approx(1),
    )
    assert (found.shifts[:, 0].mean(), found.shifts[:, 0].std()) == (
        pytest.approx(0, abs=1e-12),
        pytest.approx(1),
    )


def test_a_prompt_of_5_and_5_alone_has_a_floor():
    relabelings = Relabelings(strata_of([(5, 5)]), 1000, 0)
    assert relabelings.exact and relabelings.floor == 2 / 252


def test_random_relabelings_count_the_observed_one():
    relabelings = Relabelings(strata_of([(5, 5)] * 4), 199, 0)
    assert not relabelings.exact and relabelings.floor == 1 / 200
    for part, labels in relabelings.blocks():
        assert labels.shape == (4, 200, 10) and (labels.sum(axis=2) == 5).all()
        assert (labels[:, 0] == (np.arange(10) < part.n)).all()


def test_the_observed_relabeling_is_the_first_where_there_is_no_table_of_them():
    ((_, labels),) = Relabelings(strata_of([(20, 30)]), 9, 0).blocks()
    assert (labels[0, 0] == (np.arange(50) < 20)).all() and (
        labels.sum(axis=2) == 20
    ).all()


def test_a_shift_of_all_prompts_is_found_and_adjusted_p_values_hold_the_others():
    rng = np.random.default_rng(1)
    sizes = [(4, 4)] * 20
    features = rng.normal(size=(160, 5))
    features[np.concatenate([np.arange(8 * k, 8 * k + 4) for k in range(20)]), 2] += 1.5
    _, found = sums(sizes, np.eye(160), features)
    p = westfall_young(found.shifts[:, :5])
    assert p[2] == 0.01 and np.delete(p, 2).min() > 0.1


@pytest.mark.slow
def test_the_size_is_the_level_under_the_null_hypothesis():
    rejected = 0
    for run in range(400):
        rng = np.random.default_rng([run, 5])
        points = rng.integers(4, size=36).astype(float)
        _, found = sums(
            [(2, 4), (5, 1), (3, 3), (4, 2), (1, 5), (3, 3)],
            (points[:, None] == points) * 1.0,
            points[:, None],
            39,
            run,
        )
        rejected += (
            adaptive_p(np.abs(np.concatenate([found.within, found.shifts], axis=1)))
            <= 0.05
        )
    assert rejected <= 34, "of 400, at most .05 + 3.2 standard errors"


def test_statistics_that_never_differ_are_left_out():
    assert adaptive_p(np.ones((10, 3))) == 1.0
    assert adaptive_p(np.column_stack([np.ones(4), [3.0, 1.0, 2.0, 0.0]])) == 0.25


def test_values_are_standardised_over_relabelings_and_constant_ones_are_0():
    values = np.column_stack(
        [[1.0, 2.0, 3.0], [1.0, 1.0 + 1e-12, 1.0], [np.nan, 0.0, 1.0]]
    )
    standardised, deviations = standardise_values(values)
    assert (
        standardised[:, 0] == pytest.approx(np.array([-1, 0, 1]) * 1.5**0.5)
        and not standardised[:, 1:].any()
    )
    assert deviations == pytest.approx([(2 / 3) ** 0.5, 0, 0])


@pytest.mark.slow
def test_the_size_of_a_sum_of_scores_is_the_level():
    rejected = 0
    for run in range(400):
        points = np.random.default_rng([run, 8]).integers(5, size=24).astype(float)
        relabelings = Relabelings(strata_of([(2, 4), (3, 3), (5, 1), (4, 2)]), 39, run)

        def score(block, labels, points=points):
            return np.abs(
                np.einsum("bpn,bn->bp", labels, points[block.rows]) / block.n
                - points[block.rows].mean(axis=1)[:, None]
            )[:, :, None]

        found = relabel_sums(
            relabelings,
            lambda block: np.zeros((len(block.rows), 0, 6, 6)),
            points[:, None],
            score,
        )
        rejected += adaptive_p(found.within) <= 0.05
    assert rejected <= 34, "of 400, at most .05 + 3.2 standard errors"


def test_rounding_errors_are_ties():
    assert rank_shares(np.array([[1.0], [1.0 + 1e-14], [0.0], [-1.0]]))[
        :, 0
    ].tolist() == [0.5, 0.5, 0.75, 1.0]
