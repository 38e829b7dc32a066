"""The rule by which items of papers agree, differ or cannot be told, and standard
errors of averages of p-values.
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys

import numpy as np
import pytest

from harness.contracts import CaptionSet


@pytest.fixture(scope="module")
def rule(root):
    spec = importlib.util.spec_from_file_location(
        "benchmark_papers_rule", root / "benchmarks/papers_rule.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmark_papers_rule"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["benchmark_papers_rule"]


@pytest.mark.parametrize(
    ("ours", "error", "rounding", "expected"),
    [
        (0.53, 0.01, 0.0, "differs"),
        (0.52, 0.01, 0.0, "agrees"),
        (0.56, 0.03, 0.0, "cannot tell"),
        (0.504, 0.0, 0.005, "agrees"),
        (0.504, 0.0, 0.0, "differs"),
    ],
)
def test_verdict_of_a_cell(rule, ours, error, rounding, expected):
    assert rule.Cell("a", ours, 0.5, error, 400, rounding).verdict(0.02) == expected


def test_an_item_is_its_worst_cell(rule):
    agreeing, unclear, different = (
        rule.Cell(name, ours, 0.5, error, 100)
        for name, ours, error in (("a", 0.5, 0.01), ("b", 0.6, 0.05), ("c", 0.6, 0.01))
    )
    assert rule.judge([agreeing], 0.02) == ("agrees", agreeing)
    assert rule.judge([agreeing, unclear], 0.02) == ("cannot tell", unclear)
    assert rule.judge([agreeing, unclear, different], 0.02) == ("differs", different)
    assert unclear.examples_that_tell(0.02) == 625
    with pytest.raises(ValueError, match="at least one cell"):
        rule.judge([], 0.02)


def test_moments_of_exchangeable_p_values(rule):
    mean, error = rule.exchangeable_moments(5, 400, "arithmetic mean")
    assert mean == pytest.approx(0.6, abs=0.002) and error == pytest.approx(
        math.sqrt((25 - 1) / 12) / 5 / 20, rel=0.1
    )
    harmonic, spread = rule.exchangeable_moments(252, 60, "log of the harmonic mean")
    limit = -math.log(sum(1 / k for k in range(1, 253)))
    assert limit < harmonic < limit + 0.3 and spread > 0.2


def test_bootstrap_error_of_a_mean(rule):
    p = np.random.default_rng(1).uniform(0.01, 1.0, 500)
    assert rule.bootstrap_error(p, "arithmetic mean") == pytest.approx(
        p.std() / math.sqrt(500), rel=0.1
    )
    assert (
        rule.join_errors(0.3, 100, 100) == pytest.approx(0.3 * math.sqrt(2))
        and rule.join_errors(0.3, 100, None) == 0.3
    )


def test_an_order_is_that_of_every_seed(rule):
    assert rule.same_order([{"a": 1.0, "b": 2.0}, {"a": -1.0, "b": 0.0}]) == ("a", "b")
    assert rule.same_order([{"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 0.0}]) is None


def test_variants_are_stored_and_not_judged(tmp_path):
    from benchmarks.papers_rule import read_cells

    cell = {
        "row": "r",
        "metric": "m",
        "ours": 0.5,
        "published": 0.55,
        "error": 0.01,
        "n": 9,
    }
    content = {"cells": [cell, cell | {"metric": "v", "variant": True}]}
    (tmp_path / "f.json").write_text(json.dumps(content), encoding="utf-8")
    assert [found.name for found in read_cells("f", "item", tmp_path)] == ["r, m"]


def test_sentences_without_a_match_of_four_words_are_tied():
    from benchmarks.papers_results import tied_bleu_p

    far = CaptionSet("0", ("one two",), ("three four", "five six", "seven eight"))
    near = CaptionSet("1", ("a b c d e",), ("a b c d e", "f g h i j", "k l m n o"))
    assert tied_bleu_p([far, near]).tolist() == [1.0, 1.0]
    worst = CaptionSet("2", ("x y z w v",), ("a b c d e", "a b c d e", "a b c d e"))
    assert tied_bleu_p([worst]).tolist() == [0.25]
