"""Formats by name, and those of plug-ins."""

from __future__ import annotations

import pytest

from harness.cli.main import main
from harness.reporting.formats import file_suffixes, format_names, print_as, render
from harness.reporting.table import Table

MANIFEST = """provider: typist
formats:
  typst: {import: "typist:to_typst", summary: tables for Typst}
"""
MODULE = """def to_typst(table):
    cells = [text for row in [table.headers, *table.rows] for text in row]
    return f"#table(columns: {len(table.headers)}, {', '.join(f'[{cell}]' for cell in cells)})\\n"
"""


@pytest.fixture
def plugin(project):
    (project / "registry.yaml").write_text(MANIFEST)
    (project / "typist.py").write_text(MODULE)
    return project


def test_built_in_formats(capsys):
    table = Table(["a"], [["1"]], "r")
    assert format_names() == ["table", "markdown", "latex", "csv", "json"]
    print_as(table, "csv")
    assert capsys.readouterr().out == render(table, "csv")


def test_a_plugin_adds_a_format_to_the_verbs(plugin, capsys):
    assert format_names()[-1] == "typst" and file_suffixes()["typst"] == "typst"
    assert render(Table(["a", "b"], [["1", "x"]], "rl"), "typst") == "#table(columns: 2, [a], [b], [1], [x])\n"
    (plugin / "c.json").write_text('{"1": "a dog", "2": "a cat"}')
    (plugin / "r.json").write_text('{"1": ["a dog"], "2": ["a bird"]}')
    assert main(["score", "c.json", "--references", "r.json", "-m", "bleu1", "--format", "typst"]) == 0
    assert capsys.readouterr().out.startswith("#table(columns: ")
    assert main(["score", "c.json", "--references", "r.json", "--format", "typt"]) == 2
    assert "no 'typt'; did you mean 'typst'?" in capsys.readouterr().err
