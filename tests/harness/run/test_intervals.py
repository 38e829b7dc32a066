"""Intervals of metrics: their own, the bootstrap, or the reason for none."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import HasInterval, Interval, MeanMetric, MetricSpec
from harness.run import intervals
from harness.rundir.records import ResultRecord
from harness.stats import bootstrap


class Mean(MeanMetric):
    def __init__(self, shardable: bool = True) -> None:
        self.spec = MetricSpec("mean", True, shardable=shardable)


class Fixed(Mean):
    def interval(self, stats: np.ndarray, samples: int, seed: int) -> Interval:
        return Interval((float(samples), float(seed)), "fixed")


ROWS = np.arange(5.0)[:, None]


@pytest.mark.parametrize(
    ("metric", "rows", "samples", "note"),
    [
        (Mean(), ROWS, 0, ""),
        (Mean(), ROWS[:1], 50, intervals.NO_EXAMPLES),
        (Mean(), ROWS[:0], 50, intervals.NO_EXAMPLES),
        (Mean(shardable=False), ROWS, 50, intervals.NOT_RESAMPLED),
        (Mean(), np.ones((5, 1)), 50, bootstrap.NO_SPREAD),
    ],
)
def test_the_reason_for_no_interval(metric, rows, samples, note):
    assert intervals.estimate(metric, rows, samples, 0)[1] == Interval(None, note)


def test_a_metric_may_compute_its_interval():
    assert isinstance(Fixed(), HasInterval)
    assert not isinstance(Mean(), HasInterval)
    assert intervals.estimate(Fixed(), ROWS, 50, 3) == (2.0, Interval((50.0, 3.0), "fixed"))
    value, interval = intervals.estimate(Mean(), ROWS, 50, 3)
    assert interval.ends is not None
    assert interval.ends[0] <= value <= interval.ends[1]
    assert interval.note == ""


def test_records_hold_the_note_only_where_there_is_one():
    assert "interval_note" not in ResultRecord(model="a", metric="b").to_dict()
    record = ResultRecord(model="a", metric="b", interval_note="reason")
    assert record.to_dict()["interval_note"] == "reason"
    assert ResultRecord.from_dict(record.to_dict()).interval_note == "reason"
