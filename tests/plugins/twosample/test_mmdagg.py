"""MMDAgg: kernels, and the smallest p-value by a plain program."""

import numpy as np
import pytest

from harness.stats import permutation
from harness_metrics.kernel import geometry
from harness_metrics.twosample import mmdagg


def unbiased(kernel, label):
    c = np.flatnonzero(label)
    r = np.flatnonzero(~label)

    def within(sample):
        block = kernel[np.ix_(sample, sample)]
        return (block.sum() - np.trace(block)) / (len(sample) * (len(sample) - 1))

    return within(c) + within(r) - 2 * kernel[np.ix_(c, r)].mean()


def test_the_smallest_p_value_of_every_relabeling():
    points = np.random.default_rng(0).standard_normal((2, 6, 3))
    kernel = mmdagg.kernels(geometry.gram(points), "both", 3)
    labels = permutation.relabelings(2, 4)
    values = mmdagg.smallest_p(kernel, 2, labels, labels)
    for example, row in zip(kernel, values):
        statistics = np.array(
            [[unbiased(k, label) for label in labels] for k in example]
        )
        p = (statistics[:, None, :] >= statistics[:, :, None] - 1e-9).mean(axis=2)
        np.testing.assert_allclose(row, p.min(axis=0), atol=1e-12)


def test_kernels_have_the_widths_of_the_paper():
    points = np.random.default_rng(1).standard_normal((1, 8, 2))
    distances = np.linalg.norm(points[0][:, None] - points[0], axis=-1)
    ranked = np.sort(distances[np.triu_indices(8, 1)])
    low = ranked[int(0.05 * 28)] / 2
    high = ranked[int(0.95 * 28)] * 2
    found = mmdagg.kernels(geometry.gram(points), "laplace", 4)[0]
    for width, kernel in zip(np.linspace(low, high, 4), found):
        np.testing.assert_allclose(kernel, np.exp(-distances / width), atol=1e-6)
    gaussian = mmdagg.kernels(geometry.gram(points), "gaussian", 4)[0]
    np.testing.assert_allclose(
        gaussian[3], np.exp(-((distances / high) ** 2) / 2), atol=1e-6
    )
    assert mmdagg.kernels(geometry.gram(points), "both", 4).shape == (1, 8, 8, 8)


def test_distances_of_zero_count_as_the_median_for_the_widths():
    points = np.array([[[0.0], [0.0], [1.0], [3.0], [6.0]]])
    distances = np.abs(points[0] - points[0].T)
    upper = distances[np.triu_indices(5, 1)]
    low = np.sort(np.where(upper == 0, np.median(upper), upper))[0] / 2
    assert low == 0.5
    np.testing.assert_allclose(
        mmdagg.kernels(geometry.gram(points), "laplace", 2)[0, 0],
        np.exp(-distances / low),
        atol=1e-6,
    )


@pytest.mark.parametrize(
    "points", [np.zeros((1, 5, 2)), np.array([[[0.0], [0.0], [0.0], [0.0], [1.0]]])]
)
def test_equal_vectors_have_finite_kernels(points):
    kernel = mmdagg.kernels(geometry.gram(points), "both", 2)
    assert np.isfinite(kernel).all()
    labels = permutation.relabelings(2, 3)
    assert (
        (mmdagg.smallest_p(kernel, 2, labels, labels) > 0)
        & (mmdagg.smallest_p(kernel, 2, labels, labels) <= 1)
    ).all()


def test_relabelings_are_drawn_where_there_are_too_many():
    assert len(mmdagg.relabelings(3, 3, 0)) == 20
    drawn = mmdagg.relabelings(15, 15, 0)
    assert drawn.shape == (mmdagg.DRAWS + 1, 30)
    assert drawn[0].tolist() == [True] * 15 + [False] * 15
