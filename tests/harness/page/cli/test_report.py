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
    assert capsys.readouterr().out.split() == [
        "page.html",
        *(
            f"tables/{name}.{suffix}"
            for name in ("results", "01-all")
            for suffix in ("csv", "md", "tex", "typ")
        ),
    ]


def test_a_run_without_views_has_its_main_table(project, capsys):
    harness.evaluate("spec.yaml", output="r")
    assert main(["report", "r", "--tables", "tables"]) == 0
    assert capsys.readouterr().out.split()[1:] == [
        f"tables/results.{suffix}" for suffix in ("csv", "md", "tex", "typ")
    ]
    assert "length" in (project / "tables" / "results.tex").read_text()


@pytest.mark.slow
def test_figures_come_with_the_tables(run, capsys):
    views = [{"plot": "line", "x": "decoding.candidates", "y": "length", "by": "model"}]
    harness.evaluate(
        "spec.yaml", views=views, decoding={"candidates": [1, 2, 3]}, output="s"
    )
    assert main(["report", "s", "--output", "page.html", "--figures", "figures"]) == 0
    names = {
        line.removeprefix("figures/") for line in capsys.readouterr().out.splitlines()
    }
    assert {
        "view-1-single.pdf",
        "over-candidates-double.svg",
        "results.tex",
        "figures.md",
    } <= names


def test_a_folder_without_a_run_is_an_error(project, capsys):
    assert main(["report", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
