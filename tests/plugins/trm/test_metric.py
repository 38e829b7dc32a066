"""TRM through the interface of the runner: any distance, names,
undefined examples, p-values.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.contracts import CaptionSet, Metric, Permutes, TextDistance
from harness.errors import HarnessError, InputError, UnknownName
from harness.run.features import FeatureCache
from harness.run.score import is_tested
from harness.spec.models import SignificanceSpec
from harness.stats.significance import metric_p_values
from harness_metrics.trm import statistic
from harness_metrics.trm.metric import Trm, heaviest_triangle, sampled_triangle_rank

# --------------------------------------------------------------------------- drawn triangles
# Drawn triangles: the value of all triangles within the stated standard error, which
# the draws have.


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


def test_drawn_triangles_are_not_tested_and_are_part_of_the_name():
    metric = Trm(distance=LengthDistance(), triangles="sampled", drawn=300)
    assert metric.spec.name == "trm(length, sampled 300)"
    assert not is_tested(metric, SignificanceSpec(method="exact"))
    assert is_tested(Trm(distance=LengthDistance()), SignificanceSpec(method="exact"))


@pytest.mark.parametrize(
    ("name", "value"), [("triangles", "some"), ("drawn", 0), ("drawn", True)]
)
def test_other_values_are_refused(name, value):
    with pytest.raises(InputError, match=name):
        Trm(distance=LengthDistance(), **{name: value})


# --------------------------------------------------------------------------- heaviest triangle
# The heaviest triangle, against a loop over all triangles.


def loop(d: np.ndarray, n: int) -> tuple[int, float]:
    """Most frequent rank and the largest margin within it."""
    counts = [0, 0, 0]
    margins = [-np.inf] * 3
    for a, b, x in permutations(range(len(d)), 3):
        if (a < n) != (b < n) or (x < n) == (a < n):
            continue
        low, high = sorted((d[x, a], d[x, b]))
        kinds = (d[a, b] <= low, low <= d[a, b] <= high, d[a, b] >= high)
        values = (low - d[a, b], min(d[a, b] - low, high - d[a, b]), d[a, b] - high)
        for rank in range(3):
            counts[rank] += kinds[rank]
            if kinds[rank]:
                margins[rank] = max(margins[rank], values[rank])
    rank = int(np.argmax(counts))
    return rank, margins[rank]


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10_000))
def test_rank_and_margin_are_those_of_a_loop(n, m, seed):
    d = np.random.default_rng(seed).integers(0, 5, (n + m, n + m)).astype(float)
    best = heaviest_triangle(d, n)
    if n + m < 3:
        assert best is None
        return
    assert best is not None
    rank, margin = loop(d, n)
    low, high = sorted((best.to_a, best.to_b))
    assert best.rank == rank
    assert margin == pytest.approx(
        (low - best.inner, min(best.inner - low, high - best.inner), best.inner - high)[
            rank
        ]
    )
    assert (best.inner, best.to_a, best.to_b) == (
        d[best.a, best.b],
        d[best.x, best.a],
        d[best.x, best.b],
    )


def test_the_metric_says_it_in_words():
    sets = [
        CaptionSet("x", ("a", "a b"), ("a b c d e", "a b c d e f")),
        CaptionSet("y", ("a",), ("b",)),
    ]
    features = FeatureCache([item.references for item in sets])
    metric = Trm(distance=Words())
    (explanation,) = metric.explain(features.batch(sets[:1]), features, None)
    assert explanation is not None
    assert explanation.title == (
        "Heaviest triangle: two candidates are closer to each other (1.000) "
        "than to the reference (5.000 and 4.000); 100 % of the "
        "triangles are of this kind, 33 % by chance"
    )
    assert explanation.texts == (
        (0, "one of the pair"),
        (1, "one of the pair"),
        (3, "opposite"),
    )
    assert metric.explain(features.batch(sets[1:]), features, None) == [None]


class Words(TextDistance):
    """Difference of the numbers of words."""

    name = "words"

    def pairwise(self, texts):
        counts = np.array([len(text.split()) for text in texts], dtype=float)
        return np.abs(counts[:, None] - counts)


# --------------------------------------------------------------------------- metric


class Directed(LengthDistance):
    name = "directed"

    def pairwise(self, texts):
        return super().pairwise(texts) * np.where(
            np.arange(len(texts))[:, None] > np.arange(len(texts)), 2.0, 1.0
        )


def batch_of(n, m, number=3):
    rng = np.random.default_rng(n * 10 + m)

    def texts(count):
        return tuple("x" * rng.integers(0, 30) for _ in range(count))

    sets = [CaptionSet(str(i), texts(n), texts(m)) for i in range(number)]
    features = FeatureCache([item.references for item in sets])
    return features.batch(sets), features


@pytest.mark.parametrize("distance", [LengthDistance(), Directed()])
@pytest.mark.parametrize("pooling", ["pooled", "per-direction"])
def test_scores_and_p_values_are_those_of_the_distance_matrices(distance, pooling):
    metric = Trm(distance=distance, pooling=pooling)
    batch, features = batch_of(4, 3)
    matrices = distance.matrices(batch, features)
    stats = metric.stats(batch, features, None)
    assert isinstance(metric, (Metric, Permutes))
    assert np.array_equal(stats[:, 0], statistic.triangle_rank(matrices, 4, pooling))
    exact = metric_p_values(metric, batch, features, None, metric.per_example(stats))
    assert exact.method == "exact"
    assert np.array_equal(exact.values, statistic.exact_p_values(matrices, 4, pooling))
    sampled = metric_p_values(
        metric,
        batch,
        features,
        None,
        metric.per_example(stats),
        method="monte-carlo",
        draws=4000,
    )
    # standard error of a share of 4000 is at most 0.008
    assert np.abs(exact.values - sampled.values).max() < 0.03


def test_names_bounds_and_signatures():
    pooled = Trm(distance=LengthDistance())
    separate = Trm(distance=LengthDistance(), pooling="per-direction")
    assert (pooled.spec.name, pooled.spec.bounds) == ("trm(length)", (0.0, 4 / 3))
    assert (separate.spec.name, separate.spec.bounds) == (
        "trm(length, per-direction)",
        (0.0, 8 / 3),
    )
    assert pooled.signature() != separate.signature()
    assert pooled.spec.higher_is_better is False
    assert pooled.spec.min_texts == 3


def test_an_example_without_a_triangle_is_undefined():
    batch, features = batch_of(1, 1)
    assert np.isnan(Trm(distance=LengthDistance()).stats(batch, features, None)).all()


@pytest.mark.parametrize("n,m", [(1, 2), (2, 1), (1, 5)])
def test_one_text_on_a_side_is_enough(n, m):
    batch, features = batch_of(n, m)
    assert np.isfinite(
        Trm(distance=LengthDistance()).stats(batch, features, None)
    ).all()


def test_unknown_names_are_errors_with_a_hint():
    with pytest.raises(HarnessError, match="pooling is 'pool'"):
        Trm(distance=LengthDistance(), pooling="pool")  # type: ignore[arg-type]
    with pytest.raises(
        UnknownName, match="unknown distance 'cidr'; did you mean 'cider'"
    ):
        Trm(distance="cidr")


def test_warm_passes_on_to_distances_that_have_first_use_work():
    class Slow(LengthDistance):
        warmed = 0

        def warm(self):
            self.warmed += 1

    distance = Slow()
    Trm(distance=distance).warm()
    assert distance.warmed == 1
    Trm(distance=LengthDistance()).warm()


def test_a_distance_that_is_not_finite_is_an_error_with_the_pair():
    class Broken(LengthDistance):
        name = "broken"

        def pairwise(self, texts):
            out = super().pairwise(texts)
            out[0, 1] = np.nan
            return out

    batch, features = batch_of(2, 2)
    with pytest.raises(
        HarnessError,
        match=r"distance 'broken' is not finite \(.*\) for the pair .* of example '0'",
    ):
        Trm(distance=Broken()).stats(batch, features, None)
