"""Provenance as tables, and the command that runs a spec again."""

from __future__ import annotations

import json
import subprocess
from types import SimpleNamespace
from typing import cast

from harness.cli.main import main
from harness.reporting.page.provenance import _events, command, listings, portable
from harness.run.finished import Run


def test_tables_hold_facts_models_metrics_times_and_failures(finished):
    tables = {table.title: table for table in listings(Run.open(finished()))}
    assert list(tables)[:3] == ["Run", "Models", "Metrics"]
    assert dict(tables["Run"].rows)["data fingerprint"] == "words-6"
    assert [row[0] for row in tables["Models"].rows][1:] == ["two", "people", "others"]
    stages = [row[0] for row in tables["Time per stage"].rows]
    assert "captions of two" in stages and "scores of length" in stages and "whole run" in stages
    assert tables["Failures"].rows == [("two/e1", "could not read it")]


def test_a_limit_is_explained(finished):
    (facts,) = (dict(table.rows) for table in listings(Run.open(finished(limit=4))) if table.title == "Run")
    assert "|limit:4|" in facts["signature"] and facts["limit"] == "the first 4 examples of the data, or all of fewer"


def test_a_page_names_no_folder_of_data_and_no_home(monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", "/home/me/sets/")
    monkeypatch.setenv("HOME", "/home/me")
    text = '["/home/me/sets/a.json", "/home/me/b.json", "/home/mene/c", "/mnt/home/me/d"]'
    assert portable(text) == '["${HARNESS_DATA}/a.json", "${HOME}/b.json", "/home/mene/c", "/mnt/home/me/d"]'
    monkeypatch.setenv("HARNESS_DATA", "data")
    monkeypatch.setenv("HOME", "/")
    assert portable("data/a /b") == "data/a /b"


def test_a_torn_log_and_a_run_in_memory_are_read(finished, project):
    log = project / finished() / "log.jsonl"
    added = ['{"time": 1, "event": "answers", "model": "none", "seconds": 3}', '{"time": "1", "event": "none"}', '{"time": 1, "eve']
    log.write_text(log.read_text() + "\n".join(added))
    (stages,) = (table for table in listings(Run.open("r")) if table.title == "Time per stage")
    assert len(_events(project / "r")) == log.read_text().count("\n") - 1, "without the line whose time is a text"
    assert not any("none" in str(row[0]) for row in stages.rows), "of captions alone"
    log.unlink()
    assert any(table.title == "Time per stage" for table in listings(Run.open("r")))


def test_the_command_runs_the_same_spec(finished, project, monkeypatch):
    run = Run.open(finished(views=[]))
    lines = command(run).splitlines()
    assert lines[-1] == "harness run again.yaml --output again"
    subprocess.run(["sh", "-c", "\n".join(lines[:-1])], check=True, cwd=project)
    assert json.loads((project / "again.yaml").read_text()) == run.provenance.spec
    assert main(["run", "again.yaml", "--output", "again"]) in (0, 1)
    assert Run.open("again").provenance.digest == run.provenance.digest


def test_the_delimiter_is_no_line_of_the_spec(finished):
    text = command(Run.open(finished(description="SPEC\nSPEC", views=[])))
    assert text.splitlines()[0] == "cat > again.yaml <<'SPEC_'"


def test_without_a_spec_there_is_no_command():
    assert command(cast(Run, SimpleNamespace(provenance=SimpleNamespace(spec={})))) == ""
