"""docs/studies/papers.md has a line for every published item, with a spec that loads, a
comparison and a difference.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
import sys

import pytest
import yaml

from harness.spec.loading import load_specs


@pytest.fixture(scope="module")
def papers(root):
    spec = importlib.util.spec_from_file_location(
        "benchmark_papers", root / "benchmarks/papers.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmark_papers"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["benchmark_papers"]


@pytest.fixture(scope="module")
def entries(papers):
    return papers.items()


def test_every_published_item_is_in_the_index(entries, root):
    published = {
        (path.stem, str(item["id"]))
        for path in (root / "tasks/harness_tasks/studies/published").glob("*20*.yaml")
        for item in yaml.safe_load(path.read_text(encoding="utf-8"))["items"]
    }
    assert {(entry.paper, entry.id) for entry in entries} == published
    assert len(entries) == len(published) == 68


def test_every_entry_has_a_reason_and_one_way_to_its_state(entries, papers):
    for entry in entries:
        ways = [
            bool(entry.results),
            bool(entry.table),
            bool(entry.judged),
            (entry.paper, entry.id) in papers.STATEMENTS,
        ]
        assert ways.count(True) == 1, entry
        assert (entry.kind in papers.KINDS) == (not entry.has_numbers), entry
        assert entry.because.strip() and "not known" not in entry.because, entry
        assert not entry.results or entry.tolerance > 0, entry
    assert sum(bool(entry.judged) for entry in entries) <= 10


def test_every_state_is_computed(entries, papers):
    unclear: list[str] = []
    for entry in entries:
        state, numbers = papers.compare(entry)
        assert state in papers.STATES and numbers, entry
        assert state != "differs" or entry.shows, entry
        assert papers.PENDING not in papers.largest_stored(entry, papers.Stored())
        if state == "cannot tell":
            assert numbers.startswith("missing: "), entry
            unclear.append(entry.id)
    assert len(unclear) <= 3, unclear


def test_an_item_without_results_cannot_be_told(papers):
    item = papers.Item(
        "p", "i", "s", "coco", "a reason", "", results="none", shows="a command"
    )
    assert papers.compare(item) == (
        "cannot tell",
        "no results are stored; a command measures them",
    )


@pytest.mark.slow
def test_every_spec_loads(entries):
    for spec in sorted({entry.spec for entry in entries}):
        assert load_specs(spec), spec


def test_differences_that_need_no_run(papers, entries, monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    measured = papers.computed(entries)
    assert measured["Tanti et al. 2018, Figure 1"].startswith("0.00014 ")
    assert measured["Tsvilodub and Franke 2023, section 2.1"].startswith(
        "0 images (9.6 million"
    )
    assert len(measured) == 3


@pytest.mark.large_sets("pregen/data.txt.gz")
def test_differences_of_the_published_table_of_pregen(
    papers, entries, monkeypatch, shared
):
    monkeypatch.setenv("HARNESS_DATA", str(shared / "data"))
    measured = papers.computed(entries)
    assert measured["Tanti et al. 2018, Figure 2"].startswith("0.004 (R2 0.756 ")
    assert measured["Tanti et al. 2018, section 4"] == "0 of 20 names"


def test_the_largest_difference_is_that_of_a_stored_table(tmp_path):
    from benchmarks.papers_rule import read_table

    def pairs(table, cells=""):
        return [
            (cell.name, cell.ours, cell.published)
            for cell in read_table(table, cells, folder=tmp_path)
        ]

    cells = [["**block**", ""], ["a", "1.0 / 2.5"], ["b", "–  / 9"]]
    beside = [["a, ours", "1e-3 … 0.5", "2"], ["published", "0.1", "< 0.1"]]
    tables = {
        "cells": (["", "x"], cells),
        "rows": (["", "x", "y"], beside),
        "columns": (["", "x", "published"], [["a", "3", "1"], ["b", "4", ""]]),
    }
    content = {
        "tables": {
            name: {"headers": heads, "rows": rows}
            for name, (heads, rows) in tables.items()
        }
    }
    (tmp_path / "f.json").write_text(json.dumps(content), encoding="utf-8")
    assert pairs("f/cells") == [("a, x; block", 1.0, 2.5)]
    assert pairs("f/rows") == [("a, ours, x", 0.1, 0.1)]  # within the range
    assert pairs("f/columns", "^a, x") == [("a, x", 3.0, 1.0)]
    assert pairs("f/columns", "^b") == []


@pytest.mark.slow
def test_the_page_has_the_lines_of_the_benchmark(papers, root, tmp_path, monkeypatch):
    page = (root / "docs/studies/papers.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"Output of `python -m benchmarks.(papers [^`]*)`", page)
    monkeypatch.setattr(
        sys, "argv", command.replace("docs/studies", str(tmp_path)).split()
    )
    papers.main()
    assert (tmp_path / "papers.md").read_text(encoding="utf-8") == page


@pytest.mark.slow
def test_every_printed_number_of_a_view_is_of_an_item_of_the_index(entries, papers):
    """A view names its item by author, year and number, as the benchmark does."""
    sources = {entry.source for entry in entries}
    for spec in sorted({entry.spec for entry in entries}):
        for loaded in load_specs(spec):
            for view in loaded.spec.views:
                if isinstance(view.reference, papers.PublishedTable):
                    assert view.reference.source in sources, (spec, view.title)


@pytest.mark.slow
def test_the_largest_difference_of_a_run(papers, tmp_path, monkeypatch):
    from harness import api

    monkeypatch.delenv("HARNESS_DATA", raising=False)
    runs = api.evaluate_all(
        "studies/human-pvalues",
        output=tmp_path / "run",
        limit=4,
        overrides=["bootstrap.samples=0"],
    )
    assert papers.differences(runs) == {}  # the sample has no published row
    (loaded,) = load_specs("studies/human-pvalues")
    assert loaded.spec.task == "sample-human"


def test_the_largest_difference_is_of_one_task(papers):
    rows = [("A", (1.5, 0.2)), ("B", (3.0, math.nan))]
    task = [{"label": "A", "task": "t", "values": {"x": 1.0, "y": "< 0.5"}}]
    table = papers.PublishedTable.model_validate(
        {
            "source": "a paper",
            "rows": [
                *task,
                {"label": "A", "task": "u", "values": {"x": 9.0}},
                {"values": {"y": 2.0}},
            ],
        }
    )
    assert papers.largest_difference(rows, ("x", "y"), table, "t") == (0.5, "A", "x")
    assert papers.largest_difference(rows, ("x", "y"), table, "u")[0] == 7.5
    assert math.isnan(papers.largest_difference(rows, ("y",), table, "t")[0])
    every = papers.PublishedTable.model_validate(
        {"source": "s", "rows": [{"label": "*", "values": {"x": 2.0}}]}
    )
    assert papers.largest_difference(rows, ("x", "y"), every, "t") == (1.0, "B", "x")
