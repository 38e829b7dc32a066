"""``semantic-entropy`` and ``reference-coverage``: contract, values, parameters."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness_metrics.sets.meaning_metrics import ReferenceCoverage, SemanticEntropy

DISTANCE = {"bert": {"embedding": "bow"}}


@parametrize_with_checks(
    [
        SemanticEntropy(distance="bleu", threshold=0.8),
        ReferenceCoverage(distance=DISTANCE, threshold=0.5),
    ]
)
def test_contract(check):
    check()


def test_values():
    sets = [
        CaptionSet(
            "1",
            ("a dog", "a dog", "a red bus", "a dog"),
            ("a dog", "a dog", "food on plates"),
        ),
        CaptionSet(
            "2", ("x y", "u v", "p q", "m n"), ("a dog", "a red bus", "two cats")
        ),
    ]
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    entropy = SemanticEntropy(distance=DISTANCE, threshold=0.05).scores(
        batch, features, None
    )
    assert entropy[0] == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)))
    coverage = ReferenceCoverage(distance=DISTANCE, threshold=0.05)
    assert coverage.scores(batch, features, None) == pytest.approx([2 / 3, 0])
    assert coverage.signature() == "reference-coverage|0.05|cosine|bow|hashed:4096"


def test_a_threshold_is_not_negative():
    with pytest.raises(
        HarnessError,
        match="SemanticEntropy: threshold is -1; expected a number of at least 0",
    ):
        SemanticEntropy(distance=DISTANCE, threshold=-1)


def test_a_coverage_is_a_share():
    assert ReferenceCoverage(distance="rouge").spec.bounds == (0.0, 1.0)
