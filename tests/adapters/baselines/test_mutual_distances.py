"""Sums of the distances among the captions of a set."""

from __future__ import annotations

import numpy as np
import pytest

from harness.run.features import FeatureCache
from harness_models.baselines import mutual_distances
from harness_models.baselines.mutual_distances import sum_distances


class MissingLetters:
    """Distance by the number of letters of the hypothesis that the reference lacks."""

    name = "letters"

    def signature(self):
        return "letters"

    def matrices(self, batch, features):
        return np.array(
            [
                [[float(len(set(h) - set(r))) for r in texts] for h in texts]
                for texts in batch.texts
            ]
        )


@pytest.mark.parametrize("size", [1, 512])
def test_sets_of_any_size_keep_their_order(monkeypatch, size):
    monkeypatch.setattr(mutual_distances, "BATCH", size)
    sets = [("ab", "a", "abc"), ("a",), ("ab", "cd"), ("a", "b", "c")]
    sums = sum_distances(sets, MissingLetters(), FeatureCache([("a",)]))
    assert [row.tolist() for row in sums] == [[1, 0, 3], [0], [2, 2], [2, 2, 2]]
