"""Texts folded to the width of the terminal."""

from __future__ import annotations

from harness.reporting.folding import fold, print_folded, terminal_width


def test_what_follows_stands_below_the_last_column():
    assert fold("name  a text of words", 16) == "name  a text of\n      words"
    assert fold("  models: one, two, three", 16) == "  models: one,\n  two, three"
    assert fold("x" * 30, 16) == "x" * 30, "a path is copied whole"


def test_a_pipe_has_lines_as_they_are(capsys):
    assert terminal_width() is None
    print_folded("a line " * 40)
    assert capsys.readouterr().out == "a line " * 40 + "\n"
