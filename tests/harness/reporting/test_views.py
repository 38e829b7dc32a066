"""Series of a view: one metric against another, and decoding fields that a record leaves at their defaults."""

import pytest

from harness.errors import HarnessError
from harness.reporting.views import series
from harness.rundir.records import ResultRecord, lookup


def record(metric, model, value, **decoding):
    return ResultRecord(metric=metric, model=model, value=value, decoding=decoding, task="t")


RESULTS = [
    record("cr", "a", 1.0), record("nrr", "a", -1.0),
    record("cr", "a", 3.0, temperature=0.5), record("nrr", "a", -3.0, temperature=0.5),
    record("cr", "b", 2.0), record("nrr", "b", float("nan")),
]  # fmt: skip


def test_two_metrics_of_a_model_and_decoding_against_each_other():
    (a,) = series(RESULTS, "metric:nrr", "cr", "model")  # b lacks a number
    assert (a.label, a.x, a.y) == ("a", (-3.0, -1.0), (3.0, 1.0))
    (ungrouped, *_) = series(RESULTS, "metric:cr", "nrr", "model_params.pair")
    assert ungrouped.label == "a"
    with pytest.raises(HarnessError, match="did you mean 'nrr'"):
        series(RESULTS, "metric:nr", "cr", "model")


def test_a_decoding_field_that_is_not_recorded_has_its_default():
    assert lookup(RESULTS[0], "decoding.temperature") == 1.0
    assert lookup(RESULTS[0], "decoding.nothing") is None
    (a, *_) = series(RESULTS, "decoding.temperature", "cr", "model")
    assert a.x == (0.5, 1.0)
