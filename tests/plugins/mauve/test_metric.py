"""MAUVE as a metric: of the corpus, and per example."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, Metric, Testable
from harness.errors import HarnessError
from harness.plugins.mauve import statistic
from harness.plugins.mauve.metric import Mauve, MauvePerExample
from harness.run.features import FeatureCache
from harness.stats.significance import metric_p_values


class Seeded:
    """A fixed random vector for each text."""

    name = "seeded"

    def signature(self):
        return "seeded"

    def fit(self, references):
        pass

    def encode(self, texts):
        return np.stack([np.random.default_rng(list(text.encode())).normal(size=8) for text in texts]).astype(
            np.float32
        )


def sets_of(number, n, m, start=0):
    return [
        CaptionSet(str(i), tuple(f"c{i} {j}" for j in range(n)), tuple(f"r{i} {j}" for j in range(m)))
        for i in range(start, start + number)
    ]


@pytest.fixture
def mixed():
    """Statistics of a corpus with two shapes, as the runner stacks them."""
    features = FeatureCache()
    metric = Mauve(embedding=Seeded(), k=5)
    parts = [features.batch(sets_of(20, 4, 3)), features.batch(sets_of(10, 2, 5, start=20))]
    rows = [metric.stats(part, features, None) for part in parts]
    width = max(row.shape[1] for row in rows)
    stats = np.concatenate([np.pad(r, ((0, 0), (0, width - r.shape[1])), constant_values=np.nan) for r in rows])
    return metric, stats, parts, features


def test_reduce_is_mauve_of_all_texts(mixed):
    metric, stats, parts, features = mixed
    x = np.concatenate([features.vectors(Seeded(), part.candidate_ids).reshape(-1, 8) for part in parts])
    y = np.concatenate([features.vectors(Seeded(), part.reference_ids).reshape(-1, 8) for part in parts])
    assert isinstance(metric, Metric)
    assert not isinstance(metric, Testable)
    assert metric.reduce(stats) == pytest.approx(statistic.mauve(x, y, 5), abs=0.02)
    assert metric.reduce(stats[::-1]) == pytest.approx(metric.reduce(stats), rel=1e-9)
    assert np.isnan(metric.per_example(stats)).all()


def test_weights(mixed):
    metric, stats, _, _ = mixed
    ones = np.ones((2, len(stats)))
    assert metric.reduce(stats, ones) == pytest.approx([metric.reduce(stats)] * 2)
    assert metric.reduce(stats, 2 * ones) == pytest.approx([metric.reduce(stats)] * 2)
    ones[1, :5] = 0
    assert metric.reduce(stats, ones)[1] != pytest.approx(metric.reduce(stats), abs=1e-9)
    assert not metric.spec.shardable


def test_details_show_the_spread(mixed):
    metric, stats, _, _ = mixed
    details = metric.details(stats)
    assert details["values_by_seed"][0] == pytest.approx(metric.reduce(stats))
    assert details["sd_over_seeds"] == pytest.approx(np.std(details["values_by_seed"], ddof=1))
    assert set(details["values_by_k"]) == {"2", "10"}


def test_no_examples():
    metric = Mauve(embedding=Seeded())
    assert np.isnan(metric.reduce(np.empty((0, 1))))
    assert metric.details(np.empty((0, 1))) == {}


def test_statistics_of_another_process_are_refused(mixed):
    _, stats, _, _ = mixed
    with pytest.raises(HarnessError, match="by the metric that made them, in the same process"):
        Mauve(embedding=Seeded()).reduce(stats)


def test_per_example_with_p_values():
    metric = MauvePerExample(embedding=Seeded())
    features = FeatureCache()
    batch = features.batch([*sets_of(3, 5, 4), CaptionSet("same", ("a",) * 5, ("a",) * 4)])
    observed = metric.per_example(metric.stats(batch, features, None))
    got = metric_p_values(metric, batch, features, None, observed)
    assert isinstance(metric, Testable)
    assert metric.spec.name == "mauve-example(seeded)"
    assert observed[3] == pytest.approx(1.0)
    assert got.values[3] == 1.0
    assert ((got.values >= got.floor) & (got.values <= 1)).all()


def test_mistakes_are_told():
    with pytest.raises(HarnessError, match="k is 'auto' or an integer from 2; found 1"):
        Mauve(embedding=Seeded(), k=1)
    assert Mauve(embedding=Seeded(), seed=1).signature() != Mauve(embedding=Seeded()).signature()
