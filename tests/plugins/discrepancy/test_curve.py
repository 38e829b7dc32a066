"""The discrepancy of a corpus against noisy copies of its references."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness_metrics.crnrr.metric import Cr, Nrr
from harness_metrics.crnrr.words import Vocabulary, sentence_lengths, sides_of, words_of
from harness_metrics.discrepancy.bleu import CorpusBleu
from harness_metrics.discrepancy.curve import QualityDiscrepancy, largest_quality, point
from harness_metrics.discrepancy.qdisc import curve_discrepancy
from tests.support.ngram_values import corpus_bleu, cr_nrr_cnd, self_bleu

# --------------------------------------------------------------------------- quality and diversity
# Quality and diversity of corpora against the functions on tokens.


def split(texts):
    return [text.split() for text in texts]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_points_agree_with_the_functions_on_tokens(scene, n):
    candidates, references, features, batch = scene
    q, p = sides_of(CorpusBleu(tokenizer="none").stats(batch, features, None))
    expected = cr_nrr_cnd(split(candidates), split(references), n)
    assert point("CR-NRR", q, p, n) == pytest.approx(
        (expected.cr, expected.nrr), rel=1e-12
    )
    bleu = corpus_bleu(split(candidates), split(references), n)[-1]
    repetition = self_bleu(split(candidates), n)[-1]
    assert point("BLEU-NSBLEU", q, p, n) == pytest.approx(
        (bleu, -repetition), rel=1e-12
    )


def test_largest_quality(scene):
    _, references, features, batch = scene
    _, p = sides_of(CorpusBleu(tokenizer="none").stats(batch, features, None))
    every = [
        cr_nrr_cnd([sentence], split(references), 2).cr or 0.0
        for sentence in split(references)
    ]
    assert largest_quality("CR-NRR", p, 2) == pytest.approx(max(every))
    assert largest_quality("BLEU-NSBLEU", p, 2) == 1.0


def test_points_agree_with_the_metrics(scene):
    _, _, features, batch = scene
    stats = Cr(n=2, tokenizer="none").stats(batch, features, None)
    q, p = sides_of(stats)
    assert point("CR-NRR", q, p, 2) == pytest.approx(
        (Cr(n=2).reduce(stats), Nrr(n=2).reduce(stats)), rel=1e-12
    )


def test_corpora_without_ngrams_have_no_values():
    vocabulary = Vocabulary()
    q, p = (words_of([["a"], ["b"]], vocabulary) for _ in range(2))
    assert np.isnan(point("CR-NRR", q, p, 2)).all()
    assert np.isnan(largest_quality("CR-NRR", p, 2))
    assert sentence_lengths(q).tolist() == [1, 1]


def test_the_largest_quality_may_be_that_of_a_sentence_with_one_ngram():
    sentences = [["a", "b"], ["a", "b", "c", "d"], ["e"], []]
    # Shares: "a b" 2/4, "b c" and "c d" 1/4; the means of the sentences are 1/2 and
    # 1/3.
    assert largest_quality(
        "CR-NRR", words_of(sentences, Vocabulary()), 2
    ) == pytest.approx(0.5)


# --------------------------------------------------------------------------- curve


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
    assert np.isnan(
        metric.reduce(
            metric.stats(batch, features, metric.fit(features.references, features))
        )
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
