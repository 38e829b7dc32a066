"""chrF and TER."""

from __future__ import annotations

import pytest

import harness


def test_identical_and_disjoint_texts():
    pytest.importorskip("sacrebleu")
    chrf, ter = harness.metric("chrf"), harness.metric("ter")
    same = [["a dog runs on the grass"]]
    assert chrf(same, [["a dog runs on the grass", "x"]]).value == pytest.approx(1.0)
    assert ter(same, [["a dog runs on the grass", "a"]]).value == 0.0
    assert chrf([["zzz"]], same).value == 0.0
    assert ter([["q w e r t z"]], same).value == 1.0


def test_the_library_is_asked_once_per_candidate():
    sacrebleu = pytest.importorskip("sacrebleu")
    candidates, references = [["a dog", "the cat sat down"]], [["a dog runs", "the cat sat"]]
    expected = sum(sacrebleu.sentence_chrf(c, references[0]).score for c in candidates[0]) / 200
    assert harness.metric("chrf")(candidates, references).value == pytest.approx(expected)
    assert harness.metric("chrf", word_order=2)(candidates, references).signature.startswith("chrf++|")
