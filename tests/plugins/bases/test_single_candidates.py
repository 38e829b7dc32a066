"""Scores of candidates one by one."""

from __future__ import annotations

import pytest

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness.testing.sample_captions import caption_sets
from harness_metrics.bases.single_candidates import candidate_scores
from harness_metrics.ngram.cider import CiderD


def test_a_candidate_is_scored_as_a_set_of_one():
    sets = caption_sets(3, 2)
    features = FeatureCache([item.references for item in sets])
    metric = CiderD()
    state = metric.fit(features.references, features)
    found = candidate_scores(metric, features.batch(sets), features, state)
    assert found.shape == (3, len(sets))
    for k in range(3):
        alone = [CaptionSet(s.id, (s.candidates[k],), s.references) for s in sets]
        batch = features.batch(alone)
        expected = metric.per_example(metric.stats(batch, features, state))
        assert found[k] == pytest.approx(expected, abs=1e-12)
