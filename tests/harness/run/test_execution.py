"""The state of a run while it is executed: its log, its shards, its end,
the connection to a cluster, and bugs.
"""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.errors import BUG_LOG, HarnessError
from harness.registry.hooks import Plugins, hookimpl
from harness.run import execution, shard_grid
from harness.run.execution import Execution, Options, connect_cluster, log_bugs
from harness.run.executor import ExecutorOptions
from harness.run.live_results import current_results, live_results
from harness.run.shard_grid import Part
from harness.rundir.artifacts import MemoryArtifacts
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.rundir import RunDir
from harness.rundir.samples import SampleTable

MANIFEST = {"digest": "d1", "task": "t", "signature": "s", "schema": "1.0"}
RECORD = ResultRecord(model="m", metric="bleu", value=0.5, n=3)


class Calls:
    """A plugin that remembers the calls of its hooks."""

    def __init__(self):
        self.seen = []

    @hookimpl
    def harness_scores_ready(self, record):
        self.seen.append(("scores", record))

    @hookimpl
    def harness_run_finished(self, manifest, results):
        self.seen.append(("finished", manifest, results))


@pytest.fixture
def rundir(tmp_path):
    with RunDir.create(tmp_path / "r", MANIFEST) as run:
        yield run


def events(rundir):
    lines = (rundir.path / "log.jsonl").read_text().splitlines()
    return [
        {name: value for name, value in json.loads(line).items() if name != "time"}
        for line in lines
    ]


def with_plugin():
    plugins = Plugins()
    calls = Calls()
    plugins.manager.register(calls)
    return plugins, calls


def test_a_remark_is_kept_and_logged_once(rundir):
    run = Execution(Provenance(MANIFEST), rundir)
    for text in ("first", "second", "first"):
        run.note(text)
    assert run.notes == ["first", "second"]
    assert events(rundir) == [
        {"event": "note", "text": "first"},
        {"event": "note", "text": "second"},
    ]


def test_a_run_in_memory_has_no_log_and_artifacts_of_its_own():
    run = Execution(Provenance(MANIFEST))
    run.note("a remark")
    run.add(RECORD, ["e1"], 1)
    assert (run.notes, run.records) == (["a remark"], [RECORD])
    assert isinstance(run.artifacts, MemoryArtifacts)
    assert run.cluster() is None
    assert run.stage("scores") == "scores"
    assert run.show is False


def test_a_record_is_logged_where_examples_have_no_score_and_goes_to_the_plugins(
    rundir,
):
    plugins, calls = with_plugin()
    run = Execution(Provenance(MANIFEST), rundir, plugins)
    run.add(RECORD)
    run.add(replace(RECORD, model="n"), ("e1", "e2"), 5)
    assert [record.model for record in run.records] == ["m", "n"]
    assert events(rundir) == [
        {
            "event": "skipped",
            "model": "n",
            "metric": "bleu",
            "count": 5,
            "examples": ["e1", "e2"],
        }
    ]
    assert calls.seen == [
        ("scores", RECORD.to_dict()),
        ("scores", replace(RECORD, model="n").to_dict()),
    ]


def test_a_run_in_memory_ends_with_its_records_and_samples():
    plugins, calls = with_plugin()
    run = Execution(Provenance(MANIFEST), plugins=plugins)
    run.records.append(RECORD)
    run.failed["m/e1"] = "no file"
    run.notes.append("a remark")
    run.costs["m"] = {"requests": 2}
    samples = SampleTable.empty()
    finished = run.finish(samples)
    assert (finished.records, finished.samples, finished.failed, finished.notes) == (
        (RECORD,),
        samples,
        {"m/e1": "no file"},
        ["a remark"],
    )
    assert (finished.path, finished.artifacts, finished.costs) == (
        None,
        run.artifacts,
        {"m": {"requests": 2}},
    )
    assert calls.seen == [("finished", MANIFEST, [RECORD.to_dict()])]


def test_a_run_keeps_its_shards_unless_the_user_gives_a_size(rundir, monkeypatch):
    # 100 examples of 10 texts in a shard
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 8 * 100 * 4000 * 10)
    texts = 10.0
    assert Execution(Provenance(MANIFEST)).grid(1000, texts).size == 100
    assert Execution(Provenance(MANIFEST)).grid(150, texts).size == 100, (
        "not that of a part of the run"
    )
    assert (
        Execution(Provenance(MANIFEST), options=Options(part=Part(1, 20)))
        .grid(1000, texts)
        .size
        == 50
    )
    threads = Options(ExecutorOptions("process", workers=1))
    assert (
        Execution(Provenance(MANIFEST), options=threads).grid(1000, texts).size == 100
    )
    workers = Options(ExecutorOptions("process", workers=4))
    assert (
        Execution(Provenance(MANIFEST), options=workers).grid(1000, texts).size == 64
    ), "the memory is that of four workers"
    assert Execution(Provenance(MANIFEST), rundir).grid(1000, texts).size == 100
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 8 * 300 * 4000 * 10)
    assert Execution(Provenance(MANIFEST), rundir).grid(1000, texts).size == 100, (
        "as it was begun"
    )
    assert (
        Execution(Provenance(MANIFEST), rundir, options=Options(shard_size=7))
        .grid(1000, texts)
        .size
        == 7
    )
    assert Execution(Provenance(MANIFEST), rundir).grid(1000, texts).size == 7
    assert json.loads((rundir.path / "shards.json").read_text())["examples"] == 1000


def test_executors_on_this_machine_have_no_cluster(monkeypatch):
    monkeypatch.setattr(
        execution, "current", lambda: pytest.fail("no executor is loaded")
    )
    for name in ("local", "process"):
        with connect_cluster(ExecutorOptions(name)) as cluster:
            assert cluster() is None


def connects(monkeypatch, connect):
    monkeypatch.setattr(
        execution,
        "current",
        lambda: SimpleNamespace(
            load=lambda kind, name: {("executors", "ray"): connect}[kind, name]
        ),
    )


def test_a_cluster_is_closed_after_its_use_also_by_an_error(monkeypatch):
    closed = []
    connects(
        monkeypatch,
        lambda options: SimpleNamespace(
            address=options.address, close=lambda: closed.append(options.address)
        ),
    )
    with connect_cluster(ExecutorOptions("ray", address="here")) as cluster:
        assert cluster().address == "here"
        assert closed == []
    assert closed == ["here"]
    with (
        pytest.raises(KeyError),
        connect_cluster(ExecutorOptions("ray", address="there")),
    ):
        raise KeyError
    assert closed == ["here", "there"]


def test_a_connection_that_fails_is_reported_to_who_asks_for_the_cluster(monkeypatch):
    def connect(options):
        raise HarnessError("no cluster there")

    connects(monkeypatch, connect)
    with connect_cluster(ExecutorOptions("ray")):
        pass
    with (
        pytest.raises(HarnessError, match="no cluster there"),
        connect_cluster(ExecutorOptions("ray")) as cluster,
    ):
        cluster()


@pytest.mark.parametrize(
    "error", [HarnessError("a mistake"), FileNotFoundError("a file"), MemoryError()]
)
def test_mistakes_and_what_the_machine_lacks_are_no_bugs(tmp_path, error):
    with pytest.raises(type(error)) as caught, log_bugs(tmp_path):
        raise error
    assert caught.value is error and not hasattr(error, BUG_LOG)
    assert list(tmp_path.iterdir()) == []


def test_a_bug_is_logged_with_its_traceback_in_the_folder_of_the_run(tmp_path):
    with pytest.raises(ZeroDivisionError) as caught, log_bugs(tmp_path):
        _ = 1 / 0
    (event,) = events(RunDir(tmp_path))
    assert event["event"] == "bug"
    assert (
        event["traceback"].startswith("Traceback (most recent call last)")
        and "_ = 1 / 0" in event["traceback"]
    )
    assert getattr(caught.value, BUG_LOG) == str(tmp_path / "log.jsonl")


@pytest.mark.parametrize("name", [None, "missing"])
def test_a_bug_without_a_folder_is_raised_as_it_is(tmp_path, name):
    with pytest.raises(ZeroDivisionError) as caught, log_bugs(name and tmp_path / name):
        _ = 1 / 0
    assert not hasattr(caught.value, BUG_LOG)
    assert list(tmp_path.iterdir()) == []


def test_a_record_is_shown_among_the_results_so_far():
    with live_results(list):
        Execution(Provenance(MANIFEST)).add(RECORD)
        results = current_results()
        assert results is not None and list(results.records.values()) == [RECORD]
