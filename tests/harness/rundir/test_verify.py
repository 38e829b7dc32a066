"""Numbers of runs by name, and their differences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.rundir.records import ResultRecord
from harness.rundir.verify import describe_differences, numbers_by_name, stored_numbers


@pytest.fixture
def record():
    return ResultRecord(
        model="ours", task="task", metric="bleu4", value=0.25, ci95=(0.125, 0.5), p_value=0.75, n=3,
        p={"fisher": 0.5, "mean": 0.5}, details={"captions_per_second": 7.0, "precisions": [0.5, float("nan")]},
    )  # fmt: skip


def test_equal_records_have_no_differences(record):
    numbers = numbers_by_name([record, record])
    assert list(describe_differences(numbers, numbers_by_name([record, replace(record, seconds=9.0)]))) == []
    assert numbers["task, ours, bleu4: ci95 1"] == 0.5
    assert numbers["task, ours, bleu4 #2: value"] == 0.25
    assert not any("captions_per_second" in name for name in numbers)


def test_a_last_bit_is_a_difference(record):
    moved = replace(record, value=0.25 + 2.0**-54, ci95=None)
    lines = list(describe_differences(numbers_by_name([record]), numbers_by_name([moved])))
    assert lines[0] == "task, ours, bleu4: value: stored 0.25, now 0.25000000000000006 (differs by 5.6e-17)"
    assert "task, ours, bleu4: ci95 0: stored 0.125, now 'missing'" in lines


def test_results_that_are_not_there_are_named(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        stored_numbers(tmp_path / "nowhere")
