"""docs/same.md prints what its commands print, on the files of examples/same."""

from __future__ import annotations

import re

import pytest

from harness.cli.main import main


def commands(root):
    text = (root / "docs" / "same.md").read_text(encoding="utf-8")
    return re.findall(r"```\n\$ harness (same [^\n]*)\n(.*?)\n```", text, re.DOTALL)


@pytest.mark.parametrize("position", [pytest.param(0, marks=pytest.mark.slow), 1, 2])
def test_the_page_shows_what_the_command_prints(root, monkeypatch, capsys, position):
    monkeypatch.chdir(root / "examples" / "same")
    command, shown = commands(root)[position]
    code = main(command.split())
    assert capsys.readouterr().out.rstrip() == shown
    assert code == (4 if "again" in command else 1)


def test_the_word_same_is_no_verdict(root):
    for _, shown in commands(root):
        assert "same" not in shown


def test_the_page_names_the_kernels_and_the_columns_of_prompts(root):
    from harness.run.file_pair import PROMPT_COLUMNS

    text = (root / "docs" / "same.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in PROMPT_COLUMNS)
