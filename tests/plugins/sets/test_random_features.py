"""Random features: sums approximate the kernel and the MMD of the corpora."""

import numpy as np
import pytest

from harness_metrics.sets import random_features


def test_features_approximate_the_gaussian_kernel():
    x, y = np.random.default_rng(0).standard_normal((2, 3, 5))
    frequency = random_features.frequencies(5, 20000, 1.5, 0)
    first, second = random_features.feature_sums(np.stack([x, y], axis=1), frequency, 1)
    kernel = np.exp(-((x - y) ** 2).sum(axis=1) / (2 * 1.5**2))
    np.testing.assert_allclose((first * second).sum(axis=1) / 20000, kernel, atol=0.02)
    assert (first * first).sum(axis=1) / 20000 == pytest.approx(1.0)


def test_mmd_of_sums_is_the_biased_estimate():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((30, 4))
    y = rng.standard_normal((20, 4)) + 0.5
    both = np.concatenate([x, y])
    kernel = np.exp(-((both[:, None] - both) ** 2).sum(axis=2) / 2)
    expected = (
        kernel[:30, :30].mean() + kernel[30:, 30:].mean() - 2 * kernel[:30, 30:].mean()
    )
    frequency = random_features.frequencies(4, 50000, 1.0, 0)
    sums = random_features.feature_sums(both[None], frequency, 30)
    value = random_features.mmd_of_sums(
        sums[0], np.array([30]), sums[1], np.array([20])
    ).item()
    assert value == pytest.approx(expected, abs=0.01)


def test_median_distance():
    assert random_features.median_distance(np.array([[0.0], [1.0], [3.0]])) == 2.0
    assert random_features.median_distance(np.zeros((4, 2))) == 1.0
    assert random_features.median_distance(np.zeros((1, 2))) == 1.0


@pytest.mark.equal_bits
@pytest.mark.parametrize(
    ("width", "number", "size"), [(384, 512, 15), (40, 70, 3), (900, 33, 20)]
)
def test_feature_sums_equal_one_product(width, number, size):
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((70, size, width)).astype(np.float32)
    frequency = rng.standard_normal((width, number))
    phase = vectors.astype(np.float64) @ frequency
    waves = np.concatenate([np.cos(phase), np.sin(phase)], axis=-1)
    first, second = random_features.feature_sums(vectors, frequency, 2)
    np.testing.assert_allclose(first, waves[:, :2].sum(axis=1), atol=1e-11)
    np.testing.assert_allclose(second, waves[:, 2:].sum(axis=1), atol=1e-11)
    alone = random_features.feature_sums(vectors[:1], frequency, 2)
    assert np.array_equal(alone[0], first[:1]) and np.array_equal(alone[1], second[:1])


def test_features_of_counts_and_of_large_phases():
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.3, (5, 4, 30)).astype(np.float32)
    frequency = rng.standard_normal((30, 8))
    for scale in (1.0, 1e7):
        phase = counts.astype(np.float64) @ (scale * frequency)
        waves = np.concatenate([np.cos(phase), np.sin(phase)], axis=-1)
        first, second = random_features.feature_sums(counts, scale * frequency, 3)
        np.testing.assert_allclose(
            first, waves[:, :3].sum(axis=1), atol=1e-15 * scale + 1e-12
        )
        np.testing.assert_allclose(second, waves[:, 3], atol=1e-15 * scale + 1e-12)
