"""Formats by name, and those of plug-ins."""

from __future__ import annotations

import pytest

from harness.cli.main import main
from harness.reporting.formats import file_suffixes, format_names, print_as, render
from harness.reporting.table import Table

MANIFEST = """provider: writer
formats:
  org: {import: "writer:to_org", summary: tables for Org}
"""
MODULE = """def to_org(table):
    return "".join(f"| {' | '.join(row)} |\\n" for row in [table.headers, *table.rows])
"""


@pytest.fixture
def plugin(project):
    (project / "registry.yaml").write_text(MANIFEST)
    (project / "writer.py").write_text(MODULE)
    return project


def test_built_in_formats(capsys):
    table = Table(["a"], [["1"]], "r")
    assert format_names() == ["table", "markdown", "latex", "typst", "csv", "json"]
    print_as(table, "csv")
    assert capsys.readouterr().out == render(table, "csv")


def test_a_plugin_adds_a_format_to_the_verbs(plugin, capsys):
    assert (
        format_names()[-1] == "org"
        and file_suffixes()["org"] == "org"
        and file_suffixes()["typst"] == "typ"
    )
    assert (
        render(Table(["a", "b"], [["1", "x"]], "rl"), "org") == "| a | b |\n| 1 | x |\n"
    )
    (plugin / "c.json").write_text('{"1": "a dog", "2": "a cat"}')
    (plugin / "r.json").write_text('{"1": ["a dog"], "2": ["a bird"]}')
    assert (
        main(
            [
                "score",
                "c.json",
                "--references",
                "r.json",
                "-m",
                "bleu1",
                "--format",
                "org",
            ]
        )
        == 0
    )
    assert capsys.readouterr().out.startswith("| ")
    assert main(["score", "c.json", "--references", "r.json", "--format", "orgg"]) == 2
    assert "no 'orgg'; did you mean 'org'?" in capsys.readouterr().err
