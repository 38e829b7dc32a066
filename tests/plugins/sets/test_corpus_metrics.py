"""``corpus-frechet`` and ``corpus-mmd``: contract, values, intervals by weights."""

import numpy as np
import pytest
from scipy.linalg import sqrtm

from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness.testing.sample_captions import caption_sets
from harness_metrics.sets.corpus_metrics import CorpusFrechet, CorpusMmd


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
