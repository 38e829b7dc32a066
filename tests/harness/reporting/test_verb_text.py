"""Results of verbs as text and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import harness
from harness.analysis.comparisons import Comparisons
from harness.contracts import VerbResult
from harness.reporting.comparison_blocks import comparison_blocks
from harness.reporting.table import Table
from harness.reporting.verb_text import MAX_ROWS, as_text, blocks_as_html, blocks_of
from tests.support.comparisons import make_comparison


@dataclass(frozen=True)
class Blocks(VerbResult):
    """A result that prints these blocks."""

    items: list[Any] = field(default_factory=list)

    def to_dict(self):
        return {}

    def blocks(self) -> Iterator[Any]:
        yield from self.items


def test_text_has_tables_and_lines_without_a_last_line_end():
    result = Blocks([Table(["name"], [["a"]], "l"), "", "a <line>"])
    assert [line.rstrip() for line in as_text(result).split("\n")] == [
        "name",
        "━━━━",
        "a",
        "",
        "a <line>",
    ]
    assert as_text(Blocks()) == ""


def test_html_is_escaped_and_empty_lines_are_none():
    result = Blocks(["<script>&", "", Table(["<n>"], [["<b>"]], "l")])
    page = blocks_as_html(result)
    assert page.startswith("<div>&lt;script&gt;&amp;</div>")
    assert "<script>" not in page and "<b>" not in page and "<n>" not in page
    assert page.count("<div>") == 1 + page.count("<div>", 30)
    assert blocks_as_html(Blocks()) == ""


def test_a_table_of_a_notebook_has_a_largest_number_of_rows():
    rows = [[f"row{k}"] for k in range(MAX_ROWS + 5)]
    page = blocks_as_html(Blocks([Table(["name"], rows, "l")]))
    assert f"row{MAX_ROWS - 1}<" in page and f"row{MAX_ROWS}<" not in page


def test_comparisons_and_scores_have_the_blocks_of_their_verbs():
    rows = Comparisons([make_comparison(a=0.3, b=0.2, difference=0.1)])
    assert list(blocks_of(rows)) == list(comparison_blocks(rows))
    scores = harness.score(["a dog"], [["a dog", "the dog"]], "rouge")
    (table,) = blocks_of(scores)
    assert isinstance(table, Table) and "1.0000" in as_text(scores)
    assert str(scores) == as_text(scores)


def test_a_run_is_printed_as_its_verb_prints_it(tmp_path):
    spec = {
        "task": "t",
        "dataset": {"reader": "jsonl", "path": str(tmp_path / "d.jsonl")},
        "models": [{"human": {"held_out": 1}}],
        "metrics": ["rouge"],
        "bootstrap": {"samples": 0},
    }
    (tmp_path / "d.jsonl").write_text('{"id": "1", "references": ["a dog", "a cat"]}\n')
    run = harness.evaluate(spec, output=tmp_path / "run")
    assert "ROUGE-L" in as_text(run) and not as_text(run).endswith("\n")
