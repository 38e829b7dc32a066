"""Random features: sums approximate the kernel and the MMD of the corpora."""

import numpy as np
import pytest

from harness_metrics.sets import corpora


def test_features_approximate_the_gaussian_kernel():
    x, y = np.random.default_rng(0).standard_normal((2, 3, 5))
    frequency = corpora.frequencies(5, 20000, 1.5, 0)
    first, second = corpora.feature_sums(np.stack([x, y], axis=1), frequency, 1)
    kernel = np.exp(-((x - y) ** 2).sum(axis=1) / (2 * 1.5**2))
    np.testing.assert_allclose((first * second).sum(axis=1) / 20000, kernel, atol=0.02)
    assert (first * first).sum(axis=1) / 20000 == pytest.approx(1.0)


def test_mmd_of_sums_is_the_biased_estimate():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((30, 4)), rng.standard_normal((20, 4)) + 0.5
    both = np.concatenate([x, y])
    kernel = np.exp(-((both[:, None] - both) ** 2).sum(axis=2) / 2)
    expected = kernel[:30, :30].mean() + kernel[30:, 30:].mean() - 2 * kernel[:30, 30:].mean()
    frequency = corpora.frequencies(4, 50000, 1.0, 0)
    sums = corpora.feature_sums(both[None], frequency, 30)
    value = corpora.mmd_of_sums(sums[0], np.array([30]), sums[1], np.array([20])).item()
    assert value == pytest.approx(expected, abs=0.01)


def test_median_distance():
    assert corpora.median_distance(np.array([[0.0], [1.0], [3.0]])) == 2.0
    assert corpora.median_distance(np.zeros((4, 2))) == 1.0
    assert corpora.median_distance(np.zeros((1, 2))) == 1.0


@pytest.mark.equal_bits
@pytest.mark.parametrize(("width", "number", "size"), [(384, 512, 15), (40, 70, 3), (900, 33, 20)])
def test_feature_sums_equal_one_product(width, number, size):
    rng = np.random.default_rng(2)
    vectors, frequency = rng.standard_normal((70, size, width)).astype(np.float32), rng.standard_normal((width, number))
    phase = vectors.astype(np.float64) @ frequency
    waves = np.concatenate([np.cos(phase), np.sin(phase)], axis=-1)
    first, second = corpora.feature_sums(vectors, frequency, 2)
    np.testing.assert_allclose(first, waves[:, :2].sum(axis=1), atol=1e-11)
    np.testing.assert_allclose(second, waves[:, 2:].sum(axis=1), atol=1e-11)
    alone = corpora.feature_sums(vectors[:1], frequency, 2)
    assert np.array_equal(alone[0], first[:1]) and np.array_equal(alone[1], second[:1])
