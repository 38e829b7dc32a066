"""Drawn triangles: the value of all triangles within the stated standard error, which
the draws have.
"""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet, TextDistance
from harness.run.features import FeatureCache
from harness_metrics.trm import statistic
from harness_metrics.trm.drawn_triangles import sampled_triangle_rank
from harness_metrics.trm.metric import Trm

SHAPES = [(12, 5), (1, 9), (9, 1), (2, 30)]


def matrix(n, m, seed=0):
    """Directed distances of points, the candidates a little apart from the references;
    some are ties.
    """
    rng = np.random.default_rng(seed)
    points = np.concatenate(
        [rng.normal(0.0, 1.0, (n, 2)), rng.normal(0.8, 1.0, (m, 2))]
    )
    distances = np.linalg.norm(points[:, None] - points, axis=2).round(1)
    return distances * np.where(np.arange(n + m)[:, None] > np.arange(n + m), 1.1, 1.0)


@pytest.mark.parametrize("pooling", ["pooled", "per-direction"])
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_errors_have_the_stated_standard_error(n, m, pooling):
    distances = matrix(n, m)
    exact = statistic.triangle_rank(distances, n, pooling)
    draws = [
        sampled_triangle_rank(distances, n, pooling, 2000, np.random.default_rng(seed))
        for seed in range(200)
    ]
    errors = np.array([(value - exact) / error for value, error in draws])
    # 200 errors in units of their standard error: mean 0 +- .07, standard deviation 1
    # +- .05; four standard errors of each
    assert abs(errors.mean()) < 0.28
    # below 1 where two ranks may be the one that differs most from 1/3
    assert 0.5 < errors.std() < 1.2


@pytest.mark.parametrize("pooling", ["pooled", "per-direction"])
def test_more_triangles_have_a_smaller_error(pooling):
    few, many = (
        sampled_triangle_rank(
            matrix(12, 5), 12, pooling, drawn, np.random.default_rng(0)
        )[1]
        for drawn in (500, 50_000)
    )
    assert many == pytest.approx(few / 10, rel=0.2)


def test_one_and_one_text_make_no_triangle():
    assert np.isnan(
        sampled_triangle_rank(matrix(1, 1), 1, "pooled", 100, np.random.default_rng(0))
    ).all()


class LengthDistance(TextDistance):
    name = "length"

    def pairwise(self, texts):
        lengths = np.array([len(text) for text in texts], dtype=float)
        return np.abs(lengths[:, None] - lengths)


def texts(count, rng):
    return tuple("x" * int(number) for number in rng.integers(0, 60, count))


def test_the_draws_of_an_example_depend_on_its_id_alone():
    rng = np.random.default_rng(0)
    metric = Trm(distance=LengthDistance(), triangles="sampled", drawn=300)
    sets = [CaptionSet(name, texts(12, rng), texts(6, rng)) for name in "abc"]
    features = FeatureCache()
    stats = metric.stats(features.batch(sets), features, None)
    alone = np.concatenate(
        [
            metric.stats(features.batch([item]), features, None)
            for item in reversed(sets)
        ]
    )
    assert stats.shape == (3, 2)
    assert np.array_equal(stats, alone[::-1])


def test_a_result_has_the_error_of_the_draws_within_which_the_exact_number_lies():
    rng = np.random.default_rng(1)
    candidates, references = (
        [texts(count, rng) for _ in range(40)] for count in (15, 8)
    )
    exact = harness.metric("trm", distance=LengthDistance())(candidates, references)
    sampled = harness.metric(
        "trm", distance=LengthDistance(), triangles="sampled", drawn=2000
    )(candidates, references)

    metric = Trm(distance=LengthDistance(), triangles="sampled", drawn=2000)
    features = FeatureCache()
    sets = [
        CaptionSet(str(k), *pair) for k, pair in enumerate(zip(candidates, references))
    ]
    error = np.concatenate(
        [metric.stats(features.batch([item]), features, None) for item in sets]
    )
    stated = metric.details(error)["sampling_error"]
    assert stated == pytest.approx(
        float(np.sqrt(np.mean(np.square(error[:, 1])))), rel=1e-12
    )

    assert 0 < abs(sampled.value - exact.value) < stated
    assert sampled.ci95 is not None
    assert sampled.ci95[0] < exact.value < sampled.ci95[1]
    assert sampled.signature == "trm|pooled|drawn:2000|length"
