"""Provenance as tables, and the command that runs a spec again."""

from __future__ import annotations

import json
import subprocess
from types import SimpleNamespace
from typing import cast

import pytest

from harness.cli.main import main
from harness.page.provenance import command, listings, portable
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

SCORES = [("scores of m", "0.7500"), ("scores of CIDEr-D", "2.0000")]


def test_tables_hold_facts_models_metrics_times_and_failures(finished):
    tables = {table.title: table for table in listings(Run.open(finished()))}
    assert list(tables)[:3] == ["Run", "Models", "Metrics"]
    assert dict(tables["Run"].rows)["data fingerprint"] == "words-6"
    assert [row[0] for row in tables["Models"].rows][1:] == ["two", "people", "others"]
    stages = [row[0] for row in tables["Time per stage"].rows]
    assert (
        "captions of two" in stages
        and "scores of length" in stages
        and "whole run" in stages
    )
    assert tables["Failures"].rows == [("two/e1", "could not read it")]


def test_a_limit_is_explained(finished):
    (facts,) = (
        dict(table.rows)
        for table in listings(Run.open(finished(limit=4)))
        if table.title == "Run"
    )
    assert (
        "|limit:4|" in facts["signature"]
        and facts["limit"] == "the first 4 examples of the data, or all of fewer"
    )


def test_a_page_names_no_folder_of_data_and_no_home(monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", "/home/me/sets/")
    monkeypatch.setenv("HOME", "/home/me")
    text = (
        '["/home/me/sets/a.json", "/home/me/b.json", "/home/mene/c", "/mnt/home/me/d"]'
    )
    assert (
        portable(text)
        == '["${HARNESS_DATA}/a.json", "${HOME}/b.json", "/home/mene/c", '
        '"/mnt/home/me/d"]'
    )
    monkeypatch.setenv("HARNESS_DATA", "data")
    monkeypatch.setenv("HOME", "/")
    assert portable("data/a /b") == "data/a /b"


def test_a_torn_log_and_a_run_in_memory_are_read(finished, project):
    log = project / finished() / "log.jsonl"
    added = [
        '{"time": 1, "event": "answers", "model": "none", "seconds": 3}',
        '{"time": "1", "event": "none"}',
        '{"time": 1, "eve',
    ]
    log.write_text(log.read_text() + "\n".join(added))
    (stages,) = (
        table for table in listings(Run.open("r")) if table.title == "Time per stage"
    )
    assert len(Run.open("r").log_events) == log.read_text().count("\n") - 1, (
        "without the line whose time is a text"
    )
    assert not any("none" in str(row[0]) for row in stages.rows), "of captions alone"
    log.unlink()
    assert any(table.title == "Time per stage" for table in listings(Run.open("r")))


@pytest.fixture
def logged(tmp_path):
    """``logged(*events)``: rows of the times of a run of two models with these events
    in its log.
    """

    def rows(*events: dict | str) -> list:
        lines = [
            event if isinstance(event, str) else json.dumps(event) for event in events
        ]
        (tmp_path / "log.jsonl").write_text("".join(line + "\n" for line in lines))
        seconds = {("a", "m"): 0.5, ("b", "m"): 0.25, ("a", "cider"): 2.0}
        records = [
            ResultRecord(model=model, metric=metric, seconds=value)
            for (model, metric), value in seconds.items()
        ]
        run = Run(
            Provenance({}), (records[0], *records), SampleTable.empty(), path=tmp_path
        )
        return next(
            list(table.rows)
            for table in listings(run)
            if table.title == "Time per stage"
        )

    return rows


def test_times_are_sums_by_model_and_metric_and_the_whole_run_lasts_to_its_end(logged):
    events = [
        {"time": 1.5, "event": "started"},
        {"time": 2, "event": "captions", "model": "a", "seconds": 1.5},
        {"time": 3, "event": "captions", "model": "b", "seconds": 4},
        {"time": 3, "event": "captions", "model": "a", "seconds": 2},
        {"time": 3, "event": "captions", "model": "b", "seconds": "x"},
        {"time": 4, "event": "finished"},
        {"time": 9, "event": "finished"},
    ]
    others = [
        {"time": 20, "event": name, "model": "c", "seconds": 1}
        for name in ("answers", "report", "written")
    ]
    captions = [("captions of a", "3.5000"), ("captions of b", "4.0000")]
    assert logged(*events, *others) == [*captions, *SCORES, ("whole run", "7.5000")]
    assert logged(*events[:-2]) == [*captions, *SCORES], "it has not finished"
    assert logged({"time": 0, "event": "started"}, *events) == [*captions, *SCORES], (
        "of several sessions there is no whole"
    )
    assert logged(*events[4:]) == SCORES
    assert logged('{"time": 1, "eve', "[]", *events) == logged(*events), (
        "lines behind a torn one count"
    )


def test_facts_versions_and_local_code_are_tables():
    content = {
        "task": "t",
        "signature": "s",
        "digest": "d",
        "seed": 0,
        "schema": 1,
        "versions": {"harness": 2},
        "data": {
            "reader": "words",
            "fingerprint": "f",
            "examples": 0,
            "references": [1, 3],
        },
        "spec": {"limit": None},
        "models": [{"label": "a", "adapter": "echo", "params": {}, "fingerprint": "x"}],
        "metrics": [
            {"label": "m", "name": "mine/m", "params": {"n": "é"}, "signature": "y"}
        ],
        "local_code": [
            {"registry": "registry.yaml", "provider": "mine", "modules": ["mine_parts"]}
        ],
    }
    tables = listings(Run(Provenance(content), (), SampleTable.empty(), {"a/1": "no"}))
    assert {
        table.title: (table.headers, table.rows, table.alignment) for table in tables
    } == {
        "Run": (
            ["", "value"],
            [
                ("task", "t"),
                ("signature", "s"),
                ("digest", "d"),
                ("reader", "words"),
                ("data fingerprint", "f"),
                ("examples", "0"),
                ("references per example", "1, 3"),
                ("seed", "0"),
                ("schema of the manifest", "1"),
            ],
            "ll",
        ),
        "Models": (
            ["model", "adapter", "parameters", "fingerprint"],
            [("a", "echo", "", "x")],
            "llll",
        ),
        "Metrics": (
            ["metric", "component", "parameters", "signature"],
            [("m", "mine/m", '{"n": "é"}', "y")],
            "llll",
        ),
        "Versions": (["package", "version"], [("harness", "2")], "ll"),
        "Local code": (
            ["registry", "provider", "modules"],
            [("registry.yaml", "mine", '["mine_parts"]')],
            "lll",
        ),
        "Failures": (["model and example", "reason"], [("a/1", "no")], "ll"),
    }


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
    assert (
        command(cast(Run, SimpleNamespace(provenance=SimpleNamespace(spec={})))) == ""
    )
