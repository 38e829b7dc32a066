"""chrF and TER."""

from __future__ import annotations

import pytest

import harness

pytest.importorskip("sacrebleu")


def test_equal_and_disjoint_texts():
    chrf, ter = harness.metric("chrf"), harness.metric("ter")
    same = [["a dog runs on the grass"]]
    assert chrf(same, [["a dog runs on the grass", "x"]]).value == pytest.approx(1.0)
    assert ter(same, [["a dog runs on the grass", "a"]]).value == 0.0
    assert chrf([["zzz"]], same).value == 0.0
    assert ter([["q w e r t z"]], same).value == 1.0


def test_a_score_is_the_mean_of_the_librarys_over_candidates():
    import sacrebleu

    candidates, references = [["a dog", "the cat sat down"]], [["a dog runs", "the cat sat"]]
    chrf = [sacrebleu.sentence_chrf(c, references[0]).score for c in candidates[0]]
    ter = [sacrebleu.sentence_ter(c, references[0]).score for c in candidates[0]]
    assert harness.metric("chrf")(candidates, references).value == pytest.approx(sum(chrf) / 200)
    assert harness.metric("ter")(candidates, references).value == pytest.approx(sum(ter) / 200)


@pytest.mark.parametrize(
    ("name", "parameters", "signature"),
    [
        ("chrf", {}, "chrf|nc:6|nw:0|beta:2|case:mixed"),
        ("chrf", {"word_order": 2, "lowercase": True}, "chrf++|nc:6|nw:2|beta:2|case:lc"),
        ("ter", {}, "ter|norm:False|punct:True|case:lc"),
        ("ter", {"normalized": True, "no_punct": True, "case_sensitive": True}, "ter|norm:True|punct:False|case:mixed"),
    ],
)
def test_signatures_have_the_parameters_and_the_librarys_version(name, parameters, signature):
    import sacrebleu

    result = harness.metric(name, **parameters)([["a dog"]], [["a dog"]])
    assert result.signature == f"{signature}|sacrebleu:{sacrebleu.__version__}"
