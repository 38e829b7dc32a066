"""The comparison of two runs: what counts as a difference, and how large it is."""

from __future__ import annotations

import json
import math
import shutil

import pytest

from tools.same_digits import compare, main, moved_fields, units_between


@pytest.fixture
def runs(golden, tmp_path):
    for name in ("old", "new"):
        shutil.copytree(golden / "run_directories" / "sample", tmp_path / name)
    shutil.copytree(golden / "run_directories" / "judgments", tmp_path / "judged")
    return tmp_path


def edited(folder, change, name="results.json"):
    content = json.loads((folder / name).read_text("utf-8"))
    change(content)
    (folder / name).write_text(json.dumps(content), "utf-8")


def test_a_run_has_the_digits_of_itself_also_with_other_paths_and_times(runs):
    edited(
        runs / "new",
        lambda content: content["results"][0].update(
            seconds=99.0, params={"path": "/elsewhere"}
        ),
    )
    files, rows, found = compare(runs / "new", runs / "old")
    assert (files, found) == (2, []) and rows > 10


@pytest.mark.parametrize("field", ["value", "ci95", "p_value", "n"])
def test_the_last_place_of_every_number_counts(runs, field):
    def change(content):
        record = next(
            record for record in content["results"] if record["p_value"] is not None
        )
        old = record[field]
        record[field] = (
            [math.nextafter(old[0], 1), old[1]]
            if field == "ci95"
            else math.nextafter(old, 2)
            if old != 1
            else 0.5
        )

    edited(runs / "new", change)
    _, _, found = compare(runs / "new", runs / "old")
    assert len(found) == 1 and field in found[0][1]
    if field in ("value", "ci95"):
        assert found[0][0] == 1
        assert compare(runs / "new", runs / "old", ulp=1)[2] == []


def test_rows_and_files_that_are_missing_differ(runs, capsys):
    edited(runs / "new", lambda content: content["results"].pop())
    (runs / "new" / "comparisons.json").unlink()
    assert main([str(runs / "new"), str(runs / "old")]) == 1
    printed = capsys.readouterr().out
    assert "missing" in printed and "comparisons.json: no such file" in printed


def test_tests_between_metrics_of_judgments_are_compared(runs):
    shutil.copytree(runs / "judged", runs / "other")

    def change(content):
        record = next(
            record
            for record in content["results"]
            if (record.get("details") or {}).get("against")
        )
        test = next(iter(record["details"]["against"].values()))
        name = next(name for name, value in test.items() if isinstance(value, float))
        test[name] = test[name] / 2

    edited(runs / "other", change)
    assert len(compare(runs / "other", runs / "judged")[2]) == 1


def test_a_number_is_infinitely_far_from_none():
    assert units_between(1.0, None) == math.inf
    assert units_between(0.0, -0.0) == 0
    assert units_between(5e-324, -5e-324) == 2
    assert units_between(1.0, math.nextafter(1.0, 0.0)) == 1


def test_kinds_of_numbers_that_moved_are_counted(runs, capsys):
    edited(
        runs / "new",
        lambda content: content["results"][0].update(
            value=content["results"][0]["value"] + 0.5
        ),
    )
    (moved,) = moved_fields(runs / "new", runs / "old")
    assert (moved.field, moved.count) == ("results.json value", 1)
    assert moved.units > 1 and moved.largest == pytest.approx(0.5)
    assert main([str(runs / "new"), str(runs / "old"), "--fields"]) == 1
    assert capsys.readouterr().out.startswith("results.json value ")
