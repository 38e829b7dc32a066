"""Running estimates: the number on the examples so far,
with an interval that matches the bootstrap.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, Example, MeanMetric, MetricSpec, Objects
from harness.registry import current
from harness.run import score as scoring
from harness.run.estimates import Estimates, RunningMoments, Watch
from harness.run.features import FeatureCache
from harness.run.intervals import estimate
from harness.run.metric_plan import MetricPlan

WORDS = ["a", "dog", "cat", "runs", "sits", "on", "the", "grass", "red", "mat"]


def statistics(name, count=400):
    """Return a metric's plan and its statistics on drawn captions."""
    rng = np.random.default_rng(3)

    def text():
        return " ".join(rng.choice(WORDS, size=int(rng.integers(3, 9))))

    references = [tuple(text() for _ in range(5)) for _ in range(count)]
    sets = [
        CaptionSet(str(k), (f"{texts[0]} {text()}",), texts)
        for k, texts in enumerate(references)
    ]
    features = FeatureCache([item.references for item in sets])
    metric = current().create("metrics", name, {})
    return MetricPlan(name, name, {}, metric), scoring.score(
        metric, scoring.batches(sets, features), features, None, 0
    ).stats


@pytest.mark.parametrize("name", ["bleu", "rouge", "cider", "caption-length"])
def test_the_interval_is_that_of_the_bootstrap(name):
    plan, stats = statistics(name)
    estimates = Estimates([plan], ["model"])
    for part in np.array_split(stats, 7):
        estimates.add(0, 0, part)
    value, half = estimates._moments[0, 0].estimate(plan.metric)
    expected, interval = estimate(plan.metric, stats, 1000, 0)
    assert value == pytest.approx(expected, rel=1e-9)
    assert interval.ends is not None
    assert 2 * half == pytest.approx(interval.ends[1] - interval.ends[0], rel=0.15)


def test_the_text_is_that_of_the_system_scored_last():
    plan, stats = statistics("rouge", 40)
    estimates = Estimates([plan], ["a", "b"])
    assert estimates.text() == ""
    estimates.add(1, 0, stats[:5])
    assert estimates.text() == "", "too few examples for an interval"
    estimates.add(0, 0, stats)
    assert estimates.text().startswith(
        f"a: rouge {plan.metric.reduce(stats):.3g} \u00b1 "
    )
    estimates.add(1, 0, stats[5:30])
    assert (
        estimates.text().startswith("a: rouge ")
        and estimates.text().count("rouge") == 1
    ), "b has fewer examples"


@pytest.mark.parametrize(("count", "known"), [(9, False), (10, True), (11, True)])
def test_a_shown_result_has_an_interval_from_enough_examples(monkeypatch, count, known):
    plan, stats = statistics("rouge", 40)
    shown = []
    monkeypatch.setattr("harness.run.estimates.current_results", lambda: shown)
    monkeypatch.setattr("harness.run.estimates.show_result", shown.append)
    Estimates([plan], ["a"]).add(0, 0, stats[:count])
    assert [(record.ci95 is not None, record.n) for record in shown] == [(known, count)]


def test_undefined_examples_and_other_metrics_are_left_out():
    plan, stats = statistics("rouge", 40)
    best = MetricPlan("best", "best", {}, object())  # type: ignore[arg-type]
    estimates = Estimates([plan, best], ["a"])
    holes = np.vstack([stats, np.full_like(stats, np.nan)])
    estimates.add(0, 0, holes)
    estimates.add(0, 1, holes)
    estimates.add(0, 0, np.full_like(stats, np.nan))
    assert estimates.text().startswith(f"a: rouge {plan.metric.reduce(stats):.3g} ")


def test_rows_have_every_number_with_half_its_interval_and_the_examples():
    plan, stats = statistics("rouge", 40)
    estimates = Estimates([plan], ["a", "b"])
    estimates.add(1, 0, stats)
    estimates.add(0, 0, stats[:5])
    ((system, metric, value, half, count),) = estimates.rows()
    assert (system, metric, count) == (1, 0, 40) and half > 0
    assert value == pytest.approx(plan.metric.reduce(stats))


class Difference(MeanMetric):
    """Sum of the first addends without three times that of the second ones."""

    def of_sums(self, sums):
        return sums[:, 0] - 3 * sums[:, 1]


def test_the_interval_of_a_linear_number_is_that_of_the_sum_of_its_terms():
    rng = np.random.default_rng(0)
    for _ in range(30):
        x, y = rng.random((2, 20))
        # of equal terms the variance is 0 up to rounding errors of either sign
        for first in (x, 3 * y):
            moments = RunningMoments(0, np.zeros(2), np.zeros((2, 2)))
            moments.add(np.stack([first, y], axis=1))
            terms = first - 3 * y
            assert moments.estimate(Difference()) == pytest.approx(
                (terms.sum(), 1.96 * terms.std() * np.sqrt(20)), abs=1e-5
            )


class Roots(MeanMetric):
    """Sum of the square roots of the sums."""

    def of_sums(self, sums):
        return np.sqrt(np.where(sums < 0, np.nan, sums)).sum(axis=1)


def test_addends_that_are_all_0_leave_the_interval_of_the_others():
    x = np.random.default_rng(0).random((50, 1))
    alone, beside = (RunningMoments(0, np.zeros(k), np.zeros((k, k))) for k in (1, 2))
    alone.add(x)
    beside.add(np.hstack([x, np.zeros_like(x)]))
    assert beside.estimate(Roots()) == pytest.approx(alone.estimate(Roots())), (
        "although the number is not defined beside such a sum"
    )


class Cube(MeanMetric):
    """Cube of the sum."""

    def of_sums(self, sums):
        return sums[:, 0] ** 3


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_slopes_are_differences_half_a_standard_deviation_to_either_side(scale):
    moments = RunningMoments(0, np.zeros(1), np.zeros((1, 1)))
    moments.add(scale * np.array([[1.0], [2.0]]))
    moments.add(scale * np.array([[3.0]]))
    variance = scale**2 * 3 * 2 / 3  # of a sum of three terms with the variance 2/3
    # ((6 + h)^3 - (6 - h)^3) / 2h, where h is half the standard deviation
    slope = 3 * (6 * scale) ** 2 + variance / 4
    assert moments.estimate(Cube()) == pytest.approx(
        ((6 * scale) ** 3, 1.96 * slope * variance**0.5)
    )


class Sums(MeanMetric):
    """The sum of the first column; the addends are the statistics."""

    def __init__(self):
        self.spec = MetricSpec("sums", True)

    def signature(self):
        return "sums"

    def summands(self, stats):
        return stats

    def of_sums(self, sums):
        return sums[:, 0]


def sums_plan(label, metric=None):
    return MetricPlan(label, label, {}, metric or Sums())


def test_a_shown_interval_has_the_number_in_its_middle(monkeypatch):
    shown = []
    monkeypatch.setattr("harness.run.estimates.current_results", lambda: shown)
    monkeypatch.setattr("harness.run.estimates.show_result", shown.append)
    Estimates([sums_plan("first"), sums_plan("second")], ["a", "b"]).add(
        1, 1, np.arange(10.0)[:, None]
    )
    (record,) = shown
    half = 1.96 * np.sqrt(10 * 8.25)  # the variance of 0 to 9 is 8.25
    assert (record.metric, record.model, record.value, record.signature) == (
        "second",
        "b",
        45.0,
        "sums",
    )
    assert record.ci95 == pytest.approx((45 - half, 45 + half))


class Undefined(Sums):
    def of_sums(self, sums):
        return np.full(len(sums), np.nan)


def test_a_number_that_is_undefined_so_far_has_no_interval_and_no_place_in_the_text(
    monkeypatch,
):
    shown = []
    monkeypatch.setattr("harness.run.estimates.current_results", lambda: shown)
    monkeypatch.setattr("harness.run.estimates.show_result", shown.append)
    estimates = Estimates([sums_plan("undefined", Undefined())], ["a"])
    estimates.add(0, 0, np.arange(20.0)[:, None])
    assert [(np.isnan(record.value), record.ci95, record.n) for record in shown] == [
        (True, None, 20)
    ]
    assert (estimates.rows(), estimates.text()) == ([], "")


def test_statistics_without_a_row_and_objects_are_passed_over():
    estimates = Estimates([sums_plan("sums")], ["a"])
    for stats in (
        np.zeros((0, 1)),
        np.array([[np.nan]]),
        Objects.of(["x"] * 20, "sums"),
    ):
        estimates.add(0, 0, stats)
    assert estimates.rows() == []
    estimates.add(0, 0, np.ones((10, 1)))
    assert estimates.rows() == [(0, 0, 10.0, 0.0, 10)]


def test_addends_of_another_number_begin_anew():
    estimates = Estimates([sums_plan("sums")], ["a"])
    estimates.add(0, 0, np.ones((30, 1)))
    estimates.add(0, 0, np.full((7, 2), 3.0))
    estimates.add(0, 0, np.full((5, 2), 3.0))
    assert estimates.rows() == [(0, 0, 36.0, 0.0, 12)]
    estimates.add(0, 0, np.ones((11, 1)))
    assert estimates.rows() == [(0, 0, 11.0, 0.0, 11)]


def test_an_example_is_undefined_by_its_first_statistic():
    estimates = Estimates([sums_plan("sums")], ["a"])
    estimates.add(0, 0, np.array([[1.0, 0.0]] * 10 + [[np.nan, 0.0]] * 5))
    assert estimates.rows() == [(0, 0, 10.0, 0.0, 10)]


def test_the_text_has_three_metrics_of_the_first_of_the_systems_with_most_examples():
    estimates = Estimates([sums_plan(name) for name in "wxyz"], ["a", "b", "c", "d"])
    for system, count in ((0, 10), (2, 12), (1, 12), (3, 11)):
        for metric in range(4):
            estimates.add(system, metric, np.full((count, 1), 1.0 + metric))
    assert estimates.text() == "b: w 12 \u00b1 0, x 24 \u00b1 0, y 36 \u00b1 0 so far"


def test_a_view_keeps_the_latest_twelve_captions_of_the_run_that_goes_on():
    watch = Watch()
    assert (watch.task, watch.examples, watch.estimates, len(watch.latest)) == (
        "",
        0,
        None,
        0,
    )
    watch.estimates = Estimates([], [])
    for k in range(13):
        watch.latest.append(("m", Example(str(k), ("r",)), {}))
    assert [example.id for _, example, _ in watch.latest] == [
        str(k) for k in range(1, 13)
    ]
    watch.begin("next", 7)
    assert (watch.task, watch.examples, watch.estimates, list(watch.latest)) == (
        "next",
        7,
        None,
        [],
    )
