"""Protocols of metrics of token scores: the shipped metric has those it claims."""

from __future__ import annotations

import pytest

from harness.contracts import MetricSpec
from harness.contracts.token_metrics import (
    HasTokenIntervals,
    ReadsMeta,
    TokenScoreMetric,
)
from harness.registry import current


class Fewest:
    """A metric of token scores with what the protocol needs, and no more."""

    spec = MetricSpec("fewest", False, level="model")

    def signature(self):
        return "fewest"

    def evaluate_scores(self, scores):
        return {"fewest": 0.0}

    def per_example(self, scores):
        return {}


def test_a_metric_of_token_scores_needs_four_members():
    metric = Fewest()
    assert isinstance(metric, TokenScoreMetric)
    assert not isinstance(metric, (ReadsMeta, HasTokenIntervals))


@pytest.mark.parametrize("name", ["signature", "evaluate_scores", "per_example"])
def test_a_metric_without_a_member_is_none(name):
    members = {key: value for key, value in vars(Fewest).items() if key != name}
    assert not isinstance(type("Lacking", (), members)(), TokenScoreMetric)


def test_perplexity_has_the_protocol_and_metrics_of_captions_do_not():
    perplexity = current().create("metrics", "perplexity")
    assert isinstance(perplexity, TokenScoreMetric)
    assert perplexity.spec.level == "model"
    assert not isinstance(current().create("metrics", "rouge"), TokenScoreMetric)
