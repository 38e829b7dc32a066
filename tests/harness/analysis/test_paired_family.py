"""Tests of many pairs under one family of draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.analysis import paired_family
from harness.analysis.paired_family import (
    NOT_RESAMPLED,
    PairedMetric,
    SystemData,
    jackknife_note,
    paired_tests,
)
from harness.contracts import CaptionSet, Interval, LeftOut, MeanMetric, MetricSpec
from harness.errors import HarnessError
from harness.run.metric_plan import metric_plans
from harness.run.score import score_sets
from harness.stats import jackknife
from harness.stats.draws import DrawFamily
from harness.stats.resampled_difference import difference_of_statistics

REFERENCES = [
    "a dog runs in the park",
    "two cats sleep on a bed",
    "a red bus drives by",
    "a boat lies on the lake",
    "one man waits there",
]


class Mean(MeanMetric):
    """Mean of the first column."""

    spec = MetricSpec("mean", True)


class Ratio(MeanMetric):
    """Ratio of two sums: a reduction of its own, without addends of its own."""

    spec = MetricSpec("ratio", True, "corpus")

    def reduce(self, stats, weights=None):
        rows = np.ones((1, len(stats))) if weights is None else weights
        sums = rows @ np.nan_to_num(stats)
        values = sums[:, 0] / sums[:, 1]
        return float(values[0]) if weights is None else values


class Ranked(Ratio):
    """A number that depends on all rows, whatever their weight."""

    def reduce(self, stats, weights=None):
        return super().reduce(stats, weights) * len(stats)


class Unfitted(Ratio):
    def reduce(self, stats, weights=None):
        raise HarnessError("is not fitted")


def data(rng, n=40, missing=()):
    stats = np.column_stack([rng.poisson(4, n), rng.poisson(9, n) + 1.0]).astype(float)
    stats[list(missing), 0] = np.nan
    return SystemData(stats, stats[:, 0].copy())


def outcome_of(metric, a, b, draws=300):
    (result,) = paired_tests(
        [PairedMetric(metric, a, b)], DrawFamily(len(a.scores), draws, 0)
    )
    return result


def test_additive_and_general_metrics_agree_with_the_reduction_of_each_pair():
    rng = np.random.default_rng(0)
    a = data(rng)
    b = data(rng)
    for metric in (Mean(), Ratio()):
        expected = difference_of_statistics(
            metric.reduce, a.stats, b.stats, DrawFamily(40, 300, 0)
        )
        reported = outcome_of(metric, a, b).reported
        assert reported.difference == pytest.approx(expected.difference, rel=1e-12)
        assert reported.ci95 == pytest.approx(expected.ci95, rel=1e-9)
        assert (reported.p_randomisation, reported.p_bootstrap) == (
            expected.p_randomisation,
            expected.p_bootstrap,
        )


def test_a_reduction_that_disagrees_with_its_addends_is_not_additive():
    rng = np.random.default_rng(1)
    a = data(rng)
    b = data(rng)
    result = outcome_of(Ratio(), a, b)
    assert result.reported.difference == pytest.approx(
        Ratio().reduce(a.stats) - Ratio().reduce(b.stats), rel=1e-12
    )
    assert result.reported.draws == 300


def test_examples_undefined_for_one_system_are_left_out_of_both():
    rng = np.random.default_rng(2)
    a = data(rng, missing=(0, 3))
    b = data(rng, missing=(5,))
    result = outcome_of(Mean(), a, b)
    both = [k for k in range(40) if k not in (0, 3, 5)]
    assert result.n == 37
    assert result.reported.a == pytest.approx(a.stats[both, 0].mean(), rel=1e-12)
    assert result.a_larger + result.b_larger + result.ties == 37


def test_scores_that_differ_by_rounding_are_equal():
    rng = np.random.default_rng(6)
    a = data(rng)
    b = data(rng)
    b.stats[:] = a.stats
    b.scores[:] = a.scores * (1 + 1e-15)
    a.scores[0], b.scores[0] = 1.0, 2.0
    result = outcome_of(Mean(), a, b)
    assert (result.a_larger, result.b_larger, result.ties) == (0, 1, 39)


@pytest.mark.parametrize("metric", [Ranked(), Unfitted()])
def test_a_number_that_cannot_be_resampled_has_a_note(metric):
    rng = np.random.default_rng(3)
    result = outcome_of(metric, data(rng), data(rng))
    assert result.reported is None
    assert result.note == NOT_RESAMPLED
    assert 0 < result.signs.p_randomisation <= 1


def test_missing_statistics_have_a_note():
    rng = np.random.default_rng(4)
    a = data(rng)
    b = data(rng)
    assert "no statistics" in outcome_of(Mean(), a, SystemData(None, b.scores)).note
    undefined = SystemData(np.full((40, 2), np.nan), np.full(40, np.nan))
    result = outcome_of(Mean(), a, undefined)
    assert (result.reported, result.signs, result.n) == (None, None, 0)
    assert "no example" in result.note


def test_general_metrics_get_fewer_draws():
    rng = np.random.default_rng(5)
    result = outcome_of(Ratio(), data(rng), data(rng), draws=1500)
    assert result.reported.draws == paired_family.GENERAL_DRAWS
    assert result.signs.draws == 1500


def test_tests_do_not_depend_on_the_memory_limit(monkeypatch):
    rng = np.random.default_rng(6)
    systems = [data(rng) for _ in range(4)]
    items = [PairedMetric(Mean(), a, b) for a in systems for b in systems if a is not b]
    family = DrawFamily(40, 200, 0)
    whole = list(paired_tests(items, family))
    monkeypatch.setattr(paired_family, "MAX_PRODUCT", 1)
    assert repr(list(paired_tests(items, family))) == repr(whole)


@pytest.mark.equal_bits
def test_equal_columns_are_multiplied_once():
    columns = paired_family._Columns()
    one = np.arange(6.0).reshape(3, 2)
    assert columns.place(one) == columns.place(one.copy()) == slice(0, 2)
    assert columns.place(one.reshape(2, 3)) == slice(2, 5)


def test_few_examples_are_enumerated():
    a = SystemData(np.array([[3.0], [4.0], [5.0]]), np.array([3.0, 4.0, 5.0]))
    b = SystemData(np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 3.0]))
    result = outcome_of(Mean(), a, b)
    assert result.reported.exact
    assert result.reported.p_randomisation == 0.25
    assert result.signs.p_randomisation == 0.25


def test_one_example_has_no_interval():
    one = (
        SystemData(np.array([[3.0]]), np.array([3.0])),
        SystemData(np.array([[1.0]]), np.array([1.0])),
    )
    result = outcome_of(Mean(), *one)
    assert result.reported.ci95 is None
    assert result.reported.p_randomisation == 1.0


class Corpus(Ratio):
    """A number of a corpus that is not resampled,
    with the number of its computations.
    """

    calls = 0

    def reduce(self, stats, weights=None):
        assert weights is None, "resampled"
        self.calls += 1
        return super().reduce(stats)

    def left_out(self, stats, seed):
        group = np.random.default_rng([seed, len(stats)]).permutation(len(stats)) % 5
        return LeftOut(
            np.array([self.reduce(stats[group != g]) for g in range(5)]), 0.2, 4
        )


def test_a_metric_over_groups_has_a_paired_t_test_and_is_computed_once_for_a_system():
    rng = np.random.default_rng(5)
    a = data(rng, missing=(0,))
    b = data(rng, missing=(0,))
    c = data(rng, missing=(0,))
    metric = Corpus()
    results = list(
        paired_tests(
            [PairedMetric(metric, *pair) for pair in ((a, b), (a, c), (b, c))],
            DrawFamily(40, 300, 7),
        )
    )
    # each pair verifies once that the number is no function of sums
    assert metric.calls == 3 * 6 + 3
    whole = Ratio().reduce(a.stats[1:])
    parts = [metric.left_out(side.stats[1:], 7).values for side in (a, b)]
    reported = results[0].reported
    difference = LeftOut(parts[0] - parts[1], 0.2, 4)
    assert reported.difference == pytest.approx(whole - Ratio().reduce(b.stats[1:]))
    assert reported.ci95 == jackknife.interval_of_parts(reported.difference, difference)
    assert reported.p_value == jackknife.p_value_of_parts(
        reported.difference, difference
    )
    assert results[0].note == jackknife_note(difference, 39)
    assert "leaves out 5 parts of 7.8 examples, 4 degrees of freedom" in results[0].note


def test_threads_do_not_change_the_tests_and_a_number_is_computed_once_for_all_of_them(
    monkeypatch,
):
    rng = np.random.default_rng(21)
    systems = [data(rng) for _ in range(6)]
    reduced = []

    class Counted(Corpus):
        def left_out(self, stats, seed):
            reduced.append(len(stats))
            return super().left_out(stats, seed)

    metrics = [Counted(), Ratio()]
    items = [
        PairedMetric(metric, a, b)
        for a, b in itertools.combinations(systems, 2)
        for metric in metrics
    ]
    outcomes = []
    for threads in (1, 4):
        monkeypatch.setattr(
            paired_family.os, "cpu_count", lambda threads=threads: threads
        )
        outcomes.append(
            [repr(outcome) for outcome in paired_tests(items, DrawFamily(40, 200, 0))]
        )
    assert outcomes[0] == outcomes[1]
    assert len(reduced) == 2 * len(systems)


def test_an_error_in_a_thread_reaches_the_caller():
    class Broken(Corpus):
        def left_out(self, stats, seed):
            raise HarnessError("is broken")

    rng = np.random.default_rng(22)
    a = data(rng)
    b = data(rng)
    with pytest.raises(HarnessError, match="is broken"):
        list(paired_tests([PairedMetric(Broken(), a, b)] * 3, DrawFamily(40, 200, 0)))


class OwnRatio(Ratio):
    """A ratio with an interval of its own."""

    def interval(self, stats, samples, seed):
        return Interval(None)


def test_a_metric_with_an_interval_of_its_own_is_jackknifed_from_500_examples_on():
    rng = np.random.default_rng(5)
    for count, jackknifed in ((499, False), (500, True)):
        outcome = outcome_of(OwnRatio(), data(rng, n=count), data(rng, n=count))
        assert np.isnan(outcome.reported.p_randomisation) is np.bool_(jackknifed)
        assert outcome.reported.ci95 is not None
        assert (
            "leaves out 100 parts of 5 examples, 99 degrees of freedom" in outcome.note
        ) is jackknifed


def test_a_metric_over_groups_names_the_reason_for_no_interval():
    rng = np.random.default_rng(6)
    a = data(rng)
    same = outcome_of(Corpus(), a, SystemData(a.stats.copy(), a.scores.copy()))
    assert (same.reported.p_value, same.reported.ci95) == (1.0, None)
    assert (
        same.note
        == "the difference is the same, or undefined, without each part of the examples"
    )
    one = data(rng, n=1)
    assert (
        outcome_of(Corpus(), one, data(rng, n=1)).note
        == "a comparison needs at least two examples"
    )
    empty = SystemData(np.array([[1.0, 0.0], [1.0, 0.0]]), np.full(2, np.nan))
    with np.errstate(divide="ignore"):
        assert (
            outcome_of(Corpus(), empty, empty).note
            == "the number is undefined for one of the systems"
        )


def clustered(rng, clusters=60, size=4, correlation=0.3):
    """Scores of two systems of one distribution,
    whose differences correlate within clusters.
    """
    common = np.sqrt(correlation) * rng.standard_normal((clusters, 1))
    noise = np.sqrt(1 - correlation) * rng.standard_normal((clusters, size))
    difference = (common + noise).ravel()
    base = rng.standard_normal(clusters * size)
    return [
        SystemData(
            (base + sign * difference / 2)[:, None], base + sign * difference / 2
        )
        for sign in (1, -1)
    ]


@pytest.mark.slow
def test_exchanges_of_clusters_keep_the_size_of_the_test_where_examples_correlate():
    rng = np.random.default_rng(11)
    clusters = np.repeat(np.arange(60), 4)
    rejected = np.zeros((400, 3), dtype=bool)
    for run in range(len(rejected)):
        pair = clustered(rng)
        item = PairedMetric(Mean(), *pair)
        (by_cluster,) = paired_tests([item], DrawFamily(60, 400, run), clusters)
        (alone,) = paired_tests([item], DrawFamily(240, 400, run))
        low, high = by_cluster.reported.ci95
        rejected[run] = (
            by_cluster.reported.p_value <= 0.05,
            alone.reported.p_value <= 0.05,
            not low <= 0 <= high,
        )
    size, size_alone, missed = rejected.mean(axis=0)
    assert 0.025 <= size <= 0.08 and 0.02 <= missed <= 0.09
    assert size_alone > 0.1, "examples as if they were independent"


def test_metrics_that_are_no_sums_are_compared_by_clusters():
    rng = np.random.default_rng(12)
    clusters = np.repeat(np.arange(30), 3)
    a = data(rng, n=90)
    b = data(rng, n=90)
    general, own = (
        next(
            iter(
                paired_tests(
                    [PairedMetric(metric, a, b)], DrawFamily(30, 200, 0), clusters
                )
            )
        )
        for metric in (Ratio(), Corpus())
    )
    assert general.reported.ci95 is not None and 0 < general.reported.p_value <= 1
    assert "leaves out 20 parts" in own.note
    single = np.arange(90)
    plain, alone = (
        next(
            iter(
                paired_tests(
                    [PairedMetric(Mean(), a, b)], DrawFamily(90, 200, 0), given
                )
            )
        )
        for given in (None, single)
    )
    assert repr(plain) == repr(alone), (
        "clusters of one example are independent examples"
    )


def test_one_cluster_has_no_interval_and_no_bootstrap():
    rng = np.random.default_rng(13)
    a = data(rng, n=20)
    b = data(rng, n=20)
    clusters = np.zeros(20, dtype=np.int64)
    mean, corpus = (
        next(
            iter(
                paired_tests(
                    [PairedMetric(metric, a, b)], DrawFamily(1, 50, 0), clusters
                )
            )
        )
        for metric in (Mean(), Corpus())
    )
    assert (
        mean.reported.ci95 is None
        and np.isnan(mean.reported.p_bootstrap)
        and mean.reported.p_value == 1.0
    )
    assert corpus.note == "a comparison needs at least two clusters"


def bleu_pair(candidates_a, candidates_b, references, n=1):
    """Return a BLEU metric of two systems with one caption per example."""
    (plan,) = metric_plans([{"bleu": {"n": n}}])
    sides = []
    for candidates in (candidates_a, candidates_b):
        (scored,) = score_sets(
            [plan.metric],
            [
                CaptionSet(str(k), (c,), (r,))
                for k, (c, r) in enumerate(zip(candidates, references))
            ],
        )
        sides.append(SystemData(scored.stats, scored.per_example(plan.metric)))
    return PairedMetric(plan.metric, *sides)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (["zzz qqq"] * 5, ["zzz"] * 5),
        (
            ["zzz zzz zzz zzz zzz"] * 5,
            ["qqq zzz", "zzz", "qqq qqq qqq qqq", "x", "y z"],
        ),
        (["zzz"] * 5, [f"zzz {'q ' * k}" for k in range(5)]),
    ],
)
def test_scores_of_constants_alone_are_ties_and_equal_numbers(a, b, n):
    item = bleu_pair(a, b, REFERENCES, n)
    assert (item.a.scores != item.b.scores).any() and item.a.scores.max() < 1e-8
    (result,) = paired_tests([item], DrawFamily(5, 300, 0))
    assert (result.a_larger, result.b_larger, result.ties) == (0, 0, 5)
    for tests in (result.reported, result.signs):
        assert (tests.difference, tests.ci95, tests.p_value) == (0, None, 1)


@pytest.mark.parametrize(
    ("n", "caption"), [(2, "a park"), (3, "the bed"), (4, "a red bus")]
)
def test_captions_without_an_n_gram_of_the_order_are_ties_of_captions_without_a_word(
    n, caption
):
    """Their BLEU is 0 by its definition; the toolkit's constants make the one with
    words in common larger.
    """
    item = bleu_pair([caption] * 5, ["zzz qqq"] * 5, REFERENCES, n)
    assert (item.a.scores > item.b.scores).any()
    (result,) = paired_tests([item], DrawFamily(5, 300, 0))
    assert (result.ties, result.reported.difference, result.reported.p_value) == (
        5,
        0,
        1,
    )


@pytest.mark.parametrize("sizes", [(3, 4), (2, 5), (6, 1)])
def test_equal_shares_of_words_are_ties(sizes):
    """Half of the words of every caption are in its reference, which has as many words:
    the scores differ in the tenth digit.
    """
    captions = [
        [" ".join([*(f"w{k}" for k in range(n)), *(f"x{k}" for k in range(n))])] * 5
        for n in sizes
    ]
    sides = [
        bleu_pair(texts, texts, [" ".join(f"w{k}" for k in range(2 * n))] * 5)
        for texts, n in zip(captions, sizes)
    ]
    item = PairedMetric(sides[0].metric, sides[0].a, sides[1].a)
    assert (item.a.scores != item.b.scores).all()
    (result,) = paired_tests([item], DrawFamily(5, 300, 0))
    assert (result.a_larger, result.ties, result.b_larger) == (0, 5, 0)
    assert (
        result.reported.difference,
        result.reported.p_value,
        result.signs.p_value,
    ) == (0, 1, 1)


def test_systems_that_differ_everywhere_by_as_much_have_no_interval():
    item = bleu_pair(REFERENCES, ["zzz qqq"] * 5, REFERENCES)
    (result,) = paired_tests([item], DrawFamily(5, 300, 0))
    assert (
        result.reported.difference == pytest.approx(1)
        and result.reported.ci95 is None
        and result.ends is None
    )
    assert result.reported.p_value == 2 / 32 and (result.a_larger, result.ties) == (
        5,
        0,
    )


@pytest.mark.parametrize(
    ("bounds", "ends"),
    [
        ((0.0, 1.0), [-1.0, 1.0]),
        ((0.0, np.inf), None),
        (None, None),
        ((-1.0, 1.0), [-2.0, 2.0]),
    ],
)
def test_the_interval_of_a_difference_ends_at_the_largest_difference_within_the_bounds(
    bounds, ends
):
    metric = Mean()
    metric.spec = MetricSpec("mean", True, bounds=bounds)
    a, b = (
        SystemData(np.array(scores)[:, None], np.array(scores))
        for scores in ([1.0, 0.0, 1.0], [0.0, 1.0, 0.5])
    )
    result = outcome_of(metric, a, b)
    low, high = result.reported.ci95
    assert low < -1 and high > 1
    assert result.ends == (
        ends
        if ends and ends[1] == 1
        else [max(low, -2.0), min(high, 2.0)]
        if ends
        else [low, high]
    )
