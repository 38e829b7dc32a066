"""Rows of comparisons as a list with a short representation."""

from __future__ import annotations

import json

import pytest

import harness
from harness.analysis.compare import compare
from harness.analysis.comparisons import Comparisons, StoredComparisons
from harness.run.finished import Run
from tests.support.comparisons import SPEC, make_comparison


def row(metric, better):
    return make_comparison(metric=metric, better=better)


def test_the_list_is_its_rows():
    rows = [row("one", "A"), row("two", "=")]
    assert Comparisons(rows) == rows
    assert repr(Comparisons(rows)) == "<comparisons of 1 pairs by 2 metrics: 1 of 2 significant>"


def test_the_file_has_the_fields_that_are_known():
    stored = make_comparison(difference=0.5, ci95=[0.25, 0.75]).to_dict()
    assert (stored["difference"], stored["ci95"]) == (0.5, [0.25, 0.75])
    assert list(stored)[:3] == ["metric", "system_a", "system_b"]
    assert not {"better", "p_holm", "p_bh", "forced", "signature"} & set(stored)
    compared = make_comparison(better="A", p_holm=0.01, p_bh=0.01, forced=("data",)).to_dict()
    assert list(compared)[-4:] == ["forced", "p_holm", "p_bh", "better"]
    assert compared["forced"] == ["data"]


@pytest.fixture
def run(project):
    harness.evaluate(SPEC, output="r")
    compare("r")
    return Run.open("r")


def test_rows_are_read_under_the_same_draws_and_seed(run):
    assert list(StoredComparisons.of([run, run], 10_000, 0).rows) == ["short|long|length"]
    assert not StoredComparisons.of([run, run], 10_000, 1).rows
    assert not StoredComparisons.of([run, run], 99, 0).rows


def test_rows_of_other_results_are_not_read(run, project):
    file = project / "r" / "results.json"
    text = file.read_text().replace('"value": ', '"value": 1')
    file.write_text(json.dumps({**json.loads(text), "checksum": None}))
    assert not StoredComparisons.of([Run.open("r")], 10_000, 0).rows


@pytest.mark.parametrize("content", ["torn {", "[]", '{"key": 1}'])
def test_a_damaged_file_is_computed_again(run, project, content):
    expected = compare("r")
    (project / "r" / "comparisons.json").write_text(content)
    assert compare("r") == expected
    assert json.loads((project / "r" / "comparisons.json").read_text())["rows"]


def test_an_altered_row_is_computed_again(run, project):
    file = project / "r" / "comparisons.json"
    expected = compare("r")
    file.write_text(file.read_text().replace('"difference": -1.0', '"difference": -2.0'))
    assert compare("r") == expected


def test_two_runs_and_runs_in_memory_are_not_stored(run, project):
    harness.evaluate(SPEC, output="s")
    assert StoredComparisons.of([run, Run.open("s")], 100, 0).path is None
    assert StoredComparisons.of([harness.evaluate(SPEC)], 100, 0).path is None


def test_a_fresh_run_removes_them(run, project):
    harness.evaluate(SPEC, output="r", mode="fresh")
    assert not (project / "r" / "comparisons.json").exists()


def test_an_interrupted_computation_keeps_its_rows(run, project):
    store = StoredComparisons.of([run], 50, 0)
    with pytest.raises(KeyboardInterrupt), store.adding() as add:
        add("one", make_comparison(difference=1.0))
        raise KeyboardInterrupt
    assert StoredComparisons.of([run], 50, 0).rows == {"one": make_comparison(difference=1.0)}
