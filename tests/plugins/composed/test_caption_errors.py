"""Errors of fluency in a batch."""

from __future__ import annotations

import numpy as np

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.composed.caption_errors import caption_errors


class Counted:
    """Detector that counts the texts that it has seen."""

    def __init__(self):
        self.seen: list[str] = []

    def signature(self):
        return "counted"

    def probabilities(self, texts):
        self.seen += texts
        return np.array([len(text) / 10 for text in texts])


def test_each_distinct_text_is_looked_at_once_and_the_threshold_is_no_error():
    detector = Counted()
    features = FeatureCache()
    sets = [
        CaptionSet("1", ("a cat", "a dog runs"), ("a cat",)),
        CaptionSet("2", ("a cat", "a bird"), ("a cat",)),
    ]
    for _ in range(2):
        errors = caption_errors(detector, 0.5, features.batch(sets), features)
        assert errors.tolist() == [[False, True], [False, True]]
    assert sorted(detector.seen) == ["a bird", "a cat", "a dog runs"]
