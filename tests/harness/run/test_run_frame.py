"""The frame of a run: its directory, its log, and what is computed in it."""

from __future__ import annotations

from functools import partial

import pytest

from harness.files.component_lines import record_line
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.run.execution import Execution
from harness.run.run_frame import compute_run
from harness.rundir.sample_file import SampleWriter

MANIFEST = {"task": "t", "signature": "s", "digest": "d", "data": {"examples": 0}}


@pytest.fixture
def frame(tmp_path):
    """``frame(compute, **options)``: the run of a manifest in a directory."""
    return partial(
        compute_run,
        MANIFEST,
        Plugins().load(current()),
        Execution,
        output=tmp_path / "r",
        mode="auto",
    )


def finish(run: Execution):
    record_line("metric 'mine'", "a line")
    file = run.rundir.create_samples() if run.rundir is not None else None
    with SampleWriter(file, (), (), has_meta=False) as writer:
        pass
    return run.finish(writer.table if file is None else None)


def must_not_compute(run: Execution):
    raise AssertionError(f"{run} is computed again")


def test_the_log_has_the_start_the_lines_of_components_and_the_end(frame):
    events = frame(finish).log_events
    assert [event["event"] for event in events] == ["started", "component", "finished"]
    assert events[0]["digest"] == "d"
    assert events[1]["component"] == "metric 'mine'" and events[1]["text"] == "a line"


def test_a_finished_run_is_opened_and_not_computed(frame):
    frame(finish)
    assert frame(must_not_compute).path is not None


def test_a_directory_is_prepared_before_its_end_is_asked_for(frame):
    asked: list[bool] = []
    prepare = lambda rundir: asked.append(rundir.finished)  # noqa: E731
    frame(finish, prepare_directory=prepare)
    frame(must_not_compute, prepare_directory=prepare)
    assert asked == [False, True]


def test_a_run_without_a_directory_stays_in_memory(frame):
    run = frame(finish, output=None)
    assert run.path is None and run.log_events == []
