"""Self-BLEU, pooled and per example."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.diversity.self_bleu import SelfBleu
from tests.support.ngram_values import self_bleu

SETS = [
    CaptionSet("1", ("a dog runs", "a dog"), ("a dog runs fast", "dog")),
    CaptionSet("2", ("a cat sits here", "the the the"), ("a cat", "a dog")),
    CaptionSet("3", ("", "a dog"), ("x", "y")),
]
TEXTS = [text.split() for item in SETS for text in item.candidates]


def run(metric, items=SETS):
    features = FeatureCache([item.references for item in items])
    batch = features.batch(items)
    return metric.stats(batch, features, metric.fit(features.references, features))


def test_self_bleu_is_pooled_or_per_example():
    metric = SelfBleu(n=2, tokenizer="none")
    assert metric.reduce(run(metric)) == pytest.approx(
        self_bleu(TEXTS, 2)[1], abs=1e-15
    )
    pairs = [self_bleu(TEXTS[k : k + 2], 2)[1] for k in (0, 2, 4)]
    conditional = SelfBleu(n=2, conditional=True, tokenizer="none")
    np.testing.assert_allclose(conditional.per_example(run(conditional)), pairs)
    assert conditional.reduce(run(conditional)) == pytest.approx(np.mean(pairs))
    assert conditional.reduce(run(conditional), np.array([[1, 0, 2]]))[
        0
    ] == pytest.approx((pairs[0] + 2 * pairs[2]) / 3)
    negative = SelfBleu(n=2, negative=True, tokenizer="none")
    assert negative.reduce(run(negative)) == -metric.reduce(run(metric))
    assert (metric.spec.higher_is_better, negative.spec.higher_is_better) == (
        False,
        True,
    )
    assert (metric.spec.bounds, negative.spec.bounds) == ((0.0, 1.0), (-1.0, 0.0))
    weighted = metric.reduce(run(metric), np.array([[1, 2, 1]]))[0]
    assert weighted == pytest.approx(self_bleu([*TEXTS, *TEXTS[2:4]], 2)[1], abs=1e-15)


def test_the_name_says_sign_order_and_use():
    names = [
        SelfBleu(n=n, negative=negative, conditional=each).spec.name
        for n, negative, each in (
            (2, False, False),
            (2, True, False),
            (3, False, True),
            (3, True, True),
        )
    ]
    assert names == [
        "self-bleu2",
        "nsbleu2",
        "self-bleu3 conditional",
        "nsbleu3 conditional",
    ]
