"""The discrepancy of a corpus against noisy copies of its references."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness_metrics.discrepancy.bleu import CorpusBleu
from harness_metrics.discrepancy.curve import QualityDiscrepancy
from harness_metrics.discrepancy.qdisc import curve_discrepancy
from harness_metrics.discrepancy.quality_diversity import point
from harness_metrics.words.captions import sides_of


@pytest.mark.parametrize("pair", ["CR-NRR", "BLEU-NSBLEU"])
def test_quantities_are_those_of_the_curve(scene, pair):
    _, _, features, batch = scene
    values = {}
    for show in ("qdisc", "drate", "self-ratio", "ref-ratio"):
        metric = QualityDiscrepancy(
            pair=pair,
            n=1,
            show=show,
            length="same",
            epsilons=[0, 0.5, 1],
            tokenizer="none",
        )
        curves = metric.fit(features.references, features)
        stats = metric.stats(batch, features, curves)
        values[show] = metric.reduce(stats)

    q, p = sides_of(CorpusBleu(tokenizer="none").stats(batch, features, None))
    corpus = point(pair, q, p, 1)
    expected = curve_discrepancy(
        curves.quality[0], curves.diversity[0], corpus.quality, corpus.diversity
    )

    assert values["qdisc"] == pytest.approx(expected.qdisc)
    assert values["drate"] == pytest.approx(expected.qdisc / curves.span)
    assert values["self-ratio"] == pytest.approx(expected.self_ratio)
    assert values["ref-ratio"] == pytest.approx(expected.ref_ratio)
    assert np.isnan(metric.per_example(stats)).all()


def test_the_larger_discrepancy_of_both_lengths_is_the_value(scene):
    _, _, features, batch = scene

    def value(length):
        metric = QualityDiscrepancy(
            pair="BLEU-NSBLEU", n=1, length=length, tokenizer="none"
        )
        return metric.reduce(
            metric.stats(batch, features, metric.fit(features.references, features))
        )

    kinds = [v for v in (value(5), value("same")) if not np.isnan(v)]
    # the noisy copies of a kind differ by their seeds
    assert value(None) == pytest.approx(max(kinds), abs=0.02)


def test_undefined_outside_the_curve(scene):
    _, references, features, _ = scene
    batch = features.batch(
        [CaptionSet(str(i), ("w1 w1 w1 w1",), (r,)) for i, r in enumerate(references)]
    )
    metric = QualityDiscrepancy(tokenizer="none")
    stats = metric.stats(batch, features, metric.fit(features.references, features))
    assert np.isnan(metric.reduce(stats))
    assert metric.undefined_reason(stats).startswith(
        "the texts are less diverse than every noisy copy of the references"
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"pair": "CR-NR"}, "did you mean 'CR-NRR'"),
        ({"show": "rate"}, "show is 'rate'; did you mean 'drate'"),
        ({"n": 0}, "n is 0"),
        ({"epsilons": [0.2, 0.1]}, "ascending shares"),
        ({"length": "long"}, "length is 'long'"),
    ],
)
def test_invalid_parameters(params, message):
    with pytest.raises(HarnessError, match=message) as caught:
        QualityDiscrepancy(**params)
    assert caught.value.parameter in params


def test_weights_repeat_examples(scene):
    _, _, features, batch = scene
    metric = QualityDiscrepancy(n=1, tokenizer="none")
    stats = metric.stats(batch, features, metric.fit(features.references, features))
    weights = np.ones((1, len(stats)))
    assert metric.reduce(stats, weights)[0] == pytest.approx(
        metric.reduce(stats), nan_ok=True
    )
    assert np.isnan(metric.reduce(stats[:0]))


def test_signature_holds_the_parameters():
    assert (
        QualityDiscrepancy().signature()
        == "qdisc|CR-NRR|n:2|eps:0/0.2/0.4/0.6|len:5/same|seed:0|tok:ptb"
    )
