"""MAUVE as a metric: of the corpus, and per example."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, Metric, Objects, Permutes, join_statistics
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats.significance import metric_p_values
from harness_metrics.mauve.metric import Mauve, MauvePerExample
from tests.support.mauve import mauve


class Seeded:
    """Embedding by a fixed random vector for each text."""

    name = "seeded"

    def signature(self):
        return "seeded"

    def fit(self, references):
        pass

    def encode(self, texts):
        return np.stack(
            [
                np.random.default_rng(list(text.encode())).normal(size=8)
                for text in texts
            ]
        ).astype(np.float32)


def sets_of(number, n, m, start=0):
    return [
        CaptionSet(
            str(i),
            tuple(f"c{i} {j}" for j in range(n)),
            tuple(f"r{i} {j}" for j in range(m)),
        )
        for i in range(start, start + number)
    ]


@pytest.fixture
def mixed():
    """Statistics of a corpus with two shapes."""
    features = FeatureCache()
    metric = Mauve(embedding=Seeded(), k=5)
    parts = [
        features.batch(sets_of(20, 4, 3)),
        features.batch(sets_of(10, 2, 5, start=20)),
    ]
    rows = [metric.stats(part, features, None) for part in parts]
    return metric, join_statistics(rows), parts, features


def test_reduce_is_mauve_of_all_texts(mixed):
    metric, stats, parts, features = mixed
    x = np.concatenate(
        [
            features.vectors(Seeded(), part.candidate_ids).reshape(-1, 8)
            for part in parts
        ]
    )
    y = np.concatenate(
        [
            features.vectors(Seeded(), part.reference_ids).reshape(-1, 8)
            for part in parts
        ]
    )
    assert isinstance(metric, Metric)
    assert not isinstance(metric, Permutes)
    assert metric.reduce(stats) == pytest.approx(mauve(x, y, 5), rel=1e-9)
    assert metric.reduce(stats[::-1]) == pytest.approx(metric.reduce(stats), rel=1e-9)
    assert np.isnan(metric.per_example(stats)).all()


def test_weights(mixed):
    metric, stats, _, _ = mixed
    ones = np.ones((2, len(stats)))
    assert metric.reduce(stats, ones) == pytest.approx([metric.reduce(stats)] * 2)
    assert metric.reduce(stats, 2 * ones) == pytest.approx([metric.reduce(stats)] * 2)
    ones[1, :5] = 0
    assert metric.reduce(stats, ones)[1] != pytest.approx(
        metric.reduce(stats), abs=1e-9
    )
    assert not metric.spec.resampled


def test_details_show_the_spread(mixed):
    metric, stats, _, _ = mixed
    details = metric.details(stats)
    assert details["values_by_seed"][0] == pytest.approx(metric.reduce(stats))
    assert details["sd_over_seeds"] == pytest.approx(
        np.std(details["values_by_seed"], ddof=1)
    )
    assert set(details["values_by_k"]) == {"2", "10"}


def test_no_examples():
    metric = Mauve(embedding=Seeded())
    assert np.isnan(metric.reduce(np.empty((0, 1))))
    assert metric.details(np.empty((0, 1))) == {}


def test_two_interleaved_runs_keep_their_own_texts():
    """Each features object numbers its texts from 0;
    statistics must not depend on the one seen last.
    """
    runs = {"first": sets_of(20, 4, 3), "second": sets_of(16, 3, 5, start=50)}
    expected = {}
    for name, sets in runs.items():
        metric = Mauve(embedding=Seeded(), k=5)
        features = FeatureCache([item.references for item in sets])
        stats = metric.stats(features.batch(sets), features, None)
        expected[name] = metric.reduce(stats)

    metric = Mauve(embedding=Seeded(), k=5)
    caches = {
        name: FeatureCache([item.references for item in sets])
        for name, sets in runs.items()
    }
    parts = {name: [] for name in runs}
    for half in (slice(0, 8), slice(8, None)):
        for name, sets in runs.items():
            batch = caches[name].batch(sets[half])
            parts[name].append(metric.stats(batch, caches[name], None))
    values = {
        name: metric.reduce(join_statistics(rows)) for name, rows in parts.items()
    }

    assert values == expected
    assert values["first"] != pytest.approx(values["second"])


def test_statistics_can_be_reduced_by_another_instance_and_after_the_run(
    mixed, tmp_path
):
    metric, stats, _, _ = mixed
    np.savez(tmp_path / "rows.npz", **stats.to_arrays())
    with np.load(tmp_path / "rows.npz") as stored:
        assert Mauve(embedding=Seeded(), k=5).reduce(
            Objects.from_arrays(stored)
        ) == metric.reduce(stats)


def test_rows_of_small_examples_alone_have_the_value_of_their_own_statistics(mixed):
    metric, stats, parts, features = mixed
    assert metric.reduce(stats[20:]) == metric.reduce(
        metric.stats(parts[1], features, None)
    )


def test_vectors_of_different_lengths_are_an_error(mixed):
    _, stats, _, _ = mixed
    other = Objects(
        {name: values[:, :4] for name, values in stats.columns.items()},
        stats.counts,
        stats.defined,
    )
    with pytest.raises(
        HarnessError,
        match=r"arrays 'candidates' of the shapes \(8,\) and \(4,\) "
        r"behind the first axis",
    ):
        join_statistics([stats, other])


def test_per_example_with_p_values():
    metric = MauvePerExample(embedding=Seeded())
    features = FeatureCache()
    batch = features.batch(
        [*sets_of(3, 5, 4), CaptionSet("same", ("a",) * 5, ("a",) * 4)]
    )
    observed = metric.per_example(metric.stats(batch, features, None))
    p = metric_p_values(metric, batch, features, None, observed)
    assert isinstance(metric, Permutes)
    assert metric.spec.name == "mauve-example(seeded)"
    assert observed[3] == pytest.approx(1.0)
    assert p.values[3] == 1.0
    assert ((p.values >= p.floor) & (p.values <= 1)).all()


@pytest.mark.parametrize("k", [1, True, 2.0, "five"])
def test_a_bad_number_of_buckets_is_an_error(k):
    with pytest.raises(
        HarnessError, match=f"k is {k!r}; expected 'auto' or an integer of at least 2"
    ):
        Mauve(embedding=Seeded(), k=k)


def test_at_least_one_start_of_k_means_is_required():
    with pytest.raises(HarnessError, match="redo is 0; expected at least 1 start"):
        MauvePerExample(embedding=Seeded(), redo=0)


def test_the_signature_holds_the_settings():
    assert (
        Mauve(embedding=Seeded()).signature()
        == "mauve|k:auto|c:5|redo:5|seed:25|seeded"
    )
    assert (
        MauvePerExample(embedding=Seeded(), k=3, seed=1).signature()
        == "mauve-example|k:3|c:5|redo:5|seed:1|seeded"
    )
