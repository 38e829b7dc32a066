"""``corpus-frechet`` and ``corpus-mmd``: contract, values, intervals by weights."""

import numpy as np
import pytest
from scipy.linalg import sqrtm

from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness.testing.sample_captions import caption_sets
from harness_metrics.sets import corpus_metrics
from harness_metrics.sets.corpus_metrics import CorpusFrechet, CorpusMmd

# --------------------------------------------------------------------------- random features
# Random features: sums approximate the kernel and the MMD of the corpora.


def test_features_approximate_the_gaussian_kernel():
    x, y = np.random.default_rng(0).standard_normal((2, 3, 5))
    frequency = corpus_metrics.frequencies(5, 20000, 1.5, 0)
    first, second = corpus_metrics.feature_sums(np.stack([x, y], axis=1), frequency, 1)
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
    frequency = corpus_metrics.frequencies(4, 50000, 1.0, 0)
    sums = corpus_metrics.feature_sums(both[None], frequency, 30)
    value = corpus_metrics.mmd_of_sums(
        sums[0], np.array([30]), sums[1], np.array([20])
    ).item()
    assert value == pytest.approx(expected, abs=0.01)


def test_median_distance():
    assert corpus_metrics.median_distance(np.array([[0.0], [1.0], [3.0]])) == 2.0
    assert corpus_metrics.median_distance(np.zeros((4, 2))) == 1.0
    assert corpus_metrics.median_distance(np.zeros((1, 2))) == 1.0


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
    first, second = corpus_metrics.feature_sums(vectors, frequency, 2)
    np.testing.assert_allclose(first, waves[:, :2].sum(axis=1), atol=1e-11)
    np.testing.assert_allclose(second, waves[:, 2:].sum(axis=1), atol=1e-11)
    alone = corpus_metrics.feature_sums(vectors[:1], frequency, 2)
    assert np.array_equal(alone[0], first[:1]) and np.array_equal(alone[1], second[:1])


def test_features_of_counts_and_of_large_phases():
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.3, (5, 4, 30)).astype(np.float32)
    frequency = rng.standard_normal((30, 8))
    for scale in (1.0, 1e7):
        phase = counts.astype(np.float64) @ (scale * frequency)
        waves = np.concatenate([np.cos(phase), np.sin(phase)], axis=-1)
        first, second = corpus_metrics.feature_sums(counts, scale * frequency, 3)
        np.testing.assert_allclose(
            first, waves[:, :3].sum(axis=1), atol=1e-15 * scale + 1e-12
        )
        np.testing.assert_allclose(second, waves[:, 3], atol=1e-15 * scale + 1e-12)


# --------------------------------------------------------------------------- metrics


@parametrize_with_checks(
    [CorpusFrechet(embedding="bow"), CorpusMmd(embedding="bow", features=64)]
)
def test_contract(check):
    check()


def test_the_frechet_distance_of_corpora_by_covariances():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 3))
    y = rng.standard_normal((40, 3)) * [1, 2, 0.5] + 1
    a = np.cov(x.T)
    b = np.cov(y.T)
    expected = ((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(
        a + b - 2 * np.real(sqrtm(a @ b))
    )
    assert CorpusFrechet(embedding="bow").value(x, y) == pytest.approx(
        expected, abs=1e-9
    )


def test_weights_of_the_mmd_repeat_examples_and_a_width_may_be_set():
    sets = caption_sets(3, 3)
    features = FeatureCache([item.references for item in sets])
    metric = CorpusMmd(embedding="bow", sigma=2.0)
    stats = metric.stats(
        features.batch(sets), features, metric.fit(features.references, features)
    )
    weights = np.array([[2, 0, 1, 1, 3, 0]])
    repeated = metric.reduce(stats[np.repeat(np.arange(6), weights[0])])
    assert metric.reduce(stats, weights) == pytest.approx([repeated])
    assert metric.reduce(stats, weights / 7) == pytest.approx([repeated])
    assert metric.spec.name == "corpus-mmd(bow, sigma=2)"
    assert np.isnan(metric.reduce(stats[:0]))
    assert np.isnan(metric.per_example(stats)).all()


@pytest.mark.parametrize("params", [{"sigma": 0}, {"features": 0}, {"seed": -1}])
def test_parameters_out_of_range(params):
    with pytest.raises(HarnessError, match="CorpusMmd: .* expected"):
        CorpusMmd(embedding="bow", **params)
