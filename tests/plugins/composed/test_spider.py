"""SPIDEr and SPIDEr-max with ROUGE-L in place of SPICE, which needs Java."""

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness.testing.sample_captions import caption_sets
from harness_metrics.composed.spider import Spider, SpiderMax
from harness_metrics.ngram.cider import CiderD
from harness_metrics.ngram.rouge import Rouge


@parametrize_with_checks([Spider(spice="rouge"), SpiderMax(spice="rouge")])
def test_contract(check):
    check()


def test_the_mean_of_both_and_the_best_candidate():
    sets = caption_sets(3, 3)
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)

    def scores(metric, batch=batch):
        return metric.per_example(
            metric.stats(batch, features, metric.fit(features.references, features))
        )

    metric = Spider(spice="rouge")
    parts = [scores(part) for part in (CiderD(), Rouge())]
    assert scores(metric) == pytest.approx((parts[0] + parts[1]) / 2)
    stats = metric.stats(batch, features, metric.fit(features.references, features))
    assert metric.details(stats) == {
        "ciderd": pytest.approx(parts[0].mean()),
        "rouge": pytest.approx(parts[1].mean()),
    }
    assert metric.details(stats[:0]) == {}
    single = [scores(metric, features.sub_batch(batch, 1, 3))]
    assert (
        scores(SpiderMax(spice="rouge")) >= np.stack(single).max(axis=0) - 1e-12
    ).all()
    assert metric.spec.bounds == (0.0, 5.5)


def test_both_are_scores_of_captions():
    with pytest.raises(
        HarnessError,
        match=r"spider: 'trm\(meteor\)' is no score of captions for which higher is "
        r"better",
    ):
        Spider(spice="trm")
