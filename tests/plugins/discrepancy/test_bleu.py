"""Corpus BLEU as a metric."""

import numpy as np
import pytest

from harness.errors import HarnessError
from harness_metrics.discrepancy.bleu import CorpusBleu
from tests.support.ngram_values import corpus_bleu


def split(texts):
    return [text.split() for text in texts]


def test_values_are_those_of_the_function(scene):
    candidates, references, features, batch = scene
    metric = CorpusBleu(n=2, tokenizer="none")
    stats = metric.stats(batch, features, None)
    assert (
        metric.reduce(stats) == corpus_bleu(split(candidates), split(references), 2)[-1]
    )
    each = corpus_bleu(split(candidates)[:1], split(references), 2)[-1]
    assert metric.per_example(stats)[0] == pytest.approx(each)
    weights = np.ones((1, len(stats)))
    assert metric.reduce(stats, weights)[0] == metric.reduce(stats)


def test_weights_repeat_examples(scene):
    candidates, references, features, batch = scene
    metric = CorpusBleu(n=1, tokenizer="none")
    stats = metric.stats(batch, features, None)
    weights = np.zeros((1, len(stats)))
    weights[0, :3] = (2, 0, 1)
    texts = (
        [candidates[0], candidates[0], candidates[2]],
        [references[0], references[0], references[2]],
    )
    assert (
        metric.reduce(stats, weights)[0]
        == corpus_bleu(split(texts[0]), split(texts[1]), 1)[-1]
    )
    assert np.isnan(metric.reduce(stats[:0]))


def test_signature_and_invalid_order():
    assert CorpusBleu(n=2).signature() == "corpus-bleu|n:2|tok:ptb"
    with pytest.raises(
        HarnessError, match="CorpusBleu: n is 0; expected a whole number of at least 1"
    ) as caught:
        CorpusBleu(n=0)
    assert caught.value.parameter == "n"


def test_the_default_order_is_four():
    assert CorpusBleu().signature() == "corpus-bleu|n:4|tok:ptb"
    assert CorpusBleu().spec.name == "corpus-bleu4"
