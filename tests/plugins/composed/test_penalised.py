"""Penalty for errors of fluency, beside scores that are given."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.composed.fluency import Rules
from harness_metrics.composed.penalised import PenalisedMetric


class Half(PenalisedMetric):
    """Each caption has the score 0.5."""

    unpenalised = "half"
    detector = Rules()
    threshold = 0.9
    penalty = 0.8

    def caption_scores(self, batch, features, state):
        return np.full((len(batch), batch.n), 0.5)


def test_an_error_costs_its_share_of_the_score():
    features = FeatureCache()
    sets = [CaptionSet("1", ("a dog runs", "a dog on the"), ("a dog",))]
    stats = Half().stats(features.batch(sets), features, None)
    assert stats.tolist() == [[pytest.approx(0.3), 0.5, 0.5]]
    assert Half().details(stats) == {"half": 0.5, "errors": 0.5}
    assert Half().details(stats[:0]) == {}


def test_the_signature_has_the_settings():
    assert Half().penalty_signature() == "rules|threshold:0.9|penalty:0.8"
