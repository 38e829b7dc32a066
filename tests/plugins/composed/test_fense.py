"""``fense``: contract, penalty, details, detectors."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness_metrics.composed.fense import Fense


@pytest.mark.slow
@parametrize_with_checks([Fense(embedding="bow")])
def test_contract(check):
    check()


class Dogs:
    """Detector that objects to dogs."""

    def signature(self):
        return "dogs"

    def probabilities(self, texts):
        return np.array([0.95 if "dog" in text else 0.5 for text in texts])


def test_an_error_costs_its_share_of_the_similarity():
    sets = [
        CaptionSet("1", ("a dog", "a cat"), ("a dog", "a cat")),
        CaptionSet("2", ("a cat", "a cat"), ("a dog", "a cat")),
    ]
    features = FeatureCache([item.references for item in sets])
    metric = Fense(embedding="bow", detector=Dogs(), penalty=0.5)
    stats = metric.stats(features.batch(sets), features, None)
    assert metric.per_example(stats) == pytest.approx([(0.75 * 0.5 + 0.75) / 2, 0.75])
    assert metric.details(stats) == {"similarity": pytest.approx(0.75), "errors": 0.25}
    assert metric.details(stats[:0]) == {}
    assert metric.signature() == "fense|dogs|threshold:0.9|penalty:0.5|bow|hashed:4096"


def test_parameters_out_of_range():
    with pytest.raises(
        HarnessError, match="Fense: penalty is 2; expected a number from 0 to 1"
    ):
        Fense(embedding="bow", penalty=2)
