"""MMD against its double sums, and the limit of a kernel of width 0."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats import forms, permutation
from harness_metrics.kernel import geometry
from harness_metrics.kernel.mmd import gaussian_kernel, mmd_kernel
from tests.support.kernel_values import mmd

SHAPES = [(10, 5), (5, 5), (3, 7), (1, 4), (4, 1), (2, 2)]


def samples(n, m, d=12, batch=(), seed=0, shift=0.4):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(*batch, n, d)), rng.normal(size=(*batch, m, d)) + shift


def plain_mmd(x, y, estimator):
    both = np.concatenate([x, y])
    distances = [
        np.linalg.norm(a - b) for i, a in enumerate(both) for b in both[i + 1 :]
    ]
    sigma = 0.5 * np.median(distances)

    def mean(first, second, skip):
        values = [
            math.exp(-np.sum((a - b) ** 2) / (2 * sigma**2))
            for i, a in enumerate(first)
            for j, b in enumerate(second)
            if not (skip and i == j)
        ]
        return sum(values) / len(values)

    skip = estimator == "unbiased"
    return mean(x, x, skip) + mean(y, y, skip) - 2 * mean(x, y, False)


@pytest.mark.parametrize("n,m", SHAPES)
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_mmd_equals_the_double_sums(n, m, estimator):
    x, y = samples(n, m)
    if estimator == "unbiased" and min(n, m) == 1:
        assert math.isnan(mmd(x, y, estimator))
    else:
        assert mmd(x, y, estimator) == pytest.approx(
            plain_mmd(x, y, estimator), rel=1e-9
        )


def test_mmd_when_most_vectors_are_equal():
    # the median distance is 0, so that the kernel is the indicator of equality
    x = np.zeros((5, 3))
    y = np.zeros((4, 3))
    y[0] = 1
    # K(R, R) averages (1 + 9) / 16, K(C, R) 3 / 4
    assert mmd(x, y) == pytest.approx(1 + 10 / 16 - 2 * 3 / 4)


def test_the_width_is_half_the_median_distance():
    # distances 1, 2, 3: sigma = 1
    squared = np.array([[[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]])
    assert gaussian_kernel(squared)[0] == pytest.approx(np.exp(-squared[0] / 2))


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_the_form_gives_the_value_of_every_relabeling(estimator):
    x, y = samples(4, 3)
    both = np.concatenate([x, y])
    labels = permutation.relabelings(4, 3)
    values = forms.evaluate(
        geometry.two_sample_form(mmd_kernel(geometry.gram(both[None])), 4, estimator),
        labels,
    )[0]
    assert values == pytest.approx(
        [mmd(both[row], both[~row], estimator) for row in labels], abs=1e-12
    )
