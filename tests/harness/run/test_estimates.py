"""Running estimates: the number on the examples so far, with an interval that matches the bootstrap."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, MeanMetric
from harness.registry import current
from harness.run import score as scoring
from harness.run.estimates import MIN_EXAMPLES, Estimates, RunningMoments
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
    sets = [CaptionSet(str(k), (f"{texts[0]} {text()}",), texts) for k, texts in enumerate(references)]
    features = FeatureCache([item.references for item in sets])
    metric = current().create("metrics", name, {})
    return MetricPlan(name, name, {}, metric), scoring.score(metric, scoring.batches(sets, features), features, None, 0).stats


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
    assert estimates.text().startswith(f"a: rouge {plan.metric.reduce(stats):.3g} \u00b1 ")
    estimates.add(1, 0, stats[5:30])
    assert estimates.text().startswith("a: rouge ") and estimates.text().count("rouge") == 1, "b has fewer examples"


@pytest.mark.parametrize(("count", "known"), [(MIN_EXAMPLES - 1, False), (MIN_EXAMPLES, True), (MIN_EXAMPLES + 1, True)])
def test_a_shown_result_has_an_interval_from_enough_examples(monkeypatch, count, known):
    plan, stats = statistics("rouge", 40)
    shown = []
    monkeypatch.setattr("harness.run.estimates.current_results", lambda: shown)
    monkeypatch.setattr("harness.run.estimates.show_result", shown.append)
    Estimates([plan], ["a"]).add(0, 0, stats[:count])
    assert [(record.ci95 is not None, record.n) for record in shown] == [(known, count)]


def test_undefined_examples_and_other_metrics_are_left_out():
    plan, stats = statistics("rouge", 40)
    estimates = Estimates([plan, MetricPlan("best", "best", {}, object())], ["a"])  # type: ignore[arg-type]
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


def test_the_interval_of_a_linear_number_is_that_of_the_sum_of_its_terms_and_0_where_they_are_equal():
    rng = np.random.default_rng(0)
    for _ in range(30):
        x, y = rng.random((2, 20))
        for first in (x, 3 * y):  # of equal terms the variance is 0 up to rounding errors of either sign
            moments = RunningMoments(0, np.zeros(2), np.zeros((2, 2)))
            moments.add(np.stack([first, y], axis=1))
            terms = first - 3 * y
            assert moments.estimate(Difference()) == pytest.approx((terms.sum(), 1.96 * terms.std() * np.sqrt(20)), abs=1e-5)


class Roots(MeanMetric):
    """Sum of the square roots of the sums."""

    def of_sums(self, sums):
        return np.sqrt(np.where(sums < 0, np.nan, sums)).sum(axis=1)


def test_addends_that_are_all_0_leave_the_interval_of_the_others():
    x = np.random.default_rng(0).random((50, 1))
    alone, beside = (RunningMoments(0, np.zeros(k), np.zeros((k, k))) for k in (1, 2))
    alone.add(x)
    beside.add(np.hstack([x, np.zeros_like(x)]))
    assert beside.estimate(Roots()) == pytest.approx(alone.estimate(Roots())), "although the number is not defined beside such a sum"
