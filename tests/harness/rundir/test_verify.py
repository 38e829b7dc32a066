"""Numbers of runs by name, and their differences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.rundir.format import to_json
from harness.rundir.records import ResultRecord
from harness.rundir.verify import describe_differences, numbers_by_name, stored_numbers


@pytest.fixture
def record():
    return ResultRecord(
        model="ours",
        task="task",
        metric="bleu4",
        value=0.25,
        ci95=(0.125, 0.5),
        p_value=0.75,
        n=3,
        p={"fisher": 0.5, "mean": 0.5},
        details={"captions_per_second": 7.0, "precisions": [0.5, float("nan")]},
    )


def test_equal_records_have_no_differences(record):
    numbers = numbers_by_name([record, record])
    assert (
        list(
            describe_differences(
                numbers, numbers_by_name([record, replace(record, seconds=9.0)])
            )
        )
        == []
    )
    assert numbers["task, ours, bleu4: ci95 1"] == 0.5
    assert numbers["task, ours, bleu4 #2: value"] == 0.25
    assert not any("captions_per_second" in name for name in numbers)


def test_a_last_bit_is_a_difference(record):
    moved = replace(record, value=0.25 + 2.0**-54, ci95=None)
    lines = list(
        describe_differences(numbers_by_name([record]), numbers_by_name([moved]))
    )
    assert (
        lines[0]
        == "task, ours, bleu4: value: stored 0.25, now 0.25000000000000006 (differs "
        "by 5.6e-17)"
    )
    assert "task, ours, bleu4: ci95 0: stored 0.125, now 'missing'" in lines


def test_whole_and_fractional_numbers_have_a_distance_and_texts_have_none():
    lines = describe_differences(
        {"n": 3, "x": 0.5, "t": "a", "u": None},
        {"n": 3.5, "x": 1, "t": 1.0, "u": None},
        ("left", "right"),
    )
    assert list(lines) == [
        "n: left 3, right 3.5 (differs by 0.5)",
        "x: left 0.5, right 1 (differs by 0.5)",
        "t: left 'a', right 1.0",
    ]


def test_numbers_of_a_file_and_of_folders_of_runs(tmp_path, record):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
        (tmp_path / name / "results.json").write_bytes(
            to_json({"results": [replace(record, task=name).to_dict()]})
        )
    numbers = numbers_by_name([replace(record, task="a")])
    assert (
        stored_numbers(tmp_path / "a/results.json")
        == stored_numbers(tmp_path / "a")
        == numbers
    )
    assert stored_numbers(tmp_path) == {
        **numbers,
        **numbers_by_name([replace(record, task="b")]),
    }


def test_results_that_are_not_there_are_named(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        stored_numbers(tmp_path / "nowhere")
