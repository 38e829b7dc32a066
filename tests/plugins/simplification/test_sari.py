"""SARI by the formulas: values of the library evaluate, and edge cases."""

import json

import pytest

from harness_metrics.simplification.metric import Sari
from harness_metrics.simplification.sari import sari


def test_values_of_evaluate(golden):
    pytest.importorskip("sacrebleu")
    metric = Sari()
    for case in json.loads((golden / "sets/sari.json").read_text()):
        source, *references = metric._words([case["source"], *case["references"]])
        for candidate, expected in zip(metric._words(case["candidates"]), case["sari"]):
            assert sari(source, candidate, references) == pytest.approx(
                expected, abs=1e-9
            )


def test_an_exact_simplification_scores_one():
    source = ["the", "cat", "perched", "upon", "the", "mat", "today"]
    simple = ["the", "cat", "sat", "on", "the", "mat"]
    assert sari(source, simple, [simple]) == pytest.approx(1.0)
    assert sari(source, source, [simple]) < 0.5
    assert 0 <= sari(source, [], [simple]) < 0.5
    assert sari([], [], [[]]) == 1.0
