"""Lines of components: kept by a run, bounded, and nowhere else."""

from __future__ import annotations

import logging

from harness.files import component_lines
from harness.files.component_lines import (
    MAX_LENGTH,
    collect_lines,
    keep_lines,
    record_again,
    record_line,
)


def test_lines_are_kept_within_a_run_alone(caplog):
    kept = []
    record_line("metric 'a'", "before")
    with caplog.at_level(logging.DEBUG), keep_lines(lambda *line: kept.append(line)):
        record_line("metric 'a'", "100 % of {this} is text: %s")
    record_line("metric 'a'", "after")
    assert kept == [("metric 'a'", "100 % of {this} is text: %s")]
    assert not caplog.records


def test_each_of_two_runs_keeps_them():
    outer, inner = [], []
    with keep_lines(lambda *line: outer.append(line)):
        with keep_lines(lambda *line: inner.append(line)):
            record_line("a", "1")
        record_line("a", "2")
    assert (outer, inner) == ([("a", "1"), ("a", "2")], [("a", "1")])


def test_a_flood_is_cut(monkeypatch):
    monkeypatch.setattr(component_lines, "MAX_LINES", 3)
    kept = []
    with keep_lines(lambda _, text: kept.append(text)):
        for number in range(10):
            record_line("a", str(number) * (MAX_LENGTH + 1))
    assert [text[:2] for text in kept[:-1]] == ["00", "11", "22"]
    assert all(len(text) == MAX_LENGTH + 4 for text in kept[:-1])
    assert kept[-1] == "more than 3 lines; these are the first"


def test_collected_lines_are_recorded_again():
    with collect_lines() as lines:
        record_line("a", "1")
        record_line("b", "2")
    record_line("a", "3")
    again = []
    with keep_lines(lambda *line: again.append(line)):
        record_again(lines)
    assert again == [("a", "1"), ("b", "2")]
