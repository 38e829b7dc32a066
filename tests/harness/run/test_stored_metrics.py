"""Metrics of a run whose components are not installed: what is stored, what is not."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.run.stored_metrics import StoredMetric, is_mean_of_scores
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable


def system_of(scores):
    count = len(scores)
    table = SampleTable(
        {
            "model": ["a"] * count,
            "decoding": ["{}"] * count,
            "example": [str(k) for k in range(count)],
            "candidates": [["x"]] * count,
            "references": [["x"]] * count,
            "fox": scores,
        }
    )
    (system,) = table.systems
    return system


def record(value=0.5, **fields):
    return ResultRecord(model="a", metric="fox", value=value, **fields)


@pytest.mark.parametrize(
    ("value", "scores", "is_mean"),
    [
        (0.5, [0.25, 0.75], True),
        (0.5, [0.25, None, 0.75], True),  # of the defined ones
        (0.5 * (1 + 1e-10), [0.25, 0.75], True),  # summed in another order
        (0.5 * (1 + 1e-8), [0.25, 0.75], False),
        (1e-13, [0.0, 0.0], True),
        (0.6, [0.25, 0.75], False),
        (float("nan"), [0.25, 0.75], False),
        (float("nan"), [None, None], False),
    ],
)
def test_a_number_is_the_mean_of_the_defined_scores(value, scores, is_mean):
    assert is_mean_of_scores(record(value), system_of(scores), "fox") is is_mean


def test_a_metric_without_scores_is_no_mean():
    assert not is_mean_of_scores(None, system_of([0.5]), "fox")
    assert not is_mean_of_scores(record(), system_of([0.5]), "hen")


def test_direction_and_level_are_those_of_the_record():
    metric = StoredMetric(record(higher_is_better=False, level="set"), "no plugin")
    assert (metric.spec.name, metric.spec.level) == ("fox", "set")
    assert metric.spec.higher_is_better is False
    assert metric.spec.needs == frozenset()
    np.testing.assert_allclose(metric.reduce(np.array([[1.0], [3.0]])), 2.0)
    assert metric.note == "by the stored scores: no plugin"
    assert metric.refusal == "not the mean of its scores, and no plugin"
    with pytest.raises(HarnessError, match="'fox' cannot score texts: no plugin"):
        metric.scores(None, None, None)


@pytest.mark.parametrize(
    ("note", "held_fixed"),
    [
        (None, ""),
        ("by the jackknife", ""),
        ("idf held fixed", "idf held fixed"),
        ("idf held fixed; by the jackknife", "idf held fixed"),
    ],
)
def test_state_that_is_held_fixed_stands_in_the_note_of_the_interval(note, held_fixed):
    metric = StoredMetric(record(interval_note=note), "no plugin")
    assert metric.spec.held_fixed == held_fixed
