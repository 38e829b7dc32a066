"""States of the papers' items follow the stored results: a planted wrong cell changes
a state.
"""

from __future__ import annotations

import json
import shutil

import pytest

from benchmarks import papers
from benchmarks.papers_rule import RESULTS
from benchmarks.papers_stored import (
    Clause,
    MissingResult,
    Stored,
    Test,
    cannot_tell,
    decide,
    monotone,
    numbers_of,
    printed,
    shown,
)


@pytest.fixture
def results(tmp_path):
    """A copy of the stored results."""
    return shutil.copytree(RESULTS, tmp_path / "results")


def state_of(paper, item, folder):
    (entry,) = (
        each for each in papers.items() if (each.paper, each.id) == (paper, item)
    )
    return papers.compare(entry, Stored(folder))[0]


def plant(folder, file, table, row, column, text):
    """Write another text into a cell of a stored table."""
    path = folder / f"{file}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    found = content["tables"][table]
    position = found["headers"].index(column)
    (line,) = (each for each in found["rows"] if each[0] == row)
    line[position] = text
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize(
    ("paper", "item", "cell", "before", "after"),
    [
        # a cell beside a printed number
        (
            "tanti2018",
            "text-1",
            (
                "pregen-speed",
                "pregen-speed",
                "greedy, one image at a time (from a fifth)",
                "/ before",
                "44.6",
            ),
            "differs",
            "agrees",
        ),
        # an exact order
        (
            "li2020",
            "figure6",
            ("crnrr-curves", "crnrr-figure6", "CND-2", "1", "0.5"),
            "agrees",
            "differs",
        ),
        # an order with the p of its test
        (
            "chan2022",
            "figureB4",
            (
                "central",
                "central-detail",
                "coco: central by METEOR less human",
                "content words",
                "-0.74, 0.001",
            ),
            "differs",
            "agrees",
        ),
        (
            "li2020",
            "figure1",
            (
                "crnrr-frontiers",
                "crnrr-frontiers",
                "LL-SE",
                "toy: P, frontier",
                "-2.8299, -2.5",
            ),
            "agrees",
            "differs",
        ),
    ],
)
def test_a_planted_cell_changes_a_state(results, paper, item, cell, before, after):
    assert state_of(paper, item, results) == before
    plant(results, *cell)
    assert state_of(paper, item, results) == after


def test_a_planted_number_of_a_cell_changes_a_state(results):
    assert state_of("chan2022", "text-4", results) == "agrees"
    path = results / "tableB1.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["cells"][0]["all"]["harmonic mean"] = 0.01
    path.write_text(json.dumps(content), encoding="utf-8")
    assert state_of("chan2022", "text-4", results) == "differs"

    assert state_of("chan2022", "tableB2", results) == "agrees"
    path = results / "tableB2.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["cells"][0]["ours"] = -1.5
    path.write_text(json.dumps(content), encoding="utf-8")
    assert state_of("chan2022", "tableB2", results) == "differs"


def test_a_missing_table_cannot_be_told(results):
    (results / "central.json").unlink()
    assert state_of("chan2022", "figureB4", results) == "cannot tell"


def test_the_summary_counts_numbers_statements_and_judgment_apart():
    entries = papers.items()[:4]
    rows = [
        papers.Line(entry, state, "", "")
        for entry, state in zip(entries, ("agrees", "differs", "agrees", "cannot tell"))
    ]
    assert papers.summary(rows) == (
        "1 of 2 items decided by printed numbers agree; 1 of 2 statements; "
        "0 by judgment. Of all 4 items 1 differ, 0 of them by orders that are not "
        "shown alone, and 1 cannot be told."
    )


@pytest.mark.slow
def test_runs_change_a_state(tmp_path, monkeypatch, golden, capsys):
    """Four examples of the stand-in data in place of 100 videos."""
    from benchmarks.papers_fresh import fresh_results
    from harness import api

    monkeypatch.setenv("HARNESS_DATA", str(golden / "data"))
    runs = api.evaluate_all(
        "studies/mauve", limit=4, overrides=["bootstrap.samples=0", "metrics=[meteor]"]
    )
    folder = tmp_path / "fresh"
    assert "tableB2" in fresh_results(list(runs), folder)
    assert state_of("chan2022", "text-B.5", folder) != state_of(
        "chan2022", "text-B.5", RESULTS
    )


def test_clauses():
    assert decide(Clause("a", True)).state == "agrees"
    assert (
        cannot_tell("x", Clause("a", False)).numbers == "missing: x; does not hold: a"
    )
    assert shown("d", Test(-0.2, 0.01), -1).holds
    assert not shown("d", Test(-0.2, 0.2), -1).holds
    assert not shown("d", Test(-0.2, 0.01), 1).holds
    assert monotone("m", [1.0, 2.0, 3.0], 1).holds
    assert not monotone("m", [1.0, 2.0, 2.0], 1).holds
    assert numbers_of("−0.05, 0.01") == [-0.05, 0.01]
    with pytest.raises(KeyError, match="0 rows"):
        printed("tanti2018", "text-1", quantity="none")
    with pytest.raises(MissingResult, match="no table"):
        Stored().table("central/none")
