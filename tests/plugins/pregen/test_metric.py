"""The metric: names, tiers, directions, and values from token scores."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.contracts import HasTokenIntervals, TokenScoreMetric, TokenScores
from harness.errors import HarnessError, InputError, UnknownName
from harness.stats import bootstrap
from harness_metrics.pregen import functions, metric
from harness_metrics.pregen.functions import NAMES, evaluate
from harness_metrics.pregen.metric import Perplexity, Pregen
from harness_metrics.pregen.tokens import FlatTokens, flatten

# --------------------------------------------------------------------------- perplexity
# Perplexity of the references, per caption and per token.


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


# ---------------------------------------------------------------------------

# --------------------------------------------------------------------------- intervals
# Weighted pre-gen metrics against the metrics of repeated images; reasons for no
# interval.


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


def test_weighted_images_count_as_often_as_they_weigh():
    flat = tokens(30)
    rows = functions.rows_by_name(flat, functions.NAMES)
    names = [
        name
        for name in functions.NAMES
        if metric._reason(name, rows[name]) == "" and np.isfinite(rows[name]).all()
    ]
    weights = (
        np.random.default_rng(1).multinomial(30, [1 / 30] * 30, size=3).astype(float)
    )
    members = np.repeat(np.arange(30), np.diff(flat.images))
    values = metric._weigh_images(rows, names, weights, members)
    for row, weight in zip(values, weights):
        repeated = flat.take(np.repeat(np.arange(30), weight.astype(int)))
        np.testing.assert_allclose(row, functions.evaluate(repeated, names), rtol=1e-9)
    assert {name.split("_")[0] for name in names} == {
        "sum",
        "mean",
        "median",
        "geomean",
    }


def test_the_mean_of_images_has_the_interval_of_a_mean():
    flat = tokens(40)
    name = "mean_max_normcount_prefix0"
    scores = functions.per_image(flat, [name])[0]
    expected = bootstrap.confidence_interval(
        lambda w: w @ scores / w.sum(axis=1), 40, 200, 3
    )
    assert Pregen().intervals(flat, 200, 3)[name].ends == pytest.approx(expected)
    assert isinstance(Pregen(), HasTokenIntervals)


@pytest.mark.parametrize("images", [25, bootstrap.SMALL])
def test_values_lie_in_their_intervals(images):
    flat = tokens(images)
    names = (
        "sum_mean_prob_none",
        "median_join_prob_none",
        "mean_join_pplx_none",
        "geomean_mean_pplx_none",
    )
    values = functions.evaluate(flat, names)
    for name, value in zip(names, values):
        ends = metric.intervals(flat, names, 100, 0)[name].ends
        assert ends is not None
        assert ends[0] < value < ends[1]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("max_mean_prob_none", metric.EXTREME),
        ("min_join_prob_none", metric.EXTREME),
        ("geomean_mean_prob_none", metric.ZERO),
        ("mean_mean_pplx_none", metric.INFINITE),
    ],
)
def test_no_interval_has_its_reason(name, reason):
    result = metric.intervals(tokens(20, zero=True), [name], 50, 0)[name]
    assert (result.ends, result.note) == (None, reason)


# --------------------------------------------------------------------------- metrics


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


DATASET = [[[(0.5, 0), (0.25, 1), (0.9, 0)], [(0.125, 0)]], [[(0.0, 7), (1.0, 0)]]]


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
