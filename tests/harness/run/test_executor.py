"""Executors of shards: options, worker processes, a worker that is lost,
metrics that cannot be sent.
"""

from __future__ import annotations

import os
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import pytest

import harness.api
from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run import executor as module
from harness.run import worker
from harness.run.execution import Options
from harness.run.executor import (
    ExecutorOptions,
    LocalExecutor,
    ProcessExecutor,
    job_steps,
)
from harness.run.shard_scores import Job, Request
from harness.run.worker import JobResult

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 9},
    "models": ["echo"],
    "metrics": ["length", {"trm": {"distance": "chars"}}],
    "significance": "exact",
}


def test_the_number_of_workers(monkeypatch):
    assert ExecutorOptions().count == 1
    assert ExecutorOptions("process", 3).count == 3
    assert ExecutorOptions("process").count == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert ExecutorOptions("process").count == 1


@pytest.mark.equal_bits
@pytest.mark.slow
def test_worker_processes_give_the_same_digits_with_local_code(project):
    local = harness.evaluate(SPEC, output="local")
    options = Options(ExecutorOptions("process", 2), shard_size=2)
    remote = harness.api.evaluate_all(SPEC, output=project / "remote", options=options)[
        0
    ]
    assert [r.value for r in remote.records] == [r.value for r in local.records]
    assert [r.p_value for r in remote.records] == [r.p_value for r in local.records]
    assert remote.samples.to_dict() == local.samples.to_dict()


@pytest.mark.equal_bits
@pytest.mark.slow
def test_a_worker_that_is_killed_loses_no_shard(project):
    code = (project / "mine_parts.py").read_text()
    kill = (
        "    def scores(self, batch, features, state):\n"
        "        if 'e4' in batch.ids and not os.path.exists('killed'):\n"
        "            open('killed', 'w').close()\n"
        "            import multiprocessing\n"
        "            if multiprocessing.parent_process() is not None:\n"
        "                os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (project / "mine_parts.py").write_text(
        code.replace("    def scores(self, batch, features, state):\n", kill)
    )
    options = Options(ExecutorOptions("process", 2), shard_size=2)
    run = harness.api.evaluate_all(SPEC, output=project / "r", options=options)[0]
    assert (project / "killed").exists()
    assert run.records[0].n == 9


class Pool:
    """Computes jobs as they are given; breaks at the ``breaks``-th results,
    as a pool does whose worker ends.
    """

    def __init__(self, breaks: set[int]) -> None:
        self.breaks = breaks
        self.submitted = 0
        self.stopped = 0

    def submit(self, function, job):
        future: Future = Future()
        if self.submitted in self.breaks:
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(JobResult(job.sets[0], []))
        self.submitted += 1
        return future

    def shutdown(self, *, wait, cancel_futures):
        assert not wait and cancel_futures
        self.stopped += 1


def jobs(count):
    """Return jobs of one text each, whose scores are that text."""
    return [
        SimpleNamespace(
            sets=[[f"job {k}"]], requests=[SimpleNamespace(captions=0, metrics=["m"])]
        )
        for k in range(count)
    ]


def pooled(monkeypatch, pool):
    """Return an executor with a pool of this process,
    and the numbers of steps that it reports.
    """
    monkeypatch.setattr(module, "pack_scorer", lambda scorer: b"")
    monkeypatch.setattr(module, "_new_pool", lambda *arguments: pool)
    return ProcessExecutor(None, 2), []  # type: ignore[arg-type]


def test_two_jobs_for_each_worker_are_taken_at_a_time(monkeypatch):
    executor, steps = pooled(monkeypatch, Pool(set()))
    executor.workers = 3
    left = iter(jobs(20))
    next(executor.scores(left, steps.append))
    assert len(list(left)) == 14


def test_the_steps_of_a_job_are_its_examples_under_each_metric():
    requests = [
        Request(0, 0, None, None, ((0, 9), (1, 9))),
        Request(1, 1, None, None, ((0, 9),)),
        Request(1, 1, 1, None, ()),
    ]
    assert (
        job_steps(
            Job(
                0,
                [
                    [CaptionSet("e", ("a",), ("b",))] * 3,
                    [CaptionSet("e", ("a",), ("b",))] * 2,
                ],
                requests,
            )
        )
        == 8
    )


def test_jobs_are_scored_in_this_process_in_their_order():
    steps: list[int] = []

    def score(job, advance):
        advance(1)
        return job.sets

    executor = LocalExecutor(SimpleNamespace(score=score))  # type: ignore[arg-type]
    assert list(executor.scores(jobs(3), steps.append)) == [
        [["job 0"]],
        [["job 1"]],
        [["job 2"]],
    ]
    assert steps == [1, 1, 1]


@pytest.mark.parametrize("breaks", [{0}, {3}, {0, 7}, {5, 6}])
def test_jobs_of_a_broken_pool_are_given_to_a_new_one(monkeypatch, breaks):
    pool = Pool(breaks)
    executor, steps = pooled(monkeypatch, pool)
    scores = [text for (text,) in executor.scores(jobs(9), steps.append)]
    assert sorted(scores) == [f"job {k}" for k in range(9)]
    assert steps == [1] * 9
    assert pool.stopped >= 1
    executor.close()
    executor.close()
    stopped = pool.stopped
    assert executor._pool is None
    executor.close()
    assert pool.stopped == stopped


def test_a_pool_that_always_breaks_is_given_up(monkeypatch):
    pool = Pool(set(range(1000)))
    executor, steps = pooled(monkeypatch, pool)
    with pytest.raises(HarnessError, match="^21 times a worker process ended"):
        list(executor.scores(jobs(3), steps.append))
    assert steps == [] and pool.stopped == 20


def test_losses_after_a_shard_that_ended_are_counted_anew(monkeypatch):
    monkeypatch.setattr(module, "MAX_LOSSES", 1)
    pool = Pool(set(range(4, 100)))
    executor, steps = pooled(monkeypatch, pool)
    with pytest.raises(HarnessError, match="^2 times a worker process ended"):
        list(executor.scores(jobs(9), steps.append))
    assert steps == [1] * 4 and pool.stopped == 1


def test_losses_between_shards_that_end_are_not_added(monkeypatch):
    monkeypatch.setattr(module, "MAX_LOSSES", 1)
    executor, steps = pooled(monkeypatch, Pool({0, 15, 30}))
    assert len(list(executor.scores(jobs(40), steps.append))) == 40


def test_workers_are_started_anew_with_the_scorer():
    pool = module._new_pool(3, b"scorer")
    assert (pool._max_workers, pool._initializer, pool._initargs) == (
        3,
        worker.start_worker,
        (b"scorer",),
    )
    assert pool._mp_context.get_start_method() == "spawn"
    pool.shutdown()
