"""Tables of the study pages are those of the stored results."""

from __future__ import annotations

import json

import pytest

from tools.documentation import result_tables


@pytest.fixture
def studies(tmp_path):
    (tmp_path / "results").mkdir()
    table = {"headers": ["", "a"], "rows": [["x", "-0.5"]]}
    (tmp_path / "results/one.json").write_text(
        json.dumps({"command": "python -m one", "tables": {"one": table}}),
        encoding="utf-8",
    )
    (tmp_path / "page.md").write_text(
        "Text.\n\n<!-- results one -->\n<!-- end -->\n\nMore.\n", encoding="utf-8"
    )
    return tmp_path


def test_tables_are_written_and_compared(studies):
    page = studies / "page.md"
    assert result_tables.stale_pages(studies) == [page]
    assert result_tables.stale_pages(studies, write=True) == [page]
    assert (
        "`python -m one`\n\n| | a |\n| --- | --- |\n| x | −0.5 |\n<!-- end -->\n\n"
        "More.\n" in page.read_text(encoding="utf-8")
    )
    assert result_tables.stale_pages(studies) == []
    page.write_text(
        page.read_text(encoding="utf-8").replace("−0.5", "−0.6"), encoding="utf-8"
    )
    assert result_tables.stale_pages(studies) == [page]


def test_a_table_without_results_is_an_error(studies):
    (studies / "page.md").write_text(
        "<!-- results two -->\n<!-- end -->\n", encoding="utf-8"
    )
    with pytest.raises(ValueError, match=r"page\.md: no results 'two'; there are one"):
        result_tables.stale_pages(studies)


def test_the_size_of_all_results_is_bounded(studies, monkeypatch):
    monkeypatch.setattr(result_tables, "LARGEST", 10)
    with pytest.raises(ValueError, match="expected at most 10"):
        result_tables.read_tables(studies / "results")


def test_the_page_of_the_papers_is_compared(studies, monkeypatch, capsys):
    result_tables.stale_pages(studies, write=True)
    page = studies / "papers.md"
    page.write_text("another page\n", encoding="utf-8")
    monkeypatch.setattr(result_tables, "papers_page", lambda: "the page\n")
    assert result_tables.stale_pages(studies) == [page]
    assert result_tables.stale_pages(studies, write=True) == [page]
    assert (
        page.read_text(encoding="utf-8") == "the page\n"
        and result_tables.stale_pages(studies) == []
    )


def test_rows_that_the_command_does_not_print_are_stale(studies):
    result_tables.stale_pages(studies, write=True)
    for suffix in ("md", "json"):
        text = (result_tables.STUDIES / f"train-on-divergence.{suffix}").read_text(
            encoding="utf-8"
        )
        (studies / f"train-on-divergence.{suffix}").write_text(text, encoding="utf-8")
    page = studies / "train-on-divergence.md"
    assert result_tables.stale_pages(studies) == []
    page.write_text(
        page.read_text(encoding="utf-8").replace("| XE | 1.538", "| XE | 1.539"),
        encoding="utf-8",
    )
    assert (
        result_tables.stale_pages(studies, write=True)
        == [page]
        == result_tables.stale_pages(studies)
    )
    (row,) = result_tables.unprinted_rows(
        page.read_text(encoding="utf-8"), page.with_suffix(".json")
    )
    assert row.startswith("| XE | 1.539 ")


@pytest.mark.slow
def test_the_pages_have_the_stored_results():
    assert result_tables.stale_pages() == []
