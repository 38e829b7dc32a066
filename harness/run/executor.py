"""Executors of shards: in this process, in worker processes,
or on a cluster that a plugin brings.

An executor takes jobs and gives scores back in any order; it holds a bounded number of
jobs at a time. Corpus state goes to each worker once. A worker that ends is replaced
and its job given to another, so that no finished shard is lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from harness.contracts import Decoding, Example, Failure, Generation
from harness.errors import HarnessError
from harness.run.shard_scores import Job, ShardScorer, ShardScores
from harness.run.worker import JobResult, pack_scorer, score_job, start_worker

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from harness.run.metric_plan import ModelPlan

ExecutorName = Literal["local", "process", "ray"]
QUEUED = 2
"""Number of jobs per worker that are submitted and not finished: one runs, one waits.
"""
MAX_LOSSES = 20
"""Number of worker losses without a finished job after which a run gives up."""


@dataclass(frozen=True)
class ExecutorOptions:
    """Choice of an executor."""

    name: ExecutorName = "local"
    workers: int | None = None
    """Number of workers; None: the number of cores."""
    address: str | None = None
    """Address of a Ray cluster; None: a cluster on this machine."""

    @property
    def count(self) -> int:
        """Number of workers that score at the same time."""
        return 1 if self.name == "local" else self.workers or os.cpu_count() or 1


class Executor(Protocol):
    """Scores shards."""

    def scores(
        self, jobs: Iterable[Job], advance: Callable[[int], None]
    ) -> Iterator[ShardScores]:
        """Yield the scores of jobs in any order; ``advance`` gets the number of
        examples times metrics as they are scored.
        """
        ...

    def close(self) -> None:
        """Stop the workers."""
        ...


class Cluster(Protocol):
    """Machines that generate captions and score shards:
    :class:`~harness.executors.ray_cluster.RayCluster`.
    """

    def generate(
        self,
        model: ModelPlan,
        examples: Sequence[Example],
        decoding: Decoding,
        seeds: Sequence[int],
    ) -> Iterator[Generation | Failure]:
        """Yield the results of a model in the order of the examples."""
        ...

    def executor(self, scorer: ShardScorer) -> Executor:
        """Return an executor of shards; the models have ended."""
        ...

    def close(self) -> None:
        """Leave the machines."""
        ...


class LocalExecutor:
    """Scores in this process."""

    def __init__(self, scorer: ShardScorer) -> None:
        self.scorer = scorer

    def scores(
        self, jobs: Iterable[Job], advance: Callable[[int], None]
    ) -> Iterator[ShardScores]:
        """Yield the scores of jobs in their order."""
        for job in jobs:
            yield self.scorer.score(job, advance)

    def close(self) -> None:
        """Do nothing: there are no workers."""


class ProcessExecutor:
    """Scores in worker processes."""

    def __init__(self, scorer: ShardScorer, workers: int) -> None:
        self._payload = pack_scorer(scorer)
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def scores(
        self, jobs: Iterable[Job], advance: Callable[[int], None]
    ) -> Iterator[ShardScores]:
        """Yield the scores of jobs as they finish;
        jobs of a worker that ended are given to a new one.
        """
        # 50 ms: most runs have one process
        from concurrent.futures.process import BrokenProcessPool

        source = iter(jobs)
        losses = 0
        waiting: list[Job] = []
        pending: dict[Future[JobResult], Job] = {}
        while True:
            # The job that is being submitted or read is in no other list: it is lost
            # with the pool.
            job: Job | None = None
            try:
                while len(pending) < QUEUED * self.workers:
                    job = waiting.pop() if waiting else next(source, None)
                    if job is None:
                        break
                    self._pool = self._pool or _new_pool(self.workers, self._payload)
                    pending[self._pool.submit(score_job, job)] = job
                if not pending:
                    return

                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    job = pending.pop(future)
                    scores = future.result().unpack()
                    losses = 0
                    advance(job_steps(job))
                    yield scores

            except BrokenProcessPool:
                losses += 1
                if losses > MAX_LOSSES:
                    raise HarnessError(
                        f"{losses} times a worker process ended before its shard was "
                        "done; memory may be too small: "
                        "try smaller shards or fewer workers"
                    ) from None

                self.close()
                waiting += [*([job] if job is not None else []), *pending.values()]
                pending.clear()

    def close(self) -> None:
        """Stop the workers."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _new_pool(workers: int, payload: bytes) -> ProcessPoolExecutor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A forked process may hang: threads of this one can hold locks.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, start_worker, (payload,))


def job_steps(job: Job) -> int:
    """Return the number of examples times metrics of a job."""
    return sum(
        len(job.sets[request.captions]) * len(request.metrics)
        for request in job.requests
    )
