"""Energy distance against its double sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness.stats import forms, permutation
from harness_metrics.kernel import geometry
from harness_metrics.kernel.energy import energy_kernel
from tests.support.kernel_values import energy

SHAPES = [(10, 5), (5, 5), (3, 7), (1, 4), (4, 1), (2, 2)]


def samples(n, m, d=12, batch=(), seed=0, shift=0.4):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(*batch, n, d)), rng.normal(size=(*batch, m, d)) + shift


def plain_energy(x, y):
    def mean(first, second):
        return np.mean([[np.linalg.norm(a - b) for b in second] for a in first])

    return 2 * mean(x, y) - mean(x, x) - mean(y, y)


@pytest.mark.parametrize("n,m", SHAPES)
def test_energy_equals_the_double_sums(n, m):
    x, y = samples(n, m)
    assert energy(x, y) == pytest.approx(plain_energy(x, y), rel=1e-9)


@given(arrays(np.float64, (5, 2), elements=st.floats(-10, 10)), st.floats(0.1, 10))
def test_scales_with_the_vectors_and_is_not_negative(points, factor):
    value = energy(points[:3], points[3:])
    assert value >= -1e-5
    # equal vectors are decided by a relative tolerance, which differs by rounding where
    # distances are near it
    assert energy(factor * points[:3], factor * points[3:]) == pytest.approx(
        factor * value, rel=1e-6, abs=1e-4
    )


def test_the_kernel_is_the_negative_distance():
    gram = geometry.gram(np.array([[[0.0, 0.0], [3.0, 4.0]]]))
    assert energy_kernel(gram)[0] == pytest.approx(np.array([[0.0, -5.0], [-5.0, 0.0]]))


def test_the_form_gives_the_value_of_every_relabeling():
    x, y = samples(4, 3)
    both = np.concatenate([x, y])
    labels = permutation.relabelings(4, 3)
    values = forms.evaluate(
        geometry.two_sample_form(energy_kernel(geometry.gram(both[None])), 4, "biased"),
        labels,
    )[0]
    assert values == pytest.approx(
        [energy(both[row], both[~row]) for row in labels], abs=1e-12
    )
