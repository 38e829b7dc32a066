"""``harness report``: pages and tables of finished runs."""

from __future__ import annotations

import pytest

import harness
from harness.cli.main import main


@pytest.fixture
def run(project):
    harness.evaluate("spec.yaml", views=[{"plot": "table", "title": "All"}], output="r")
    return project


def test_the_page_lies_in_the_run_by_default(run, capsys):
    assert main(["report", "r", "--title", "My title"]) == 0
    assert capsys.readouterr().out == "r/report.html\n"
    assert "My title" in (run / "r" / "report.html").read_text()


def test_tables_and_another_file(run, capsys):
    assert main(["report", "r", "--output", "page.html", "--tables", "tables"]) == 0
    assert capsys.readouterr().out.splitlines() == ["page.html", "tables/01-all.csv", "tables/01-all.md"]


def test_a_run_without_tables_has_a_note(project, capsys):
    harness.evaluate("spec.yaml", output="r")
    assert main(["report", "r", "--tables", "tables"]) == 0
    assert capsys.readouterr().out.endswith("no tables: no view of these runs is a table, texts or verdicts\n")


def test_a_folder_without_a_run_is_an_error(project, capsys):
    assert main(["report", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
