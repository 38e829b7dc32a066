"""Caption metrics over texts of events, summed over a corpus."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness_metrics.dense.corpus_captions import CorpusCaptions
from harness_metrics.dense.metric import Dense
from harness_metrics.ngram.rouge import Rouge


def test_words_are_taken_by_their_blanks():
    captions = CorpusCaptions(Rouge(), "paragraph")
    features = FeatureCache([["a dog"]])
    # the tokeniser of COCO would drop the mark and the case
    (score,) = captions.scores(["A dog ."], [["a dog"]], features, None)
    assert 0 < score < 1
    (equal,) = captions.scores(["A dog ."], [["A dog ."]], features, None)
    assert equal == 1.0


def test_texts_with_unequal_numbers_of_references_keep_their_order():
    captions = CorpusCaptions(Rouge(), "paragraph")
    features = FeatureCache([["a dog"]])
    texts = ["a dog", "rain", "a cat sits", "a red car"]
    references = [["a dog"], ["a", "b"], ["a cat"], ["x", "a red car"]]
    together = captions.scores(texts, references, features, None)
    alone = [
        captions.scores([text], [own], features, None)[0]
        for text, own in zip(texts, references)
    ]
    assert together.tolist() == pytest.approx(alone)
    sums = captions.sums(texts, references, features, None)
    assert len(sums) == 4
    assert captions.metric.of_sums(sums.sum(axis=0)) == pytest.approx(together.mean())
    assert captions.sums([], [], features, None).shape == (0, 1)


def test_a_metric_without_sums_is_refused():
    with pytest.raises(HarnessError, match="paragraph sums scores over a corpus"):
        CorpusCaptions(Dense(protocol="densecap"), "paragraph")
