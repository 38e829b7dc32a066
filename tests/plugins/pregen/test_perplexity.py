"""Perplexity of the references, per caption and per token."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.contracts import TokenScoreMetric, TokenScores
from harness_metrics.pregen.perplexity import Perplexity


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
    found = metric.intervals(data, 50, 0)
    assert found["tokens"].ends is None and found["tokens"].note


def test_a_token_of_probability_0():
    with np.errstate(divide="ignore"):
        values = Perplexity().evaluate_scores(scores([[0.5, 0.0]]))
    assert math.isinf(values["captions"]) and math.isinf(values["tokens"])
