"""The log of a run directory."""

from __future__ import annotations

from harness.rundir.run_log import read_log_events


def test_torn_and_foreign_lines_are_left_out(tmp_path):
    lines = [
        '{"time": 1, "event": "answers"}',
        '{"time": "1", "event": "a text for a time"}',
        "[1]",
        '{"time": 2, "eve',
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    assert read_log_events(tmp_path) == [{"time": 1, "event": "answers"}]


def test_a_directory_without_a_log_has_no_events(tmp_path):
    assert read_log_events(tmp_path) == []
