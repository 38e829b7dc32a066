"""``mbleu``, ``compression-ratio``, ``ms-jaccard``: contract,
sacrebleu's values, weights.
."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness.testing.sample_captions import caption_sets
from harness_metrics.sets.redundancy_metrics import CompressionRatio, MBleu, MsJaccard


@pytest.mark.slow
@parametrize_with_checks([MBleu(), MBleu(n=2), CompressionRatio(), MsJaccard(n=2)])
def test_contract(check):
    check()


def numbers(metric, sets):
    features = FeatureCache([item.references for item in sets])
    return metric.stats(features.batch(sets), features, None)


def test_mbleu_is_the_corpus_bleu_of_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu")
    sets = [
        replace(item, candidates=(*item.candidates, f"{item.candidates[0]} again"))
        for item in caption_sets(4, 3)
    ]
    metric = MBleu(tokenizer="none")
    hypotheses = [text for item in sets for text in item.candidates]
    others = [
        [t for j, t in enumerate(item.candidates) if j != k]
        for item in sets
        for k in range(5)
    ]
    expected = sacrebleu.corpus_bleu(
        hypotheses, list(zip(*others)), tokenize="none", smooth_method="none"
    )
    assert metric.reduce(numbers(metric, sets)) == pytest.approx(
        expected.score / 100, abs=1e-9
    )


def test_copies_have_the_largest_mbleu():
    sets = [CaptionSet("1", ("a red dog runs",) * 3, ("x",))]
    metric = MBleu()
    stats = numbers(metric, sets)
    assert metric.reduce(stats) == pytest.approx(1.0, abs=1e-8)
    assert metric.per_example(stats) == pytest.approx([1.0], abs=1e-8)


def test_compression_of_a_corpus_and_of_an_example():
    sets = [
        CaptionSet("1", ("b  b", "a"), ("x",)),
        CaptionSet("2", ("", "ü\nc"), ("x",)),
    ]
    metric = CompressionRatio()
    stats = numbers(metric, sets)
    whole = "a\nb b\nü c".encode()
    assert metric.reduce(stats) == len(whole) / len(gzip.compress(whole, mtime=0))
    assert metric.per_example(stats)[0] == 5 / len(gzip.compress(b"a\nb b", mtime=0))


def test_ms_jaccard_of_equal_and_disjoint_corpora():
    sets = [
        CaptionSet("1", ("a b c", "d e f"), ("a b c", "d e f")),
        CaptionSet("2", ("g h i", "j k l"), ("x y z", "u v w")),
    ]
    metric = MsJaccard(n=2, tokenizer="none")
    stats = numbers(metric, sets)
    assert metric.per_example(stats) == pytest.approx([1.0, 0.0])
    assert metric.reduce(stats) == pytest.approx(1 / 3)
    assert metric.reduce(stats, np.array([[1, 0], [2, 2]])) == pytest.approx(
        [1.0, 1 / 3]
    )


def test_orders():
    for cls, n in ((MBleu, 5), (MsJaccard, 0)):
        with pytest.raises(HarnessError, match="n is"):
            cls(n=n)
