"""Tables in the terminal, and their widths."""

from __future__ import annotations

import io

from rich.console import Console

from harness.reporting.formats.terminal import console_for_tables, least_width, print_table, terminal_grid
from harness.reporting.table import Table


def test_the_terminal_keeps_numbers_whole_at_the_least_width():
    table = Table(["metric", "system", "value"], [["cider", "a long label of a system", "0.123456"]], "llr")
    console = Console(width=least_width(table), file=io.StringIO(), color_system=None)
    console.print(terminal_grid(table))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "0.123456" in text
    assert "a long" in text
    assert max(map(len, text.splitlines())) <= least_width(table)


def test_numbers_are_whole_in_a_narrow_terminal(capsys, monkeypatch):
    table = Table(["metric", "value"], [["cider [x]", "0.12345678"]], "lr", title="2 examples", notes=["a note"])
    monkeypatch.setattr("harness.reporting.formats.terminal.console_for_tables", lambda: console_for_tables(12))
    print_table(table)
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "2 examples"
    assert "cider [x]" in out
    assert "0.12345678" in out
    assert out.splitlines()[-1] == "a note"


def test_the_console_has_a_fixed_width_without_a_terminal():
    assert console_for_tables(70).width == 70
