"""Quality and diversity of corpora against the functions on tokens."""

import numpy as np
import pytest

from harness_metrics.crnrr.metric import Cr, Nrr
from harness_metrics.discrepancy.bleu import CorpusBleu
from harness_metrics.discrepancy.quality_diversity import largest_quality, point
from harness_metrics.words.captions import sides_of
from harness_metrics.words.grams import sentence_lengths, words_of
from harness_metrics.words.keys import Vocabulary
from tests.support.ngram_values import corpus_bleu, cr_nrr_cnd, self_bleu


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
