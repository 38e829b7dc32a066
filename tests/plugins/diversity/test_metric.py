"""The diversity metrics against their definitions."""

import gzip
import math

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet, Metric
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache
from harness_metrics.diversity.metric import (
    Distinct,
    Novelty,
    PairwiseBleu,
    SelfBleu,
    VocabularySize,
)
from tests.support.ngram_values import self_bleu

# --------------------------------------------------------------------------- length and entropy
# Length and entropy of captions.


def test_length_counts_the_words_of_candidates():
    result = harness.metric("caption-length", tokenizer="none")(
        [["a b c", "a"], ["a b", "a b"]], [["x"], ["x"]]
    )
    assert result.value == 2.0
    np.testing.assert_array_equal(result.per_example, [2.0, 2.0])


def test_entropy_in_bits():
    value = harness.metric("entropy", tokenizer="none")
    assert value([["a b"], ["c d"]], [["x"], ["x"]]).value == 2.0
    assert value([["a a"], ["a a"]], [["x"], ["x"]]).value == 0.0
    pairs = harness.metric("entropy", n=2, tokenizer="none")(
        [["a b c"], ["a b"]], [["x"], ["x"]]
    ).value
    assert pairs == pytest.approx(
        -(2 / 3) * math.log2(2 / 3) - (1 / 3) * math.log2(1 / 3)
    )
    assert math.isnan(
        harness.metric("entropy", n=2, tokenizer="none")([["a"]], [["x"]]).value
    )


def test_an_order_below_1():
    with pytest.raises(HarnessError, match="'entropy': n is 0"):
        harness.metric("entropy", n=0)


# ---------------------------------------------------------------------------

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


def test_all_are_metrics():
    for metric in (SelfBleu(), Distinct(), VocabularySize(), PairwiseBleu(), Novelty()):
        assert isinstance(metric, Metric)


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


def test_distinct_and_vocabulary():
    metric = Distinct(n=1, tokenizer="none")
    assert metric.reduce(run(metric)) == pytest.approx(7 / 14)
    assert metric.per_example(run(metric)).tolist() == pytest.approx(
        [3 / 5, 5 / 7, 1.0]
    )
    assert np.isnan(
        Distinct(n=9, tokenizer="none").reduce(run(Distinct(n=9, tokenizer="none")))
    )
    words = VocabularySize(tokenizer="none")
    assert (words.reduce(run(words)), words.per_example(run(words)).tolist()) == (
        7.0,
        [3.0, 5.0, 2.0],
    )


def test_pairwise_bleu():
    metric = PairwiseBleu(n=1, tokenizer="none")
    forth = 2 / 3
    back = np.exp(1 - 3 / 2)
    assert metric.per_example(run(metric))[0] == pytest.approx(
        (forth + back) / 2, rel=1e-6
    )
    same = [CaptionSet("1", ("a dog", "a dog", "a dog"), ("x",))]
    assert metric.reduce(run(metric, same)) == pytest.approx(1.0)


def test_novelty(tmp_path):
    metric = Novelty(tokenizer="none")
    assert metric.per_example(run(metric)).tolist() == [0.5, 1.0, 0.5]
    (tmp_path / "train.txt").write_text("a dog runs\nthe the the\n")
    metric = Novelty(corpus=str(tmp_path / "train.txt"), tokenizer="none")
    assert metric.per_example(run(metric)).tolist() == [0.5, 0.5, 1.0]
    with pytest.raises(InputError, match="no such file of texts") as caught:
        Novelty(corpus=str(tmp_path / "none.txt"))
    assert caught.value.parameter == "corpus"


def test_invalid_orders():
    for create in (
        lambda: SelfBleu(n=0),
        lambda: Distinct(n=1.5),
        lambda: PairwiseBleu(n=5),
    ):  # type: ignore[arg-type]
        with pytest.raises(
            HarnessError, match="expected a whole number (of at least 1|from 1 to 4)"
        ) as caught:
            create()
        assert caught.value.parameter == "n"


def test_signatures_hold_the_parameters(tmp_path):
    assert SelfBleu(n=2, negative=True).signature() == "nsbleu|n:2|pooled|tok:ptb"
    assert SelfBleu(conditional=True).signature() == "self-bleu|n:4|per-example|tok:ptb"
    assert Distinct().signature() == "distinct|n:2|tok:ptb"
    assert VocabularySize().signature() == "vocabulary|tok:ptb"
    assert PairwiseBleu().signature() == "pairwise-bleu|n:4|smooth:add-one|tok:ptb"
    assert Novelty().signature() == "novelty|corpus:references|tok:ptb"
    (tmp_path / "train.txt").write_text("a dog\n")
    assert (
        Novelty(corpus=str(tmp_path / "train.txt")).signature()
        == "novelty|corpus:c7929c8af322|tok:ptb"
    )


def test_gzipped_corpus_of_novelty(tmp_path):
    (tmp_path / "train.gz").write_bytes(gzip.compress(b"a dog runs\n\nthe the the\n"))
    metric = Novelty(corpus=str(tmp_path / "train.gz"), tokenizer="none")
    assert metric.per_example(run(metric)).tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    "metric",
    [
        Distinct(n=2, tokenizer="none"),
        Distinct(n=1, tokenizer="none"),
        VocabularySize(tokenizer="none"),
    ],
)
def test_weighted_types_are_those_of_repeated_rows(metric):
    stats = run(metric)
    weights = np.array(
        [[1, 1, 1], [2, 0, 1], [0, 1, 0], [0, 0, 3], [1, 0, 0]], dtype=float
    )
    expected = [
        metric.reduce(stats[np.repeat(np.arange(3), row.astype(int))])
        for row in weights
    ]
    np.testing.assert_array_equal(metric.reduce(stats, weights), expected)


def test_types_without_tokens_are_undefined():
    metric = Distinct(n=9, tokenizer="none")
    assert np.isnan(metric.reduce(run(metric), np.ones((2, 3)))).all()


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
