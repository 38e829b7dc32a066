"""TRM through the interface of the runner: any distance, names,
undefined examples, p-values.
."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, Metric, Permutes, TextDistance
from harness.errors import HarnessError, InputError, UnknownName
from harness.run.features import FeatureCache
from harness.run.score import is_tested
from harness.spec.models import SignificanceSpec
from harness.stats.significance import metric_p_values
from harness_metrics.trm import statistic
from harness_metrics.trm.metric import Trm


class LengthDistance(TextDistance):
    name = "length"

    def pairwise(self, texts):
        lengths = np.array([len(text) for text in texts], dtype=float)
        return np.abs(lengths[:, None] - lengths)


def texts(count, rng):
    return tuple("x" * int(number) for number in rng.integers(0, 60, count))


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
