"""chrF and TER."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet
from harness.run.features import FeatureCache

pytest.importorskip("sacrebleu")
CAPTIONS = {
    "a dog runs on the grass": [
        "a dog running on grass",
        "the brown dog plays",
        "a dog in the park",
    ],
    "two men": [
        "two men sit on a bench and talk",
        "men talking on a wooden bench",
        "two people sit down",
    ],
    "a red bus drives down a street in a city": [
        "a bus on a street",
        "the red bus",
        "a double decker bus drives",
    ],
}


def test_equal_and_disjoint_texts():
    chrf = harness.metric("chrf")
    ter = harness.metric("ter")
    same = [["a dog runs on the grass"]]
    assert chrf(same, [["a dog runs on the grass", "x"]]).value == pytest.approx(1.0)
    assert ter(same, [["a dog runs on the grass", "a"]]).value == 0.0
    assert chrf([["zzz"]], same).value == 0.0
    assert ter([["q w e r t z"]], same).value == 1.0


def test_a_score_is_the_mean_of_the_librarys_over_candidates():
    import sacrebleu

    candidates = [["a dog", "the cat sat down"]]
    references = [["a dog runs", "the cat sat"]]
    chrf = [sacrebleu.sentence_chrf(c, references[0]).score for c in candidates[0]]
    ter = [sacrebleu.sentence_ter(c, references[0]).score for c in candidates[0]]
    for level in ("corpus", "sentence"):
        assert harness.metric("chrf", level=level)(
            candidates, references
        ).per_example.tolist() == [np.mean(chrf) / 100]
        assert harness.metric("ter", level=level)(
            candidates, references
        ).per_example.tolist() == [np.mean(ter) / 100]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("chrf", {}),
        ("chrf", {"word_order": 2}),
        ("ter", {}),
        ("ter", {"normalized": True}),
    ],
)
@pytest.mark.parametrize("n_references", [1, 3])
def test_the_number_of_a_corpus_is_the_librarys_to_the_bit(
    name, parameters, n_references
):
    import sacrebleu

    references = [texts[:n_references] for texts in CAPTIONS.values()]
    scorer = getattr(sacrebleu, name.upper())(**parameters)
    theirs = (
        scorer.corpus_score(
            list(CAPTIONS), [list(texts) for texts in zip(*references)]
        ).score
        / 100
    )
    candidates = [[text] for text in CAPTIONS]
    assert harness.metric(name, **parameters)(candidates, references).value == theirs
    result = harness.metric(name, **parameters, level="sentence")(
        candidates, references
    )
    sentences = [
        scorer.sentence_score(text, own).score
        for text, own in zip(CAPTIONS, references)
    ]
    assert result.value == np.mean([score / 100 for score in sentences]) != theirs


@pytest.mark.parametrize("level", ["corpus", "sentence"])
@pytest.mark.parametrize("name", ["chrf", "ter"])
def test_sums_and_weights_give_the_number(name, level):
    metric = harness.metric(name, level=level).plan.metric
    features = FeatureCache([])
    stats = metric.stats(
        features.batch([CaptionSet(t, (t,), tuple(r)) for t, r in CAPTIONS.items()]),
        features,
        None,
    )
    assert metric.of_sums(metric.summands(stats).sum(axis=0)) == pytest.approx(
        metric.reduce(stats)
    )
    twice = metric.reduce(stats, np.array([[2.0, 0.0, 1.0]]))[0]
    assert twice == pytest.approx(metric.reduce(stats[[0, 0, 2]]))


@pytest.mark.parametrize(
    ("name", "parameters", "signature"),
    [
        ("chrf", {}, "chrf|nc:6|nw:0|beta:2|case:mixed|level:corpus"),
        (
            "chrf",
            {"word_order": 2, "lowercase": True},
            "chrf++|nc:6|nw:2|beta:2|case:lc|level:corpus",
        ),
        ("chrf", {"level": "sentence"}, "chrf|nc:6|nw:0|beta:2|case:mixed"),
        ("ter", {}, "ter|norm:False|punct:True|case:lc|level:corpus"),
        (
            "ter",
            {"normalized": True, "no_punct": True, "case_sensitive": True},
            "ter|norm:True|punct:False|case:mixed|level:corpus",
        ),
    ],
)
def test_signatures_have_the_parameters_and_the_librarys_version(
    name, parameters, signature
):
    import sacrebleu

    result = harness.metric(name, **parameters)([["a dog"]], [["a dog"]])
    assert result.signature == f"{signature}|sacrebleu:{sacrebleu.__version__}"
