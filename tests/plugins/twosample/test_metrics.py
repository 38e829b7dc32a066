"""``mmdagg`` and ``c2st``: contract, p-values, parameters."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats.significance import metric_p_values
from harness.testing import parametrize_with_checks
from harness_metrics.twosample.c2st import ClassifierTest
from harness_metrics.twosample.mmdagg import MmdAgg

DOGS = tuple(f"a dog {word}" for word in ("runs", "sits", "eats", "sleeps"))
BUSES = tuple(f"the red bus {word}" for word in ("stops", "waits", "turns", "leaves"))


@parametrize_with_checks(
    [MmdAgg(embedding="bow", bandwidths=3), ClassifierTest(embedding="bow")]
)
def test_contract(check):
    check()


@pytest.mark.parametrize(
    "metric", [MmdAgg(embedding="bow"), ClassifierTest(embedding="bow")]
)
def test_samples_apart_have_the_smallest_p_value(metric):
    sets = [
        CaptionSet("apart", DOGS, BUSES),
        CaptionSet("mixed", DOGS[:2] + BUSES[:2], DOGS[2:] + BUSES[2:]),
    ]
    features = FeatureCache([DOGS + BUSES] * 2)
    batch = features.batch(sets)
    scores = metric.scores(batch, features, None)
    exact = metric_p_values(metric, batch, features, None, scores)
    sampled = metric_p_values(
        metric, batch, features, None, scores, method="monte-carlo", draws=2000
    )
    assert exact.method == "exact"
    assert exact.values[0] == pytest.approx(2 / 70)
    assert exact.values[1] > 0.3
    assert np.abs(exact.values - sampled.values).max() < 0.05


def test_aggregated_p_values_are_valid_under_the_null():
    rng = np.random.default_rng(0)
    texts = [
        ["".join(rng.choice(list("abcd "), 12)) for _ in range(7)] for _ in range(60)
    ]
    sets = [
        CaptionSet(str(k), tuple(row[:3]), tuple(row[3:]))
        for k, row in enumerate(texts)
    ]
    features = FeatureCache(texts)
    metric = MmdAgg(embedding="bow", bandwidths=4)
    batch = features.batch(sets)
    scores = metric.scores(batch, features, None)
    p = metric_p_values(metric, batch, features, None, scores).values
    assert (p >= scores - 1e-12).all()  # the smallest of many p-values is too small
    assert (p <= 0.2).mean() <= 0.35


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: MmdAgg(embedding="bow", kernel="gauss"),
            "MmdAgg: kernel is 'gauss'; .*; did you mean 'gaussian'",
        ),
        (
            lambda: MmdAgg(embedding="bow", bandwidths=0),
            "MmdAgg: bandwidths is 0; expected a whole number of at least 1",
        ),
        (
            lambda: ClassifierTest(embedding="bow", ridge=0),
            "ClassifierTest: ridge is 0; expected a number of at least 1e-06",
        ),
    ],
)
def test_parameters_out_of_range(make, message):
    with pytest.raises(HarnessError, match=message):
        make()


def test_defaults_are_named_in_the_signature():
    aggregated = MmdAgg(embedding="bow").signature()
    classifier = ClassifierTest(embedding="bow").signature()
    assert aggregated.startswith("mmdagg|both|bandwidths:10|seed:0|bow")
    assert classifier.startswith("c2st|ridge:1|bow")
