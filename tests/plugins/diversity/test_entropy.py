"""Entropy of n-grams."""

import math

import pytest

import harness
from harness.errors import HarnessError


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
