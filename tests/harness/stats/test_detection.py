"""Average precision and AUC equal scikit-learn's, with ties and weights."""

import numpy as np
import pytest

from harness.stats.detection import Detection

metrics = pytest.importorskip("sklearn.metrics")


@pytest.mark.parametrize("levels", [3, 8, 10_000])
def test_measures_with_ties_and_repeated_rows(levels):
    rng = np.random.default_rng(levels)
    scores, positive = rng.integers(0, levels, 90) / 7, rng.random(90) < 0.3
    weights = rng.multinomial(90, np.full(90, 1 / 90), 5).astype(float)
    weights[0] = 1
    for measure, oracle in (("average_precision", metrics.average_precision_score), ("auc", metrics.roc_auc_score)):
        expected = [oracle(np.repeat(positive, w.astype(int)), np.repeat(scores, w.astype(int))) for w in weights]
        np.testing.assert_allclose(Detection(scores, positive, measure)(weights), expected, atol=1e-12)


def test_one_class_is_undefined():
    assert np.isnan(Detection(np.arange(3.0), np.ones(3, dtype=bool), "auc")(np.ones((1, 3)))).all()


def test_a_metric_that_ties_everything():
    label = np.array([True, False, False, False])
    assert Detection(np.ones(4), label, "auc")(np.ones((1, 4)))[0] == 0.5
    assert Detection(np.ones(4), label, "average_precision")(np.ones((1, 4)))[0] == 0.25
