"""Tables in Markdown."""

from __future__ import annotations

import pytest

from harness.reporting.formats.markdown import (
    escape_markdown,
    markdown_page,
    to_markdown,
)
from harness.reporting.table import Table


def test_a_pipe_table(table):
    assert to_markdown(table).splitlines() == [
        "2 examples",
        "",
        "| metric | system | value |",
        "| --- | --- | ---: |",
        r"| cider ↑ | a\_b &amp; co | **0.5**<sup>a</sup> |",
        r"|  | 50 % \[x\] | -0.25 |",
        "| trm ↓ | c | – |",
        "",
        r"difference: to a\_b  ",
    ]


def test_a_file_is_a_heading_and_a_table_whose_cells_may_have_lines():
    table = Table(["a", "b"], [["x\ny", "1"]], "lr", "A # title", ["a note"])
    assert (
        markdown_page(table)
        == "# A \\# title\n\n| a | b |\n| --- | --- |\n| x<br>y | 1 |\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", r"a\|b"),
        ("*x* _y_", r"\*x\* \_y\_"),
        ("<b>&", "&lt;b>&amp;"),
        ("two\n lines", "two lines"),
        ("`~#[]`", r"\`\~\#\[\]\`"),
    ],
)
def test_markup_is_escaped(text, expected):
    assert escape_markdown(text) == expected
