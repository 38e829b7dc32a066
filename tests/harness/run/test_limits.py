"""Limits of one example: what a metric declares against the memory and the time that an example may take."""

from __future__ import annotations

import pytest

import harness
from harness.contracts import Cost, MeanMetric, MetricSpec
from harness.errors import HarnessError
from harness.run import limits
from harness.run.limits import check_example, duration_text, memory_text
from harness.run.metric_plan import MetricPlan
from harness.run.text_scores import BoundMetric


class Cubic(MeanMetric):
    """Declares a number of each three texts, and a second of a word."""

    spec = MetricSpec("cubic", higher_is_better=True)

    def scores(self, batch, features, state):
        raise AssertionError("scored before the check")

    def cost(self, n, m, tokens, *, tested=False):
        return Cost(tokens, 8.0 * (n + m) ** 3, fixed=1e6 if tested else 0.0, advice="fewer candidates")


def test_an_example_that_needs_more_memory_than_is_free_is_refused_in_one_line(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 2_000_000_000)
    with pytest.raises(HarnessError) as caught:
        check_example("cubic", Cubic(), 1000, 5, 12, tested=False)
    assert str(caught.value) == (
        "cubic of 1000 + 5 captions of up to 12 words needs about 8.1 GB of memory, and 2.0 GB are free; expected fewer candidates"
    )
    check_example("cubic", Cubic(), 100, 5, 12, tested=True)


def test_the_time_of_an_example_has_a_limit_that_the_environment_sets(monkeypatch):
    with pytest.raises(
        HarnessError, match=r"takes about 2 min for one example, more than 30 s \(HARNESS_EXAMPLE_SECONDS\); expected fewer"
    ):
        check_example("cubic", Cubic(), 1, 1, 120, tested=False)
    monkeypatch.setenv("HARNESS_EXAMPLE_SECONDS", "130")
    check_example("cubic", Cubic(), 1, 1, 120, tested=False)


def test_a_limit_that_is_no_number_is_refused(monkeypatch):
    monkeypatch.setenv("HARNESS_EXAMPLE_SECONDS", "long")
    with pytest.raises(HarnessError, match="HARNESS_EXAMPLE_SECONDS is 'long'; expected a number of seconds"):
        check_example("cubic", Cubic(), 1, 1, 1, tested=False)


def test_lists_of_texts_are_checked_before_they_are_scored():
    with pytest.raises(HarnessError, match="cubic of 1 \\+ 1 captions of up to 200 words takes"):
        BoundMetric(MetricPlan("cubic", "cubic", {}, Cubic()), None)([["a dog"], ["word " * 199 + "word"]], [["a"], ["b"]])


@pytest.mark.parametrize("name", ["ter", "trm(meteor)"])
def test_texts_that_would_take_minutes_are_refused(name):
    text = " ".join(f"w{k % 50}" for k in range(10_000))
    metric = harness.metric("ter") if name == "ter" else harness.metric("trm", distance="meteor")
    with pytest.raises(HarnessError, match="of 5 \\+ 5 captions of up to 10,000 words takes about"):
        metric([[text] * 5], [[text] * 5])


def test_texts_of_numbers():
    assert [memory_text(count) for count in (3e5, 2e6, 1.26e9)] == ["0 MB", "2 MB", "1.3 GB"]
    assert [duration_text(seconds) for seconds in (0.2, 119, 121, 7300)] == ["0 s", "119 s", "2 min", "2 h"]
