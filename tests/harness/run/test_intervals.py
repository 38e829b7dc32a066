"""Intervals of metrics: their own, the bootstrap, or the reason for none."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import harness
from harness.contracts import (
    CaptionSet,
    Interval,
    MeanMetric,
    MetricSpec,
    Objects,
    OwnInterval,
)
from harness.errors import HarnessError
from harness.registry import current
from harness.run import intervals, score
from harness.run.features import FeatureCache
from harness.run.intervals import estimate, nominal_estimate
from harness.run.metric_plan import metric_plans
from harness.run.score import score_sets
from harness.stats import bootstrap, jackknife
from harness.stats.quantiles import wilson_interval
from harness.testing.sample_captions import caption_sets

ROWS = np.arange(5.0)[:, None]
CAPTIONS = [
    "a dog runs in the park",
    "two cats sleep on a bed",
    "a red bus drives by",
    "a boat lies on the lake",
    "one man waits there",
]
"""Each has words of every order of BLEU."""
COLOURS = [
    "red apples lie in a bowl",
    "a green door stands open",
    "the blue sea lies calm",
    "white horses run past us",
]
REPEATED = ["one one one one", "two two two two two", "three three three three"]
EMBEDDED = [
    "corpus-frechet",
    "corpus-mmd",
    "corpus-vendi",
    "density",
    "energy",
    "frechet",
    "sliced-wasserstein",
]


class Mean(MeanMetric):
    def __init__(self, resampled: bool = True) -> None:
        self.spec = MetricSpec("mean", True, resampled=resampled)


class Fixed(Mean):
    def interval(self, stats: np.ndarray, samples: int, seed: int) -> Interval:
        return Interval((float(samples), float(seed)), "fixed")


@pytest.mark.parametrize(
    ("metric", "rows", "samples", "note"),
    [
        (Mean(), ROWS, 0, ""),
        (Mean(), ROWS[:1], 50, intervals.NO_EXAMPLES),
        (Mean(), ROWS[:0], 50, intervals.NO_EXAMPLES),
        (Mean(resampled=False), ROWS, 50, intervals.NOT_RESAMPLED),
        (Mean(), np.ones((5, 1)), 50, bootstrap.NO_SPREAD),
    ],
)
def test_the_reason_for_no_interval(metric, rows, samples, note):
    assert intervals.estimate(metric, rows, samples, 0)[1] == Interval(None, note)


def test_a_metric_may_compute_its_interval():
    assert isinstance(Fixed(), OwnInterval)
    assert not isinstance(Mean(), OwnInterval)
    assert intervals.nominal_estimate(Fixed(), ROWS, 50, 3) == (
        2.0,
        Interval((50.0, 3.0), "fixed"),
    )
    value, interval = intervals.nominal_estimate(Mean(), ROWS, 50, 3)
    assert interval.ends is not None
    assert interval.ends[0] <= value <= interval.ends[1]
    assert interval.note == ""


class Share(MeanMetric):
    def __init__(self, bounds: tuple[float, float] | None = (0.0, 2.0)) -> None:
        self.spec = MetricSpec("share", True, bounds=bounds)


@pytest.mark.parametrize("bounds", [(1.0, 4.0), (-2.0, 0.0)])
def test_the_interval_of_a_share_is_moved_to_the_bounds(bounds):
    low, high = bounds
    rows = np.array([low, high, high, high])[:, None]
    ends = wilson_interval(0.75, 4)
    expected = (low + (high - low) * ends[0], low + (high - low) * ends[1])
    assert intervals.estimate(Share(bounds), rows, 50, 0)[1].ends == pytest.approx(
        expected
    )


def test_another_reduction_of_scores_at_their_bounds_is_no_share():
    class Square(Share):
        def reduce(self, stats, weights=None):
            return super().reduce(stats, weights) ** 2

    rows = np.repeat([0.0, 1.0], 20)[:, None]
    expected = bootstrap.confidence_interval(
        functools.partial(Square().reduce, rows), 40, 50, 0
    )
    assert (
        intervals.nominal_estimate(Square((0.0, 1.0)), rows, 50, 0)[1].ends == expected
    )


@pytest.mark.parametrize("scores", [[0, 2, 2, 0, 2], [0] * 5, [2] * 5])
def test_scores_at_their_bounds_have_the_interval_of_a_share(scores):
    rows = np.array(scores, dtype=float)[:, None]
    low, high = wilson_interval(float(rows.mean()) / 2, 5)
    assert intervals.estimate(Share(), rows, 50, 0)[1].ends == pytest.approx(
        (2 * low, 2 * high)
    )


def test_a_share_is_that_of_the_first_column():
    rows = np.array([[0.0, 1], [2, 7], [2, 3], [0, 2], [2, 2]])
    low, high = wilson_interval(0.6, 5)
    assert intervals.nominal_estimate(Share(), rows, 50, 0)[1].ends == pytest.approx(
        (2 * low, 2 * high)
    )


@pytest.mark.parametrize("bounds", [(0.0, np.inf), (-np.inf, 0.0)])
def test_scores_at_the_one_finite_bound_are_no_share(bounds):
    assert intervals.nominal_estimate(Share(bounds), np.zeros((5, 1)), 50, 0)[
        1
    ] == Interval(None, bootstrap.NO_SPREAD)


@pytest.mark.parametrize("captions", [CAPTIONS, COLOURS, REPEATED])
@pytest.mark.parametrize("metric", ["bleu1", "bleu2", "bleu3", "bleu4", "rouge"])
def test_a_number_at_a_bound_but_for_constants_has_the_interval_of_a_share(
    captions, metric
):
    low, high = wilson_interval(1.0, len(captions))
    value, perfect = nominal_estimate(*_statistics(metric, captions, captions), 1000, 0)
    assert (
        value == pytest.approx(1, abs=2e-9)
        and perfect.ends == (low, high)
        and high == 1
    )
    value, nothing = nominal_estimate(
        *_statistics(metric, ["zzz qqq"] * len(captions), captions), 1000, 0
    )
    assert value == pytest.approx(0, abs=1e-9) and nothing.ends == pytest.approx(
        (0.0, 1 - low), abs=1e-15
    )


def test_perfect_and_zero_systems_have_equal_intervals_by_bleu_and_rouge():
    captions = ["a dog runs", "two cats", "a red bus", "a boat on a lake", "one man"]
    for candidates, ends in (
        (captions, (0.5655175, 1.0)),
        (["zzz qqq"] * 5, (0.0, 0.4344825)),
    ):
        scores = harness.score(candidates, captions, ["bleu1", "rouge"])
        assert [result.ci95 for result in scores.values()] == [
            pytest.approx(ends, abs=1e-7)
        ] * 2


@pytest.mark.parametrize(
    ("order", "captions"),
    [
        (2, ["a bus", "two cats"]),
        (3, ["a dog", "red car here"]),
        (4, ["a red bus", "dog", "x y"]),
    ],
)
def test_captions_without_an_n_gram_of_the_order_have_a_number_of_zero(order, captions):
    """They share words with their references,
    and have none of the highest order in common.
    """
    references = [
        f"{caption.split()[0]} is what was seen there" for caption in captions
    ]
    value, interval = nominal_estimate(
        *_statistics(f"bleu{order}", captions, references), 1000, 0
    )
    assert value < 0.1 and interval.ends == pytest.approx(
        (0.0, 1 - wilson_interval(1.0, len(captions))[0]), abs=1e-15
    )


def test_a_mean_of_scores_at_both_bounds_but_for_the_constants_is_a_share():
    candidates = ["a dog runs far", "zzz", "two cats sleep here"]
    references = ["a dog runs far", "a boat on a lake", "two cats sleep here"]
    ends = nominal_estimate(
        *_statistics({"best": {"metric": "bleu1"}}, candidates, references), 1000, 0
    )[1].ends
    assert ends == pytest.approx(wilson_interval(2 / 3, 3))


def test_scores_of_one_size_but_for_the_constants_have_no_spread():
    """3 of 6 words, 4 of 8 words and 5 of 10 words differ in the tenth digit."""
    candidates = [
        " ".join([*(f"w{k}" for k in range(n)), *(f"other{k}" for k in range(n))])
        for n in (3, 4, 5)
    ]
    references = [" ".join(f"w{k}" for k in range(2 * n)) for n in (3, 4, 5)]
    result = harness.score(candidates, references, "bleu1")["bleu1"]
    assert result.value == pytest.approx(0.5) and (
        result.ci95,
        result.interval_note,
    ) == (None, bootstrap.NO_SPREAD)


@pytest.mark.parametrize(
    ("candidates", "references"),
    [
        (
            ["a bus on the road", "a cat"],
            ["a red bus drives on the road", "a small cat sleeps"],
        ),
        (
            ["the dog", "a man sits on it", "snow"],
            ["the dog", "a man sits on a bench", "much snow lies there"],
        ),
        (["one", "two three four"], ["one two", "two three four"]),
    ],
)
def test_an_interval_of_edits_does_not_go_below_none(candidates, references):
    result = harness.score(candidates, references, "ter")["ter"]
    assert result.ci95 is None or 0 <= result.ci95[0] <= result.value <= result.ci95[1]
    nominal = nominal_estimate(*_statistics("ter", candidates, references), 1000, 0)[
        1
    ].ends
    assert nominal is not None and nominal[0] == 0


def _statistics(name, candidates, references):
    (plan,) = metric_plans([name])
    sets = [
        CaptionSet(str(k), (text,), (reference,))
        for k, (text, reference) in enumerate(zip(candidates, references))
    ]
    (scored,) = score_sets([plan.metric], sets)
    return plan.metric, scored.stats


@pytest.mark.parametrize(
    "metric", ["bleu1", "rouge", "cider", "corpus-vendi:embedding=bow", "cr"]
)
@pytest.mark.parametrize(
    "ids",
    [
        ["0", "1", "2", "3", "4"],
        ["b", "a", "dog", "c10", "c9"],
        ["x/2", "x/10", "y", "x/1", "z"],
    ],
)
def test_an_interval_does_not_depend_on_the_order_of_a_file(metric, ids):
    candidates = [
        "a dog runs",
        "two cats lie there",
        "a red car",
        "boat on the lake",
        "a man",
    ]
    references = [[caption] for caption in CAPTIONS]
    rows = list(zip(ids, candidates, references))
    results = [
        next(
            iter(
                harness.score(
                    {k: text for k, text, _ in rows[::step]},
                    {k: texts for k, _, texts in rows[::step]},
                    metric,
                ).values()
            )
        )
        for step in (1, -1)
    ]
    assert results[0].ci95 == pytest.approx(results[1].ci95, abs=1e-12) and results[
        0
    ].value == pytest.approx(results[1].value, abs=1e-12)


@pytest.mark.parametrize("clusters", [None, np.array(["v", "u", "v", "w", "u", "t"])])
def test_examples_are_resampled_in_an_order(clusters):
    rows = np.array([0.1, 0.9, 0.4, 0.3, 0.8, 0.5])[:, None]
    order = np.array([3, 0, 5, 1, 2, 4])
    given = estimate(Mean(), rows, 50, 0, clusters, order)
    reordered = estimate(
        Mean(), rows[order], 50, 0, None if clusters is None else clusters[order]
    )
    assert (
        given[1] == reordered[1]
        and given[1] != estimate(Mean(), rows, 50, 0, clusters)[1]
    )


def test_other_scores_are_resampled():
    rows = np.array([0.0, 2, 1, 0, 2])[:, None]
    for metric, part in (
        (Share(), rows),
        (Share(None), np.delete(rows, 2, 0)),
        (Share((0, np.inf)), np.delete(rows, 2, 0)),
    ):
        expected = bootstrap.confidence_interval(
            functools.partial(metric.reduce, part), len(part), 50, 0
        )
        low, high = metric.spec.bounds or (-np.inf, np.inf)
        assert expected is not None
        assert intervals.estimate(metric, part, 50, 0)[1].ends == (
            max(expected[0], low),
            min(expected[1], high),
        )
    assert intervals.estimate(Share(None), np.full((5, 1), np.inf), 50, 0)[
        1
    ] == Interval(None, intervals.NOT_FINITE)


class Fitted(Mean):
    def __init__(self) -> None:
        self.spec = MetricSpec("mean", True, held_fixed="vocabulary held fixed")


def test_the_note_says_what_is_held_fixed():
    assert (
        intervals.nominal_estimate(Fitted(), ROWS, 50, 0)[1].note
        == "vocabulary held fixed"
    )
    assert (
        intervals.estimate(Fitted(), ROWS, 50, 0)[1].note
        == "vocabulary held fixed; how often such an interval holds the true value "
        "is not measured"
    )
    assert (
        intervals.estimate(Fitted(), np.ones((5, 1)), 50, 0)[1].note
        == bootstrap.NO_SPREAD
    )


def test_intervals_of_clusters_are_wider_where_examples_of_a_cluster_are_equal():
    rows = np.repeat(np.random.default_rng(0).standard_normal(50), 8)[:, None]
    clusters = np.repeat(np.arange(50), 8).astype(str)
    alone = intervals.nominal_estimate(Mean(), rows, 500, 0)[1].ends
    interval = intervals.nominal_estimate(Mean(), rows, 500, 0, clusters)[1]
    of_clusters = intervals.nominal_estimate(Mean(), rows[::8], 500, 0)[1].ends
    assert interval.ends == pytest.approx(of_clusters)
    assert interval.ends[1] - interval.ends[0] > 2 * (alone[1] - alone[0])
    assert interval.note == "50 clusters resampled"
    assert (
        intervals.nominal_estimate(Mean(), rows[:16], 500, 0, clusters[:16])[1].ends
        is not None
    ), "two are enough"
    same = intervals.nominal_estimate(Mean(), rows, 500, 0, np.zeros(400))[1]
    assert same == Interval(None, "an interval needs at least two clusters")


def test_many_examples_are_resampled_by_sums(monkeypatch):
    monkeypatch.setattr(bootstrap, "LARGE", 5)
    rows = np.array([0.0, 1, 4, 9, 16])[:, None]
    by_sums = bootstrap.large_interval(Mean(), rows, 6.0, 50, 0)[1]
    assert intervals.nominal_estimate(Mean(), rows, 50, 0)[1].ends == by_sums
    assert (
        bootstrap.confidence_interval(functools.partial(Mean().reduce, rows), 5, 50, 0)
        != by_sums
    )
    more = np.append(rows, [[25.0]], axis=0)
    assert (
        intervals.nominal_estimate(Mean(), more, 50, 0)[1].ends
        == bootstrap.large_interval(Mean(), more, float(more.mean()), 50, 0)[1]
    )
    assert intervals.nominal_estimate(Mean(), np.ones((6, 1)), 50, 0)[1] == Interval(
        None, bootstrap.NO_SPREAD
    )
    fewer = bootstrap.confidence_interval(
        functools.partial(Mean().reduce, rows[:4]), 4, 50, 0
    )
    assert intervals.nominal_estimate(Mean(), rows[:4], 50, 0)[1].ends == fewer

    class Square(Mean):
        def reduce(self, stats, weights=None):
            return super().reduce(stats, weights) ** 2

    expected = bootstrap.confidence_interval(
        functools.partial(Square().reduce, rows), 5, 50, 0
    )
    assert intervals.nominal_estimate(Square(), rows, 50, 0)[1].ends == expected, (
        "its sums do not give the number"
    )

    class Lengths(Mean):
        def reduce(self, stats, weights=None):
            return super().reduce(
                np.array([[len(item["text"])] for item in stats], dtype=float), weights
            )

    objects = Objects.of([{"text": "x" * int(row)} for row in rows[:, 0]], "mean")
    expected = bootstrap.confidence_interval(
        functools.partial(Mean().reduce, rows), 5, 50, 0
    )
    assert intervals.nominal_estimate(Lengths(), objects, 50, 0)[
        1
    ].ends == pytest.approx(expected)


class Maximum:
    """The maximum, a number of the corpus, with the interval of its own that the class
    gets.
    """

    def __init__(self, resampled=True, bounds=None):
        self.spec = MetricSpec(
            "maximum",
            True,
            level="corpus",
            resampled=resampled,
            bounds=bounds,
            held_fixed="words held fixed",
        )

    def reduce(self, stats, weights=None):
        return (
            float(stats[:, 0].max())
            if weights is None
            else np.where(weights > 0, stats[:, 0], -np.inf).max(axis=1)
        )


class OwnMaximum(Maximum):
    def interval(self, stats, samples, seed):
        return Interval((0.0, 1.0))


@pytest.mark.parametrize("metric", [OwnMaximum(), Maximum(resampled=False)])
def test_clusters_of_a_number_that_repeated_examples_bias_are_left_out_one_by_one(
    metric,
):
    rows = np.array([[3.0], [9.0], [5.0], [4.0]])
    clusters = np.array(["a", "b", "c", "a"])
    value, interval = intervals.nominal_estimate(metric, rows, 50, 0, clusters)
    # Without a: 9, without b: 5, without c: 9.
    assert (value, interval.ends) == (
        9.0,
        pytest.approx(jackknife.interval(9.0, np.array([9.0, 5.0, 9.0]))),
    )
    assert interval.note == "words held fixed; 3 clusters resampled"
    same = intervals.nominal_estimate(metric, np.ones((4, 1)), 50, 0, clusters)[1]
    assert same == Interval(None, bootstrap.NO_SPREAD)


@pytest.mark.parametrize("metric", [Maximum(), Fixed(), Mean(resampled=False)])
def test_clusters_of_other_numbers_are_resampled(metric):
    rows = np.array([[3.0], [9.0], [5.0], [4.0]])
    clusters = np.array(["a", "b", "c", "a"])
    value, interval = intervals.nominal_estimate(metric, rows, 50, 0, clusters)

    def reduce(weights):
        return metric.reduce(rows, weights[:, [0, 1, 2, 0]])

    assert interval.ends == bootstrap.confidence_interval(reduce, 3, 50, 0)
    assert value == metric.reduce(rows)


def test_intervals_of_clusters_lie_within_the_bounds():
    rows = np.array([[3.0], [9.0], [5.0], [4.0]])
    clusters = np.arange(4)
    low, high = intervals.nominal_estimate(
        OwnMaximum(bounds=(0.0, 9.5)), rows, 50, 0, clusters
    )[1].ends
    assert high == 9.5 and 0 <= low < 9
    assert intervals.nominal_estimate(
        OwnMaximum(bounds=(8.0, 8.5)), rows, 50, 0, clusters
    )[1].ends == (8.0, 9.0), "the value is inside"


@pytest.mark.parametrize("value", [None, "0.5", b"1", [1.0, 2.0]])
def test_a_reduction_that_gives_no_number_is_one_line(value):
    class Other(Mean):
        def reduce(self, stats, weights=None):
            return value

    with pytest.raises(
        HarnessError,
        match="metric 'mean' reduces its statistics to .*; expected one number",
    ):
        intervals.estimate(Other(), ROWS, 50, 0)


class Symmetric(Fixed):
    def __init__(self) -> None:
        self.spec = MetricSpec("share", True, bounds=(0.0, 1.0))

    def interval(self, stats, samples, seed):
        return Interval((-0.5, 1.5), "symmetric")


@pytest.mark.parametrize("count", [2, 100])
def test_intervals_lie_within_the_bounds(count):
    rows = np.linspace(0, 1, count)[:, None]
    assert intervals.nominal_estimate(Symmetric(), rows, 50, 0)[1] == Interval(
        (0.0, 1.0), "symmetric"
    )


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *(
            (name, {})
            for name in (
                "cr",
                "nrr",
                "cnd",
                "compression-ratio",
                "caption-length",
                "vocabulary",
                "entropy",
            )
        ),
        ("cnd", {"form": "unbiased"}),
        ("ms-jaccard", {}),
        *((name, {"embedding": "bow"}) for name in EMBEDDED),
    ],
)
def test_intervals_of_few_examples_lie_within_the_range_of_the_metric(
    name, parameters, count
):
    metric = current().create("metrics", name, parameters)
    sets = caption_sets(count=count)
    features = FeatureCache([item.references for item in sets])
    stats = score.score(metric, score.batches(sets, features), features, None, 0).stats
    value, interval = intervals.nominal_estimate(metric, stats, 200, 0)
    low, high = metric.spec.bounds
    if interval.ends is not None:
        assert low <= interval.ends[0] <= value <= interval.ends[1] <= high
