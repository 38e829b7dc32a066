"""``vendi``, ``corpus-vendi``, ``self-cider``: contract, values, parameters."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness_metrics.ngram.cider import matrix
from harness_metrics.sets import spectrum
from harness_metrics.sets.spectrum_metrics import CorpusVendi, SelfCider, Vendi

SETS = [
    CaptionSet(
        "1",
        ("a dog runs fast", "a dog runs fast", "a dog runs fast"),
        ("a dog runs fast here",),
    ),
    CaptionSet(
        "2",
        ("a dog runs fast", "two red buses wait", "some food on plates"),
        ("a cat sits on mats",),
    ),
]


@parametrize_with_checks(
    [Vendi(embedding="bow"), CorpusVendi(embedding="bow", q=2), SelfCider()]
)
def test_contract(check):
    check()


def batch():
    features = FeatureCache([item.references for item in SETS])
    return features.batch(SETS), features


def test_equal_and_disjoint_captions():
    data, features = batch()
    letters = Vendi(embedding=Letters())
    values = letters.scores(data, features, None)
    assert values[0] == pytest.approx(1.0)
    assert 1.0 < values[1] < 3.0
    metric = SelfCider()
    values = metric.scores(data, features, metric.fit(features.references, features))
    assert values[0] == pytest.approx(0.0, abs=1e-6)


class Letters:
    """Embedding by counts of letters."""

    name = "letters"

    def signature(self):
        return "letters"

    def fit(self, references):
        pass

    def encode(self, texts):
        return np.array(
            [[text.count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for text in texts],
            dtype=np.float32,
        )


def test_self_cider_is_the_spread_of_plain_cider():
    assert SelfCider().spec.bounds == (0.0, 1.0)
    references = [["a dog runs fast"], ["two red buses wait"], ["some food on a plate"]]
    sets = [
        CaptionSet(
            "1",
            ("a dog runs here", "two dogs wait", "a dog runs fast on a plate"),
            ("a dog runs fast",),
        )
    ]
    features = FeatureCache(references)
    metric = SelfCider(tokenizer="none")
    value = metric.scores(
        features.batch(sets), features, metric.fit(references, features)
    ).item()
    kernel = matrix(
        sets[0].candidates, df=references, tokenizer="none", variant="plain"
    )
    assert value == pytest.approx(spectrum.singular_spread(kernel).item(), abs=1e-9)


def test_the_corpus_score_is_that_of_all_candidates():
    data, features = batch()
    metric = CorpusVendi(embedding=Letters())
    stats = metric.stats(data, features, None)
    vectors = features.vectors(Letters(), data.candidate_ids).reshape(6, -1)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert metric.reduce(stats) == pytest.approx(
        spectrum.vendi((unit @ unit.T).astype(float)), abs=1e-5
    )
    assert np.isnan(metric.value(np.zeros((2, 3)), np.zeros((0, 3))))


def test_an_order_must_be_a_number():
    assert Vendi(embedding="bow", q=float("inf")).spec.name == "vendi(bow, q=inf)"
    assert Vendi(embedding="bow", q="inf").q == float("inf")
    for q in (-1, "x", True):
        with pytest.raises(
            HarnessError, match="Vendi: q is .*; expected inf or a number of at least 0"
        ):
            Vendi(embedding="bow", q=q)
