"""Executors of shards: in this process, in worker processes,
or on a cluster that a plugin brings.

An executor takes jobs and gives scores back in any order; it holds a bounded number of
jobs at a time. Corpus state goes to each worker once. A worker that ends is replaced
and its job given to another, so that no finished shard is lost.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol

from harness.contracts import Decoding, Example, Failure, Generation
from harness.errors import HarnessError
from harness.registry import current, use_files
from harness.registry.local_code import import_from, is_below, module_file
from harness.run.shard_scores import Job, ShardScorer, ShardScores

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
        pending: dict[Future[ShardScores], Job] = {}
        while True:
            job: Job | None = None
            try:
                while (
                    len(pending) < QUEUED * self.workers
                    and (job := waiting.pop() if waiting else next(source, None))
                    is not None
                ):
                    self._pool = self._pool or _new_pool(self.workers, self._payload)
                    pending[self._pool.submit(_score, job)] = job
                if not pending:
                    return
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    job = pending.pop(future)
                    scores = future.result()
                    losses = 0
                    advance(job_steps(job))
                    yield scores
            except BrokenProcessPool:
                losses += 1
                if losses > MAX_LOSSES:
                    raise HarnessError(
                        f"{losses} times a worker process ended before its shard was "
                        "done; memory may be too small: "
                        "try a smaller --shard-size or fewer --workers"
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

    return ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), _start, (payload,)
    )


def job_steps(job: Job) -> int:
    """Return the number of examples times metrics of a job."""
    return sum(
        len(job.sets[request.unit]) * len(request.metrics) for request in job.requests
    )


# --------------------------------------------------------------------------- workers
def pack_scorer(scorer: ShardScorer) -> bytes:
    """Return a scorer for another process; raise :class:`HarnessError` for a metric
    that cannot be sent there.

    The local code comes first, so that a worker imports it before it reads the rest.
    """
    scorer.features.next_shard()
    buffer = io.BytesIO()
    pickler = NamingPickler(buffer)
    try:
        pickler.dump(scorer)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise HarnessError(
            f"a metric of the run cannot be sent to another process ({error}); "
            "use --executor local"
        ) from error
    return pickle.dumps(
        (LocalCode.of_modules(pickler.modules), buffer.getvalue()),
        protocol=pickle.HIGHEST_PROTOCOL,
    )


class NamingPickler(pickle.Pickler):
    """A pickler that keeps the names of the modules whose classes and functions it
    writes.
    """

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.modules: set[str] = set()

    def reducer_override(self, obj: object) -> Any:
        """Note the module of an object, which is then written as usual."""
        self.modules.add(str(getattr(obj, "__module__", "")))
        return NotImplemented


def unpack_scorer(payload: bytes) -> ShardScorer:
    """Return the scorer of :func:`pack_scorer` in another process."""
    code, body = pickle.loads(payload)  # sent by the process that started this one
    code.load()
    return pickle.loads(body)


@dataclass(frozen=True)
class LocalCode:
    """Local registries of a process, for another process that reads what the first one
    sends.
    """

    manifests: tuple[str, ...]
    """Files of the registries."""
    modules: tuple[tuple[str, str], ...]
    """Folder and name of the modules in the folders of the registries that the pickled
    objects need.
    """

    @classmethod
    def of_modules(cls, names: Iterable[str] = ()) -> LocalCode:
        """Return the local registries of this process, and those of the named modules
        that lie in their folders.

        Modules that the sent objects do not need stay out: a folder may hold any code
        beside the plugins, and importing it again may do anything.
        """
        manifests = [manifest for manifest in current().manifests if manifest.local]
        modules = [
            (str(manifest.folder), name)
            for manifest in manifests
            for name in sorted(names)
            if (file := getattr(sys.modules.get(name), "__file__", None))
            and is_below(Path(file), manifest.folder)
            and module_file(manifest.folder, name)
        ]
        return cls(
            tuple(manifest.source for manifest in manifests),
            tuple(dict.fromkeys(modules)),
        )

    def load(self) -> None:
        """Add the registries to this process, and import their modules."""
        use_files(self.manifests)
        for folder, module in self.modules:
            import_from(Path(folder), module, "the registry of this run")


_worker: ShardScorer | HarnessError | None = None


def _start(payload: bytes) -> None:
    global _worker
    try:
        _worker = unpack_scorer(payload)
    except (ImportError, AttributeError, HarnessError) as error:
        _worker = HarnessError(
            f"a worker process cannot load the metrics of the run: {error}"
        )


def _score(job: Job) -> ShardScores:
    if isinstance(_worker, HarnessError):
        raise _worker
    assert _worker is not None
    return _worker.score(job)
