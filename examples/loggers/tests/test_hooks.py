"""The hooks of the loggers in a run."""

from __future__ import annotations

import json
import sys
from typing import ClassVar

import pytest
from caption_loggers import hooks, services

from harness.cli.main import main

SPEC = ["score", "p.json", "--references", "r.json", "-m", "length-ratio", "--json"]


class Recorder:
    """A service that keeps what it gets."""

    instances: ClassVar[list[Recorder]] = []

    def __init__(self, manifest, *, fail: bool = False):
        print("a banner of the library")
        self.manifest = manifest
        self.fail = fail
        self.values = {}
        self.rows = None
        self.stopped = None
        Recorder.instances.append(self)

    def record(self, values):
        if self.fail:
            raise ConnectionError("the service is\nnot there")
        self.values |= values

    def finish(self, rows):
        self.rows = rows

    def stop(self, reason, *, interrupted):
        self.stopped = (reason, interrupted)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_ratio.py").write_text(
        "import harness\n\n\n@harness.metric_function(higher_is_better=True)\n"
        "def length_ratio(candidates, references):\n    return len(candidates[0]) "
        "/ len(references[0])\n"
    )
    (tmp_path / "registry.yaml").write_text(
        'metrics: {length-ratio: {import: "mine_ratio:length_ratio", summary: "x"}}\n'
    )
    (tmp_path / "p.json").write_text(json.dumps({"a": "xy", "b": "x"}))
    (tmp_path / "r.json").write_text(json.dumps({"a": "x", "b": "x"}))
    Recorder.instances.clear()
    monkeypatch.setitem(services.SERVICES, "recorder", Recorder)
    yield
    sys.modules.pop("mine_ratio", None)


def test_a_run_is_logged_with_its_table(project, monkeypatch, capsys):
    monkeypatch.setenv("HARNESS_LOGGERS", "recorder")
    assert main(SPEC) == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)["results"][0]  # stdout has the results alone
    assert "a banner of the library" in captured.err
    (logger,) = Recorder.instances
    assert logger.manifest["task"] == "score p.json"
    assert logger.values == {
        "length-ratio/p": record["value"],
        "length-ratio/p/low": record["ci95"][0],
        "length-ratio/p/high": record["ci95"][1],
    }
    assert logger.rows == [
        ["p", "", "length-ratio", record["value"], *record["ci95"], None, 2, 0]
    ]


def test_a_logger_that_fails_is_left_out_and_the_run_goes_on(
    project, monkeypatch, caplog
):
    monkeypatch.setenv("HARNESS_LOGGERS", "recorder:fail=true,recorder")
    assert main(SPEC) == 0
    assert (
        caplog.text.count(
            "note: logger recorder failed and is left out of the rest of this run"
        )
        == 1
    )
    assert "ConnectionError: the service is not there" in caplog.text
    assert [logger.rows is None for logger in Recorder.instances] == [True, False]


def test_mistakes_end_the_run_before_anything_is_computed(project, monkeypatch, capsys):
    monkeypatch.setenv("HARNESS_LOGGERS", "recordr")
    assert main(SPEC) == 2
    assert (
        "HARNESS_LOGGERS: no logger 'recordr'; did you mean 'recorder'?"
        in capsys.readouterr().err
    )


def test_without_the_variable_nothing_is_imported(project, monkeypatch):
    monkeypatch.delenv("HARNESS_LOGGERS", raising=False)
    assert main(SPEC) == 0
    assert Recorder.instances == []


def test_numbers_that_are_not_finite_are_left_out():
    record = {
        "model": "m",
        "metric": "x",
        "value": float("nan"),
        "ci95": None,
        "p_value": 0.5,
    }
    assert hooks.numbers_of(record) == {"x/m/p": 0.5}


@pytest.mark.parametrize(
    ("error", "code", "expected"),
    [
        ("ValueError('it broke')", 2, ("ValueError: it broke for example 'a'", False)),
        ("KeyboardInterrupt()", 130, ("KeyboardInterrupt", True)),
    ],
)
def test_a_run_that_fails_or_is_interrupted_is_stopped_in_the_service(
    project, tmp_path, monkeypatch, error, code, expected
):
    (tmp_path / "mine_ratio.py").write_text(
        "import harness\n\n\n@harness.metric_function(higher_is_better=True)\n"
        f"def length_ratio(candidates, references):\n    raise {error}\n"
    )
    monkeypatch.setenv("HARNESS_LOGGERS", "recorder")
    assert main(SPEC) == code
    (logger,) = Recorder.instances
    reason, interrupted = logger.stopped
    assert reason.endswith(expected[0])
    assert interrupted is expected[1]
    assert logger.rows is None


def test_a_logger_that_cannot_start_stops_those_that_have(project, monkeypatch):
    class Absent(Recorder):
        def __init__(self, manifest):
            raise ConnectionError("no server")

    monkeypatch.setitem(services.SERVICES, "absent", Absent)
    monkeypatch.setenv("HARNESS_LOGGERS", "recorder,absent")
    assert main(SPEC) == 2
    (logger,) = Recorder.instances
    assert "no server" in logger.stopped[0]


def test_a_part_of_a_run_is_ended_without_results(project, tmp_path, monkeypatch):
    (tmp_path / "spec.yaml").write_text(
        "task: t\ndataset: {reader: auto, path: r.json}\nmodels: [{predictions: "
        "{path: p.json}}]\n"
        "metrics: [length-ratio]\nbootstrap: {samples: 0}\n"
    )
    monkeypatch.setenv("HARNESS_LOGGERS", "recorder")
    assert main(["run", "spec.yaml", "--shard", "1/2", "--output", "out"]) == 0
    (logger,) = Recorder.instances
    assert (logger.rows, logger.stopped) == ([], None)
