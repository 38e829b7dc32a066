"""Jackknife over groups: groups of equal sizes, the interval of a mean,
reasons for none.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, OwnInterval
from harness.run.features import FeatureCache
from harness_metrics.sets import grouped_jackknife, neighbour_metrics
from harness_metrics.sets.corpus_metrics import CorpusFrechet, CorpusMmd
from harness_metrics.sets.neighbour_metrics import Coverage
from harness_metrics.sets.redundancy_metrics import CompressionRatio, MsJaccard
from harness_metrics.sets.spectrum_metrics import CorpusVendi


def interval_of(number, examples, seed, bounds=None):
    """Return the interval of a number over groups of examples."""
    left_out = grouped_jackknife.without_groups(number, examples, seed)
    return grouped_jackknife.interval_of(number(np.arange(examples)), left_out, bounds)


def test_groups_have_equal_sizes_and_depend_on_the_seed():
    groups = grouped_jackknife.groups_of(1007, 3)
    sizes = np.bincount(groups)
    assert len(sizes) == 20 and sizes.max() - sizes.min() <= 1
    assert np.array_equal(groups, grouped_jackknife.groups_of(1007, 3))
    assert not np.array_equal(groups, grouped_jackknife.groups_of(1007, 4))
    assert sorted(grouped_jackknife.groups_of(5, 0)) == [0, 1, 2, 3, 4]


def test_the_interval_of_a_mean_of_few_examples_is_that_of_student():
    from scipy import stats

    x = np.random.default_rng(0).normal(3, 2, 15)
    result = interval_of(lambda rows: float(x[rows].mean()), 15, 0)
    expected = stats.t.interval(
        0.95, 14, loc=x.mean(), scale=x.std(ddof=1) / np.sqrt(15)
    )
    assert result.ends == pytest.approx(expected)
    assert result.note.startswith("jackknife over 15 groups of examples")


def test_the_interval_of_a_mean_covers_as_often_as_it_says():
    rng = np.random.default_rng(1)
    hits = 0
    for trial in range(400):
        x = rng.exponential(size=200)
        low, high = interval_of(
            lambda rows, x=x: float(x[rows].mean()), 200, trial
        ).ends or (np.nan, np.nan)
        hits += low <= 1.0 <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_numbers_without_spread_or_value_have_a_reason_and_bounds_are_held():
    assert interval_of(lambda rows: 1.0, 30, 0).note == grouped_jackknife.NO_SPREAD
    assert (
        "undefined without some groups" in interval_of(lambda rows: np.nan, 30, 0).note
    )
    x = np.repeat([0.0, 1.0], [1, 9])
    result = interval_of(lambda rows: float(x[rows].mean()), 10, 0, (0.0, 1.0))
    assert result.ends is not None and result.ends[1] == 1.0


@pytest.mark.parametrize(
    "metric",
    [
        CorpusVendi(embedding="bow"),
        CorpusFrechet(embedding="bow"),
        CorpusMmd(embedding="bow", features=32, sigma=1.0),
        Coverage(embedding="bow", k=1),
        CompressionRatio(),
        MsJaccard(n=1, tokenizer="none"),
    ],
    ids=lambda metric: metric.spec.name,
)
def test_numbers_of_corpora_have_intervals(metric, caption_sets):
    value, interval = caption_sets(metric)
    assert interval.ends is not None and interval.ends[0] <= value <= interval.ends[1]
    assert (
        "halves of the examples"
        if isinstance(metric, Coverage)
        else "groups of examples"
    ) in interval.note


def test_large_corpora_have_a_reason(caption_sets, monkeypatch):
    monkeypatch.setattr(neighbour_metrics, "MOST_TEXTS", 50)
    assert caption_sets(Coverage(embedding="bow", k=1))[1].note.startswith(
        "above 50 texts the jackknife is left out"
    )


@pytest.fixture
def caption_sets():
    """Function from a metric to its number and interval on 24 examples of three
    candidates and two references.
    """
    from harness.contracts import CaptionSet
    from harness.run import score as scoring
    from harness.run.features import FeatureCache
    from harness.run.intervals import estimate

    rng = np.random.default_rng(0)
    words = np.array(
        ["a", "dog", "cat", "runs", "sits", "on", "the", "mat", "red", "ball"]
    )
    texts = [[" ".join(rng.choice(words, 5)) for _ in range(5)] for _ in range(24)]
    sets = [
        CaptionSet(str(k), tuple(item[:3]), tuple(item[3:]))
        for k, item in enumerate(texts)
    ]

    def run(metric):
        features = FeatureCache([item.references for item in sets])
        stats = scoring.score(
            metric, scoring.batches(sets, features), features, None, 0
        ).stats
        return estimate(metric, stats, 100, 0)

    return run


def captions_of(style, count=30):
    """Return examples with four candidates and four references,
    in one of two styles of candidates.
    """
    rng = np.random.default_rng(3)
    words = [
        "dog",
        "cat",
        "runs",
        "sleeps",
        "park",
        "house",
        "red",
        "old",
        "man",
        "ball",
    ]
    sets = []
    for k in range(count):
        texts = [
            " ".join(rng.choice(words[: 10 if j < 4 else style], 6)) for j in range(8)
        ]
        sets.append(CaptionSet(str(k), tuple(texts[4:]), tuple(texts[:4])))
    return sets


@pytest.mark.parametrize(
    "metric",
    [
        CorpusVendi(embedding="bow"),
        CorpusFrechet(embedding="bow"),
        Coverage(embedding="bow", k=2),
        neighbour_metrics.Density(embedding="bow", k=2),
        CompressionRatio(),
        MsJaccard(n=2, tokenizer="none"),
    ],
    ids=lambda metric: metric.spec.name,
)
def test_numbers_without_parts_are_those_of_the_other_examples_of_the_same_parts(
    metric,
):
    assert isinstance(metric, OwnInterval)
    numbers = []
    for style in (10, 4):
        sets = captions_of(style)
        features = FeatureCache([item.references for item in sets])
        stats = metric.stats(
            features.batch(sets),
            features,
            metric.fit([item.references for item in sets], features),
        )

        left_out = metric.left_out(stats, 5)
        if left_out.share == 0.5:
            expected = grouped_jackknife.without_halves(
                lambda rows, x=stats: metric.reduce(x[rows]), 30, 5
            )
            assert len(left_out.values) == 2 * left_out.freedom == 20
        else:
            group = grouped_jackknife.groups_of(30, 5)
            expected = grouped_jackknife.of_groups(
                np.array([metric.reduce(stats[group != g]) for g in range(20)])
            )

        np.testing.assert_allclose(left_out.values, expected.values, rtol=1e-6)
        assert (left_out.share, left_out.freedom) == (expected.share, expected.freedom)
        numbers.append(left_out.values)

        ends = metric.interval(stats, 100, 5).ends
        assert ends is not None and ends[0] <= metric.reduce(stats) <= ends[1]
    assert not np.allclose(*numbers)


def test_halves_are_complements_and_give_the_variance_of_a_mean():
    parts = []
    grouped_jackknife.without_halves(
        lambda rows: float(parts.append(rows.tolist()) or 0), 41, 0
    )
    assert all(
        sorted(one + other) == list(range(41))
        for one, other in zip(parts[::2], parts[1::2])
    )
    assert len({tuple(part) for part in parts}) == 20
    rng = np.random.default_rng(2)
    variances = []
    for trial in range(300):
        x = rng.normal(size=40)
        left_out = grouped_jackknife.without_halves(
            lambda rows, x=x: float(x[rows].mean()), 40, trial
        )
        variances.append(np.mean((left_out.values - left_out.values.mean()) ** 2))
    assert np.mean(variances) == pytest.approx(1 / 40, rel=0.06)


def test_a_neighbour_statistic_leaves_out_halves_between_20_and_1000_examples():
    metric = Coverage(embedding="bow", k=2)
    sets = captions_of(10, 20)
    features = FeatureCache([item.references for item in sets])
    stats = metric.stats(features.batch(sets), features, None)
    assert "20 halves of the examples" in metric.interval(stats, 100, 0).note
    assert "19 groups of examples" in metric.interval(stats[:19], 100, 0).note
    assert metric.left_out(stats[:19], 0).freedom == 18
