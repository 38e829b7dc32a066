"""SPIDEr-FL with ROUGE-L in place of SPICE, which needs Java."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness_metrics.composed.spider import Spider
from harness_metrics.composed.spider_fl import SpiderFl


@parametrize_with_checks([SpiderFl(spice="rouge")])
def test_contract(check):
    check()


class Dogs:
    """Detector that objects to dogs."""

    def signature(self):
        return "dogs"

    def probabilities(self, texts):
        return np.array([0.95 if "dog" in text else 0.5 for text in texts])


SETS = [
    CaptionSet("1", ("a dog runs", "a cat sits"), ("a dog runs", "a dog on grass")),
    CaptionSet("2", ("two boats", "a cat"), ("two boats on a lake", "a cat sits")),
]


def scores(metric, sets, features):
    state = metric.fit(features.references, features)
    return metric.per_example(metric.stats(features.batch(sets), features, state))


def test_an_error_costs_its_share_of_the_spider_of_its_caption():
    features = FeatureCache([item.references for item in SETS])
    of_candidates = np.stack(
        [
            scores(
                Spider(spice="rouge"),
                [CaptionSet(s.id, (s.candidates[k],), s.references) for s in SETS],
                features,
            )
            for k in range(2)
        ]
    )
    metric = SpiderFl(spice="rouge", detector=Dogs(), penalty=0.75)
    first = (0.25 * of_candidates[0, 0] + of_candidates[1, 0]) / 2
    second = of_candidates[:, 1].mean()
    assert scores(metric, SETS, features) == pytest.approx([first, second], abs=1e-12)

    state = metric.fit(features.references, features)
    stats = metric.stats(features.batch(SETS), features, state)
    assert metric.details(stats) == {
        "spider": pytest.approx(of_candidates.mean()),
        "errors": 0.25,
    }
    assert metric.details(stats[:0]) == {}


def test_without_errors_it_is_spider():
    features = FeatureCache([item.references for item in SETS])
    fluent = SpiderFl(spice="rouge", detector=Dogs(), threshold=1.0)
    expected = scores(Spider(spice="rouge"), SETS, features)
    assert scores(fluent, SETS, features) == pytest.approx(expected, abs=1e-12)


def test_the_signature_names_the_detector_and_both_metrics():
    assert SpiderFl(spice="rouge").signature() == (
        "spider-fl|rules|threshold:0.9|penalty:0.9|spider|"
        "cider-d|df:task|tok:ptb|rouge-l|beta:1.2|tok:ptb"
    )
    spec = SpiderFl(spice="rouge").spec
    assert (spec.name, spec.bounds) == ("spider-fl", (0.0, 5.5))


def test_bad_parameters(tmp_path):
    with pytest.raises(
        HarnessError, match="SpiderFl: penalty is 2; expected a number from 0 to 1"
    ):
        SpiderFl(spice="rouge", penalty=2)
    with pytest.raises(InputError, match="the detector of 'spider-fl'"):
        SpiderFl(spice="rouge", detector=str(tmp_path))
    with pytest.raises(
        HarnessError, match="spider-fl: detector is 3; expected 'rules'"
    ):
        SpiderFl(spice="rouge", detector=3)  # type: ignore[arg-type]
    with pytest.raises(HarnessError, match="is no score of captions"):
        SpiderFl(spice="trm")
