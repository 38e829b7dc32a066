"""Prediction-powered estimates: golden values of two packages, coverage, strata,
clusters, and designs without an interval.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.decisions.statistics.prediction_powered import powered_mean
from harness.stats.quantiles import student_quantile


@pytest.fixture(scope="module")
def estimates(golden):
    content = json.loads((golden / "estimates" / "estimates.json").read_text())
    labels = np.full(len(content["scores"]), np.nan)
    labels[content["labelled"]] = np.array(content["scores"])[content["labelled"]]
    return content, labels, np.array(content["predictions"])[:, None]


@pytest.mark.parametrize("name", ["zero", "one", "tuned"])
def test_estimates_are_those_of_ppi_python_and_truescore(estimates, name):
    content, labels, predictions = estimates
    theirs = content["estimates"][name]
    share = np.isnan(labels).mean()
    found = powered_mean(
        labels, predictions, tuning=np.array([theirs["lambda"] / share])
    )
    assert found.value == pytest.approx(theirs["value"], rel=1e-12)
    assert found.value == pytest.approx(theirs["truescore"]["value"], rel=1e-12)
    assert found.standard_error == pytest.approx(
        theirs["truescore"]["standard_error"], rel=0.05
    )
    assert np.diff(found.ci95)[0] == pytest.approx(np.diff(theirs["ci95"])[0], rel=0.05)


def test_tuning_is_that_of_ppi_python_up_to_its_noise(estimates):
    content, labels, predictions = estimates
    found = powered_mean(labels, predictions)
    theirs = content["estimates"]["tuned"]
    assert abs(found.value - theirs["by_package"]) < 0.2 * found.standard_error
    assert found.standard_error == pytest.approx(
        theirs["truescore"]["standard_error"], rel=0.05
    )


def students_interval(mean, freedom):
    half = student_quantile(freedom, 0.975) * mean.standard_error
    return mean.value - half, mean.value + half


def test_weights_and_clusters_are_those_of_the_packages(estimates):
    content, labels, predictions = estimates
    weighted = powered_mean(
        labels,
        predictions,
        probabilities=np.array(content["probabilities"]),
        tuning=np.ones(1),
    )
    assert weighted.value == pytest.approx(content["weighted"], rel=1e-12)
    clusters = np.arange(len(labels)) // 3
    alone = powered_mean(labels, predictions, tuning=np.zeros(1))
    assert students_interval(alone, 149) == pytest.approx(
        tuple(content["labels_alone"]), rel=1e-9
    )
    alone = powered_mean(labels, predictions, tuning=np.zeros(1), clusters=clusters)
    assert students_interval(alone, 49) == pytest.approx(
        tuple(content["labels_alone_clustered"]), rel=1e-9
    )
    theirs = content["clustered"]
    share = np.isnan(labels).mean()
    found = powered_mean(
        labels,
        predictions,
        tuning=np.array([theirs["lambda"] / share]),
        clusters=clusters,
    )
    assert found.standard_error == pytest.approx(theirs["standard_error"], rel=0.05)


def test_strata_count_by_their_size(estimates):
    _, labels, predictions = estimates
    strata = (predictions[:, 0] > 2.2).astype(int)
    found = powered_mean(
        labels, predictions, strata=strata, tuning=np.array([0.5]), finite=True
    )
    halves = [
        powered_mean(
            labels[strata == k],
            predictions[strata == k],
            tuning=np.array([0.5]),
            finite=True,
        )
        for k in (0, 1)
    ]
    shares = np.bincount(strata) / len(strata)
    assert found.value == pytest.approx(
        shares @ [half.value for half in halves], rel=1e-12
    )
    assert found.standard_error == pytest.approx(
        np.sqrt(shares**2 @ [half.standard_error**2 for half in halves]), rel=1e-12
    )


def test_all_labels_give_the_mean_and_its_standard_error():
    labels = np.array([1.0, 2.0, 4.0, 5.0, 3.0])
    predictions = np.array([[1.0], [0.0], [3.0], [9.0], [1.0]])
    assert powered_mean(labels, predictions).value == 3.0
    found = powered_mean(labels, predictions, tuning=np.zeros(1))
    assert found.value == 3.0 and found.standard_error == pytest.approx(
        np.std(labels, ddof=1) / np.sqrt(5)
    )
    assert found.ci95 is None and found.reason == "5 labels; an interval needs 20"
    finite = powered_mean(labels, predictions, tuning=np.zeros(1), finite=True)
    assert finite.standard_error == 0.0 and finite.ci95 == (3.0, 3.0)


def test_a_scale_a_sign_and_useless_predictions_do_not_matter(estimates):
    _, labels, predictions = estimates
    found = powered_mean(labels, predictions)
    assert powered_mean(labels, -100 * predictions + 7).ci95 == pytest.approx(
        found.ci95, rel=1e-9
    )
    constant = powered_mean(labels, np.ones_like(predictions))
    assert constant.value == pytest.approx(np.nanmean(labels), rel=1e-12)
    both = powered_mean(labels, np.hstack([predictions, 2 * predictions]))
    assert both.value == pytest.approx(found.value, rel=1e-9)


def test_too_few_labels_have_no_interval():
    labels = np.array([1.0, 2.0, np.nan, np.nan])
    assert np.isnan(powered_mean(labels, np.arange(4.0)[:, None]).standard_error)
    strata = np.array([0, 0, 1, 1])
    assert np.isnan(
        powered_mean(
            np.array([1.0, 2.0, 3.0, np.nan]), np.arange(4.0)[:, None], strata=strata
        ).standard_error
    )


@pytest.mark.slow
@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("design", ["simple", "weighted", "strata", "clusters"])
def test_intervals_cover(design, finite):
    rng = np.random.default_rng(5)
    printed = inside = 0
    size = 400
    runs = 800
    quality = (
        np.repeat(rng.gamma(1.0, size=size // 2), 2)
        if design == "clusters"
        else rng.gamma(1.0, size=size)
    )
    scores = quality + rng.normal(scale=0.4, size=size)
    predictions = np.sqrt(quality) + rng.normal(scale=0.2, size=size)
    for _ in range(runs):
        rows = np.arange(size) if finite else rng.integers(0, size, size)
        if design == "clusters" and not finite:
            rows = (2 * rng.integers(0, size // 2, size // 2)[:, None] + [0, 1]).ravel()
        f = predictions[rows]
        options = {}
        probability = np.full(size, 0.25)
        if design == "weighted":
            probability = np.clip(0.25 * (0.5 + f / f.mean()) / 1.5, 0.05, 1)
            options["probabilities"] = probability
        drawn = (
            rng.random(size) < probability
            if design == "weighted"
            else rng.permutation(size) < 100
        )
        if design == "strata":
            options["strata"] = np.searchsorted(np.quantile(f, [0.25, 0.5, 0.75]), f)
        if design == "clusters":
            drawn = np.repeat(rng.permutation(size // 2) < 50, 2)
            options["clusters"] = np.arange(size) // 2
        found = powered_mean(
            np.where(drawn, scores[rows], np.nan), f[:, None], finite=finite, **options
        )
        printed += found.ci95 is not None
        inside += (
            found.ci95 is not None and found.ci95[0] <= scores.mean() <= found.ci95[1]
        )
    assert (
        0.92 <= inside / printed <= 0.98
        and printed >= (0.85 if design == "weighted" else 1.0) * runs
    )


def labelled(n, size=200, *, seed=0, metrics=1):
    """Normal labels of the first n examples, and metrics that see them with noise."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=size)
    predictions = quality[:, None] + rng.normal(size=(size, metrics))
    return np.where(
        np.arange(size) < n, quality + rng.normal(scale=0.3, size=size), np.nan
    ), predictions


@pytest.mark.parametrize("metrics", [1, 3])
def test_the_standard_error_counts_each_label_with_its_weight_in_the_estimate(metrics):
    labels, predictions = labelled(30, metrics=metrics)
    found = powered_mean(labels, predictions)
    design = np.column_stack([np.ones(30), predictions[:30]])
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ labels[:30]
    everywhere = np.column_stack([np.ones(200), predictions])
    weights = design @ inverse @ everywhere.mean(axis=0)
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    residuals = labels[:30] - design @ coefficients
    addends = (everywhere @ coefficients - found.value) * np.sqrt(200 / 199) / 200
    addends[:30] += weights * residuals / np.sqrt(1 - leverage)
    assert found.value == pytest.approx(
        everywhere.mean(axis=0) @ coefficients, rel=1e-12
    )
    assert found.standard_error == pytest.approx(np.sqrt(np.sum(addends**2)), rel=1e-9)
    finite = powered_mean(labels, predictions, finite=True)
    sampled = (weights * residuals / np.sqrt(1 - leverage)) * np.sqrt(1 - 30 / 200)
    assert finite.standard_error == pytest.approx(np.sqrt(np.sum(sampled**2)), rel=1e-9)


@pytest.mark.parametrize(
    ("n", "metrics", "needed"), [(19, 1, 20), (20, 2, 21), (22, 4, 23), (19, 0, 20)]
)
def test_an_interval_needs_twenty_labels_and_eighteen_more_than_coefficients(
    n, metrics, needed
):
    labels, predictions = labelled(n, metrics=max(metrics, 1))
    tuning = None if metrics else np.zeros(1)
    found = powered_mean(labels, predictions, tuning=tuning)
    assert (
        found.ci95 is None and found.reason == f"{n} labels; an interval needs {needed}"
    )
    assert found.standard_error > 0
    more, _ = labelled(60, metrics=max(metrics, 1))
    assert (
        powered_mean(
            np.where(np.arange(200) < needed, more, np.nan),
            predictions,
            tuning=np.zeros(max(metrics, 1)),
        ).reason
        == ""
    )


def test_most_examples_need_strata_with_seven_labels():
    labels, predictions = labelled(200)
    strata = np.repeat([0, 1], 100)
    few = np.where((np.arange(200) < 40) | (np.arange(200) >= 195), labels, np.nan)
    reason = (
        "50% of the examples are in strata with fewer than 7 labels; "
        "an interval needs 10% at most"
    )
    assert powered_mean(few, predictions, strata=strata).reason == reason
    enough = np.where((np.arange(200) < 40) | (np.arange(200) >= 193), labels, np.nan)
    # half of the mean by seven
    assert powered_mean(enough, predictions, strata=strata).reason.startswith(
        "few labels decide the mean"
    )
    small = np.repeat([0, 1], [185, 15])
    assert powered_mean(few, predictions, strata=small).ci95 is not None
    balanced = np.where((np.arange(200) < 20) | (np.arange(200) >= 180), labels, np.nan)
    assert powered_mean(balanced, predictions, strata=strata).ci95 is not None


def test_unequal_weights_and_clusters_need_more_labels():
    labels, predictions = labelled(40)
    equal = powered_mean(labels, predictions, probabilities=np.full(200, 0.2))
    assert equal.ci95 == powered_mean(labels, predictions).ci95
    unequal = powered_mean(
        labels, predictions, probabilities=np.exp(-np.arange(200) / 12)
    )
    assert unequal.ci95 is None and unequal.reason.startswith(
        "few labels decide the mean ("
    )
    # one of 140 examples, without labels
    clusters = np.minimum(np.arange(200) // 2, 30)
    sizes = powered_mean(labels, predictions, clusters=clusters)
    assert sizes.ci95 is None and sizes.reason.startswith(
        "few clusters decide the mean ("
    )
    assert (
        powered_mean(labels, predictions, clusters=np.arange(200) // 2).ci95 is not None
    )
    assert (
        powered_mean(labels, predictions, clusters=np.arange(200) // 3).reason
        == "14 clusters; an interval needs 20"
    )


def test_labels_without_spread_or_error_have_no_interval():
    labels, predictions = labelled(40)
    constant = powered_mean(np.where(np.isnan(labels), np.nan, 3.0), predictions)
    assert (
        constant.value == pytest.approx(3.0)
        and constant.reason == "all 40 labels are 3"
    )
    right = np.where(np.isnan(labels), np.nan, (predictions[:, 0] > 0).astype(float))
    judged = powered_mean(right, (predictions > 0).astype(float))
    assert judged.ci95 is None and judged.reason == "all 40 labels are as predicted"
    wrong = right.copy()
    wrong[0] = 1 - wrong[0]
    assert powered_mean(wrong, (predictions > 0).astype(float)).ci95 is not None


def test_skewed_labels_have_a_longer_side():
    rng = np.random.default_rng(7)
    labels = np.full(200, np.nan)
    predictions = rng.normal(size=(200, 1))
    labels[:50] = np.exp(rng.normal(size=50))
    up = powered_mean(labels, predictions, tuning=np.zeros(1))
    down = powered_mean(-labels, predictions, tuning=np.zeros(1))
    half = student_quantile(49, 0.975) * up.standard_error
    assert (
        up.ci95[1] - up.value > 1.2 * half
        and 0.89 * half < up.value - up.ci95[0] < half
    )
    assert down.ci95 == pytest.approx((-up.ci95[1], -up.ci95[0]), rel=1e-9)
