"""Tables and lines of verbs."""

from __future__ import annotations

import io

from harness.reporting.blocks import print_blocks
from harness.reporting.formats.terminal import console_for_tables
from harness.reporting.table import Table

BLOCKS = [Table(["a"], [["1"]], "r"), "a [line]", ""]


def test_blocks_are_printed_in_their_order(capsys):
    print_blocks(BLOCKS)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["a", "━", "1", "a [line]", ""]


def test_a_console_of_another_file_takes_them(capsys):
    text = io.StringIO()
    print_blocks(BLOCKS, console_for_tables(file=text))
    assert "a [line]\n" in text.getvalue() and not capsys.readouterr().out
