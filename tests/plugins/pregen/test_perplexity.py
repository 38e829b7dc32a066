"""Perplexity of the references, per caption and per token."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.contracts import TokenScoreMetric, TokenScores
from harness_metrics.pregen import intervals
from harness_metrics.pregen.perplexity import Perplexity
from harness_metrics.pregen.tokens import FlatTokens, flatten


def scores(*images):
    return [
        [TokenScores(np.log(p), np.zeros(len(p), dtype=int)) for p in image]
        for image in images
    ]


def test_both_means_by_hand():
    data = scores([[0.5, 0.5], [0.25]], [[0.5, 0.5, 0.5, 0.5]])
    metric = Perplexity()
    assert isinstance(metric, TokenScoreMetric)
    values = metric.evaluate_scores(data)
    assert values["captions"] == pytest.approx((2 * 4 * 2) ** (1 / 3))
    assert values["tokens"] == pytest.approx(2 ** (8 / 7))
    np.testing.assert_allclose(metric.per_example(data)["tokens"], [2 ** (4 / 3), 2.0])
    found = intervals.intervals(data, 50, 0)
    assert found["tokens"].ends is None and found["tokens"].note


def test_a_token_of_probability_0():
    with np.errstate(divide="ignore"):
        values = Perplexity().evaluate_scores(scores([[0.5, 0.0]]))
    assert math.isinf(values["captions"]) and math.isinf(values["tokens"])


def tokens(images: int, seed: int = 0, zero: bool = False) -> FlatTokens:
    rng = np.random.default_rng(seed)
    dataset = [
        [
            list(
                zip(
                    rng.beta(2, 2, length).tolist(),
                    (rng.geometric(0.6, length) - 1).tolist(),
                )
            )
            for length in rng.integers(3, 9, rng.integers(1, 5))
        ]
        for _ in range(images)
    ]
    if zero:
        dataset[0] = [[(0.0, 9)]]
    return flatten(dataset)
