"""Prediction-powered estimates: golden values of two packages, coverage, strata, clusters, and designs without an interval."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.stats.prediction_powered import powered_mean


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
    found = powered_mean(labels, predictions, tuning=np.array([theirs["lambda"] / share]))
    assert found.value == pytest.approx(theirs["value"], rel=1e-12)
    assert found.value == pytest.approx(theirs["truescore"]["value"], rel=1e-12)
    assert found.standard_error == pytest.approx(theirs["truescore"]["standard_error"], rel=0.05)
    assert np.diff(found.ci95)[0] == pytest.approx(np.diff(theirs["ci95"])[0], rel=0.05)


def test_tuning_is_that_of_ppi_python_up_to_its_noise(estimates):
    content, labels, predictions = estimates
    found, theirs = powered_mean(labels, predictions), content["estimates"]["tuned"]
    assert abs(found.value - theirs["by_package"]) < 0.2 * found.standard_error
    assert found.standard_error == pytest.approx(theirs["truescore"]["standard_error"], rel=0.05)


def test_weights_and_clusters_are_those_of_the_packages(estimates):
    content, labels, predictions = estimates
    weighted = powered_mean(labels, predictions, probabilities=np.array(content["probabilities"]), tuning=np.ones(1))
    assert weighted.value == pytest.approx(content["weighted"], rel=1e-12)
    clusters = np.arange(len(labels)) // 3
    alone = powered_mean(labels, predictions, tuning=np.zeros(1))
    assert alone.ci95 == pytest.approx(tuple(content["labels_alone"]), rel=1e-9)
    alone = powered_mean(labels, predictions, tuning=np.zeros(1), clusters=clusters)
    assert alone.ci95 == pytest.approx(tuple(content["labels_alone_clustered"]), rel=1e-9)
    theirs, share = content["clustered"], np.isnan(labels).mean()
    found = powered_mean(labels, predictions, tuning=np.array([theirs["lambda"] / share]), clusters=clusters)
    assert found.standard_error == pytest.approx(theirs["standard_error"], rel=0.05)


def test_strata_count_by_their_size(estimates):
    _, labels, predictions = estimates
    strata = (predictions[:, 0] > 2.2).astype(int)
    found = powered_mean(labels, predictions, strata=strata, tuning=np.array([0.5]), finite=True)
    halves = [powered_mean(labels[strata == k], predictions[strata == k], tuning=np.array([0.5]), finite=True) for k in (0, 1)]
    shares = np.bincount(strata) / len(strata)
    assert found.value == pytest.approx(shares @ [half.value for half in halves], rel=1e-12)
    assert found.standard_error == pytest.approx(np.sqrt(shares**2 @ [half.standard_error**2 for half in halves]), rel=1e-12)


def test_all_labels_give_the_mean_and_students_interval():
    labels = np.array([1.0, 2.0, 4.0, 5.0, 3.0])
    predictions = np.array([[1.0], [0.0], [3.0], [9.0], [1.0]])
    assert powered_mean(labels, predictions).value == 3.0
    found = powered_mean(labels, predictions, tuning=np.zeros(1))
    assert found.value == 3.0 and found.standard_error == pytest.approx(np.std(labels, ddof=1) / np.sqrt(5))
    assert powered_mean(labels, predictions, tuning=np.zeros(1), finite=True).standard_error == 0.0


def test_a_scale_a_sign_and_useless_predictions_do_not_matter(estimates):
    _, labels, predictions = estimates
    found = powered_mean(labels, predictions)
    assert powered_mean(labels, -100 * predictions + 7).ci95 == pytest.approx(found.ci95, rel=1e-9)
    constant = powered_mean(labels, np.ones_like(predictions))
    assert constant.value == pytest.approx(np.nanmean(labels), rel=1e-12)
    both = powered_mean(labels, np.hstack([predictions, 2 * predictions]))
    assert both.value == pytest.approx(found.value, rel=1e-9)


def test_too_few_labels_have_no_interval():
    labels = np.array([1.0, 2.0, np.nan, np.nan])
    assert np.isnan(powered_mean(labels, np.arange(4.0)[:, None]).standard_error)
    strata = np.array([0, 0, 1, 1])
    assert np.isnan(powered_mean(np.array([1.0, 2.0, 3.0, np.nan]), np.arange(4.0)[:, None], strata=strata).standard_error)


@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("design", ["simple", "weighted", "strata", "clusters"])
def test_intervals_cover(design, finite):
    rng, inside = np.random.default_rng(5), 0
    size, runs = 400, 800
    quality = np.repeat(rng.gamma(1.0, size=size // 2), 2) if design == "clusters" else rng.gamma(1.0, size=size)
    scores, predictions = quality + rng.normal(scale=0.4, size=size), np.sqrt(quality) + rng.normal(scale=0.2, size=size)
    for _ in range(runs):
        rows = np.arange(size) if finite else rng.integers(0, size, size)
        if design == "clusters" and not finite:
            rows = (2 * rng.integers(0, size // 2, size // 2)[:, None] + [0, 1]).ravel()
        f, options = predictions[rows], {}
        probability = np.full(size, 0.25)
        if design == "weighted":
            probability = np.clip(0.25 * (0.5 + f / f.mean()) / 1.5, 0.05, 1)
            options["probabilities"] = probability
        drawn = rng.random(size) < probability if design == "weighted" else rng.permutation(size) < 100
        if design == "strata":
            options["strata"] = np.searchsorted(np.quantile(f, [0.25, 0.5, 0.75]), f)
        if design == "clusters":
            drawn = np.repeat(rng.permutation(size // 2) < 50, 2)
            options["clusters"] = np.arange(size) // 2
        found = powered_mean(np.where(drawn, scores[rows], np.nan), f[:, None], finite=finite, **options)
        inside += found.ci95[0] <= scores.mean() <= found.ci95[1]
    assert 0.92 <= inside / runs <= 0.98
