"""Comparisons that are kept beside a run."""

from __future__ import annotations

import json

import pytest

import harness
from harness.analysis.compare import compare
from harness.analysis.stored_comparisons import StoredComparisons
from harness.run.finished import Run
from tests.support.comparisons import SPEC, make_comparison


@pytest.fixture
def run(project):
    harness.evaluate(SPEC, output="r")
    compare("r")
    return Run.open("r")


def test_rows_are_read_under_the_same_draws_and_seed(run):
    assert list(StoredComparisons.of([run, run], 10_000, 0).rows) == [
        "short|long|length"
    ]
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
    file.write_text(
        file.read_text().replace('"difference": -1.0', '"difference": -2.0')
    )
    assert compare("r") == expected


def test_two_runs_and_runs_in_memory_are_not_stored(run, project):
    harness.evaluate(SPEC, output="s")
    assert StoredComparisons.of([run, Run.open("s")], 100, 0).file.path is None
    assert StoredComparisons.of([harness.evaluate(SPEC)], 100, 0).file.path is None


def test_a_fresh_run_removes_them(run, project):
    harness.evaluate(SPEC, output="r", mode="fresh")
    assert not (project / "r" / "comparisons.json").exists()


def test_an_interrupted_computation_keeps_its_rows(run, project):
    store = StoredComparisons.of([run], 50, 0)
    with pytest.raises(KeyboardInterrupt), store.adding() as add:
        add("one", make_comparison(difference=1.0))
        raise KeyboardInterrupt
    assert StoredComparisons.of([run], 50, 0).rows == {
        "one": make_comparison(difference=1.0)
    }
