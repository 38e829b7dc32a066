"""Tables of runs as files."""

from __future__ import annotations

import csv

import harness
from harness.reporting.export import write_tables


def test_every_table_of_a_run_is_a_file_in_each_format(project):
    views = [{"plot": "table", "title": "All results: 1"}, {"plot": "line", "y": "length"}, {"plot": "texts", "y": "length", "examples": 2}]
    harness.evaluate("spec.yaml", views=views, output="r")
    files = write_tables(["r"], project / "tables")
    assert [file.name for file in files] == [
        "results.csv",
        "results.md",
        "results.tex",
        "results.typ",
        "01-all-results-1.csv",
        "01-all-results-1.md",
        "01-all-results-1.tex",
        "01-all-results-1.typ",
        "03-length.csv",
        "03-length.md",
        "03-length.typ",
    ]
    rows = list(csv.reader(files[4].open()))
    assert rows[1][0] == "length" or "length" in rows[0]
    texts = list(csv.reader(files[8].open()))
    assert len({row[0] for row in texts[1:]}) == 2
    (project / "again").mkdir()
    harness.evaluate("spec.yaml", views=views, output="s")
    names = [file.name for file in write_tables(["r", "s"], project / "again")]
    assert names == [f"{run}-words-{file.name}" for run in (1, 2) for file in files], "runs of one task do not overwrite each other"
