"""Corpus BLEU and the discrepancy of a corpus against noisy copies of its references."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.plugins.crnrr.metric import Cr, Nrr
from harness.plugins.crnrr.ngrams import cr_nrr_cnd
from harness.plugins.discrepancy.bleu import CorpusBleu
from harness.plugins.discrepancy.corpora import Corpus, largest_quality, point, sides
from harness.plugins.discrepancy.curve import QualityDiscrepancy
from harness.plugins.discrepancy.frontier import curve_discrepancy
from harness.plugins.diversity.corpus_bleu import corpus_bleu, self_bleu
from harness.run.features import FeatureCache


def corpus(rng, count, words=12):
    return [" ".join(f"w{int(x)}" for x in rng.zipf(1.7, rng.integers(3, 9)) % words) for _ in range(count)]


@pytest.fixture
def scene():
    rng = np.random.default_rng(5)
    candidates, references = corpus(rng, 60), corpus(rng, 60)
    features = FeatureCache([(text,) for text in references])
    batch = features.batch([CaptionSet(str(i), (c,), (r,)) for i, (c, r) in enumerate(zip(candidates, references))])
    return candidates, references, features, batch


def split(texts):
    return [text.split() for text in texts]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_points_agree_with_the_functions_on_tokens(scene, n):
    candidates, references, features, batch = scene
    q, p = sides(CorpusBleu(tokenizer="none").stats(batch, features, None))
    found = cr_nrr_cnd(split(candidates), split(references), n)
    assert point("CR-NRR", q, p, n) == pytest.approx((found.cr, found.nrr), rel=1e-12)
    bleu, own = corpus_bleu(split(candidates), split(references), n)[-1], self_bleu(split(candidates), n)[-1]
    assert point("BLEU-NSBLEU", q, p, n) == pytest.approx((bleu, -own), rel=1e-12)


def test_corpus_bleu_metric_is_the_function(scene):
    candidates, references, features, batch = scene
    metric = CorpusBleu(n=2, tokenizer="none")
    stats = metric.stats(batch, features, None)
    assert metric.reduce(stats) == corpus_bleu(split(candidates), split(references), 2)[-1]
    each = corpus_bleu(split(candidates)[:1], split(references), 2)[-1]
    assert metric.per_example(stats)[0] == pytest.approx(each)
    weights = np.ones((1, len(stats)))
    assert metric.reduce(stats, weights)[0] == metric.reduce(stats)


def test_largest_cr_is_that_of_the_best_single_reference(scene):
    _, references, features, batch = scene
    _, p = sides(CorpusBleu(tokenizer="none").stats(batch, features, None))
    every = [cr_nrr_cnd([own], split(references), 2).cr for own in split(references)]
    assert largest_quality("CR-NRR", p, 2) == pytest.approx(max(every))
    assert largest_quality("BLEU-NSBLEU", p, 2) == 1.0
    assert isinstance(p, Corpus)


@pytest.mark.parametrize("pair", ["CR-NRR", "BLEU-NSBLEU"])
def test_quantities_follow_from_the_curve(scene, pair):
    _, _, features, batch = scene
    shown = {}
    for show in ("qdisc", "drate", "self-ratio", "ref-ratio"):
        metric = QualityDiscrepancy(pair=pair, n=1, show=show, length="same", epsilons=[0, 0.5, 1], tokenizer="none")
        curves = metric.fit(features.references, features)
        stats = metric.stats(batch, features, curves)
        shown[show] = metric.reduce(stats)
    q, p = sides(CorpusBleu(tokenizer="none").stats(batch, features, None))
    here = point(pair, q, p, 1)
    expected = curve_discrepancy(curves.quality[0], curves.diversity[0], here.quality, here.diversity)
    assert shown["qdisc"] == pytest.approx(expected.qdisc)
    assert shown["drate"] == pytest.approx(expected.qdisc / curves.span)
    assert shown["self-ratio"] == pytest.approx(expected.self_ratio)
    assert shown["ref-ratio"] == pytest.approx(expected.ref_ratio)
    assert np.isnan(metric.per_example(stats)).all()


def test_the_worse_kind_of_noise_is_shown(scene):
    _, _, features, batch = scene

    def value(length):
        metric = QualityDiscrepancy(pair="BLEU-NSBLEU", n=1, length=length, tokenizer="none")
        return metric.reduce(metric.stats(batch, features, metric.fit(features.references, features)))

    kinds = [v for v in (value(5), value("same")) if not np.isnan(v)]
    assert value(None) == pytest.approx(max(kinds), abs=0.02)  # the noisy copies of a kind differ by their seeds


def test_undefined_outside_the_curve(scene):
    _, references, features, _ = scene
    batch = features.batch([CaptionSet(str(i), ("w1 w1 w1 w1",), (r,)) for i, r in enumerate(references)])
    metric = QualityDiscrepancy(tokenizer="none")
    assert np.isnan(metric.reduce(metric.stats(batch, features, metric.fit(features.references, features))))


def test_the_metrics_share_their_numbers(scene):
    _, _, features, batch = scene
    stats = Cr(n=2, tokenizer="none").stats(batch, features, None)
    q, p = sides(stats)
    assert point("CR-NRR", q, p, 2) == pytest.approx((Cr(n=2).reduce(stats), Nrr(n=2).reduce(stats)), rel=1e-12)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"pair": "CR-NR"}, "did you mean 'CR-NRR'"),
        ({"show": "rate"}, "no quantity to show 'rate'"),
        ({"n": 0}, "n is 0"),
        ({"epsilons": [0.2, 0.1]}, "ascending shares"),
        ({"length": "long"}, "length is 'long'"),
    ],
)
def test_mistakes(params, message):
    with pytest.raises(HarnessError, match=message):
        QualityDiscrepancy(**params)
