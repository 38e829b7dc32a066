"""Batches of half the size."""

from __future__ import annotations

import numpy as np

from harness.contracts import CaptionSet
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.halves import halve_batches


def test_halves_hold_the_same_examples_in_their_places():
    sets = [CaptionSet(str(k), ("a",) * (1 + k % 2), ("b",)) for k in range(7)]
    features = FeatureCache()
    parts: list = scoring.batches(sets, features)
    while True:
        places = np.concatenate([positions for positions, _ in parts])
        assert sorted(places.tolist()) == list(range(7))
        assert all(sets[p] == item for positions, batch in parts for p, item in zip(positions, batch.sets))
        smaller = halve_batches(parts, features)
        if smaller is None:
            break
        assert max(len(b) for _, b in smaller) < max(len(b) for _, b in parts)
        parts = smaller
    assert all(len(batch) == 1 for _, batch in parts)
