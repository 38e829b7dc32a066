"""The metric: names, tiers, directions, and values from token scores."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import TokenScoreMetric, TokenScores
from harness.errors import HarnessError, InputError, UnknownName
from harness_metrics.pregen.functions import NAMES, evaluate
from harness_metrics.pregen.metric import Pregen

DATASET = [[[(0.5, 0), (0.25, 1), (0.9, 0)], [(0.125, 0)]], [[(0.0, 7), (1.0, 0)]]]


def scores_of(dataset):
    with np.errstate(divide="ignore"):
        return [
            [
                TokenScores(
                    np.log([p for p, _ in caption]), np.array([r for _, r in caption])
                )
                for caption in image
            ]
            for image in dataset
        ]


def test_values_are_those_of_the_functions():
    metric = Pregen(all=True)
    assert isinstance(metric, TokenScoreMetric)
    assert (metric.spec.level, metric.signature()) == ("model", "pregen|all")
    values = metric.evaluate_scores(scores_of(DATASET))
    assert tuple(values) == NAMES
    np.testing.assert_allclose(list(values.values()), evaluate(DATASET), rtol=1e-12)


def test_names_and_tiers_select_metrics():
    assert Pregen(tiers=["mean", "max", "normcount", "prefix0"]).names == (
        "mean_max_normcount_prefix0",
    )
    assert (
        Pregen().names
        == Pregen(tiers={"captions": "max"}).names
        == ("mean_max_normcount_prefix0",)
    )
    assert Pregen(tiers=["*", "*", "*", "*"]).names == NAMES
    assert (
        Pregen(tiers={"tokens": ["prefix0", "filter0_kept"]}).names[1]
        == "mean_max_normcount_filter0_kept"
    )
    assert Pregen(name="max_join_pplx_none").spec.higher_is_better is False
    assert (
        Pregen(names=["max_join_pplx_none", "max_join_prob_none"]).spec.higher_is_better
        is None
    )


def test_values_per_example():
    metric = Pregen(names=["mean_join_pplx_none", "mean_max_count_none"])
    assert {
        k: v.tolist() for k, v in metric.per_example(scores_of(DATASET)).items()
    } == {"mean_max_count_none": [3.0, 2.0]}


@pytest.mark.parametrize(
    "params, error, message",
    [
        ({"name": "mean_max_normcount"}, UnknownName, "did you mean"),
        ({"tiers": ["mean", "max"]}, HarnessError, "four options"),
        ({"tiers": "mean"}, HarnessError, "four options"),
        ({"tiers": {"caption": "max"}}, UnknownName, "did you mean 'captions'"),
        (
            {"tiers": ["join", "max", "prob", "none"]},
            UnknownName,
            "tier 'images' has no option 'join'",
        ),
        ({"name": NAMES[0], "all": True}, HarnessError, "found name and all"),
        ({"names": []}, HarnessError, "empty"),
    ],
)
def test_invalid_parameters(params, error, message):
    with pytest.raises(error, match=message):
        Pregen(**params)


@pytest.mark.parametrize(
    "logs, ranks, message",
    [
        ([0.1], [0], "image 0, caption 0, token 0: log-probability 0.1"),
        ([np.nan], [0], "log-probability nan"),
        ([-1.0], [-1], "rank -1.0"),
        ([-1.0], [0, 1], r"log_probs have shape \(1,\) and ranks \(2,\)"),
        ([], [], "the caption has no tokens"),
    ],
)
def test_invalid_token_scores(logs, ranks, message):
    with pytest.raises(InputError, match=message):
        Pregen().evaluate_scores([[TokenScores(np.array(logs), np.array(ranks))]])
