"""Executor on a Ray cluster: models as actors, shards as tasks
(``harness run --executor ray``).

Ray restarts an actor or a task whose worker or node is lost: a job carries everything
that it needs beside corpus state, and its result is arrays, so that repeating it
changes nothing. The driver alone writes the run directory.
"""

from __future__ import annotations

import importlib
import logging
import os
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

from harness import __version__
from harness.contracts import (
    Adapter,
    Decoding,
    Example,
    Failure,
    Generation,
    Prepares,
    TaskView,
)
from harness.errors import HarnessError, InputError
from harness.files.component_lines import (
    ComponentLine,
    collect_lines,
    record_again,
)
from harness.registry import current
from harness.registry.permissions import typed_by_user
from harness.run.executor import QUEUED, ExecutorOptions, job_steps
from harness.run.generate import results_of
from harness.run.metric_plan import ModelPlan
from harness.run.shard_scores import Job, ShardScorer, ShardScores
from harness.run.worker import (
    JobResult,
    LocalCode,
    job_result,
    pack_scorer,
    unpack_scorer,
)

RayObject = Any
"""A module, an actor or a reference of ray, which has no types here."""

ACTOR_EXAMPLES = 64
"""Examples per call of an actor."""
RETRIES = -1
"""Number of restarts of a lost actor, and of repetitions of a lost task: without end,
because Ray gives up only when no node is left.
"""
STORE_SHARE = 0.1
"""Share of the memory that the object store of a cluster on this machine takes."""
WAIT_SECONDS = 5.0
"""Time without a result after which the driver looks for the head of the cluster; Ray
ends the process a minute after it is lost.
"""
LOST_AFTER = 3
"""Number of times in a row that the head does not answer before the cluster counts as
lost.
"""
CONNECT_SECONDS = 20
"""Time in seconds after which a cluster counts as unreachable."""


class RayCluster:
    """A Ray cluster: an existing one by its address,
    or one on this machine for the duration of the run.

    Raises
    ------
    InputError
        The cluster cannot be reached, or its nodes lack this version of the harness.
    """

    def __init__(self, options: ExecutorOptions) -> None:
        self.options = options
        self.ray: RayObject = importlib.import_module("ray")
        self._started = False
        self._leaving: threading.Thread | None = None
        self._head = ""
        self._actors: list[RayObject] = []
        self._loaded: str | None = None
        self._connect()
        self._head = str(self.ray.get_runtime_context().gcs_address)
        self._check_nodes()

    def _connect(self) -> None:
        ray = self.ray
        if ray.is_initialized():
            return

        settings: dict[str, RayObject] = {
            "logging_level": logging.ERROR,
            "log_to_driver": False,
        }
        # a task without GPUs keeps the view of them that its machine has
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        address = self.options.address
        if address is None:
            self._start_here(settings)
            return

        _check_reachable(address)
        try:
            ray.init(address=address, **settings)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            hint = "; for a cluster with a token: RAY_AUTH_MODE=token harness run ..."
            if "RAY_AUTH_MODE" in os.environ:
                hint = ""
            raise InputError(
                f"no Ray cluster answers at '{address}': {error}{hint}", value=address
            ) from None
        self._started = True

    def _start_here(self, settings: dict[str, RayObject]) -> None:
        """Start a cluster on this machine."""
        self._started = True
        try:
            self.ray.init(
                address="local",
                **settings,
                num_cpus=self.options.count,
                object_store_memory=_store_bytes(),
                include_dashboard=False,
            )
        except Exception as error:
            # Ray raises a bare Exception where a node does not start in time
            self.close()
            raise InputError(
                f"Ray does not start on this machine: {_cause(error)}; "
                "run again, or with executor='process'"
            ) from error

    def _check_nodes(self) -> None:
        """Raise :class:`InputError` when a worker of the cluster lacks the package or
        has another version of it.
        """
        probe = self.ray.remote(num_cpus=0, max_retries=2)(_installed_version)
        try:
            version = self.ray.get(probe.remote(), timeout=CONNECT_SECONDS * 3)
        except Exception as error:
            self.close()
            raise InputError(
                f"a node of the Ray cluster cannot run the harness: {_cause(error)}"
            ) from None
        if version != __version__:
            self.close()
            raise InputError(
                f"the nodes of the Ray cluster have harness {version}, "
                f"and this machine has {__version__}"
            )

    def _actors_of(self, model: ModelPlan) -> Sequence[RayObject]:
        """Return the actors of a model: one per accelerator of the cluster,
        or one per worker without any.

        They stay for the other decodings of the model; those of another model end, and
        with them their hold on accelerators.
        """
        if self._loaded == model.label:
            return self._actors

        self._release()
        blob = pickle.dumps(
            (LocalCode.of_modules(), model.name, dict(model.params), model.label)
        )
        gpus = int(self.ray.cluster_resources().get("GPU", 0))
        resources: dict[str, RayObject] = {"scheduling_strategy": "SPREAD"}
        if gpus:
            # holds no core
            resources = {"num_cpus": 0, "num_gpus": 1}
        decorate = self.ray.remote(
            max_restarts=RETRIES, max_task_retries=RETRIES, **resources
        )

        remote = decorate(_Generator)
        self._actors = [remote.remote(blob) for _ in range(gpus or self.options.count)]
        self._loaded = model.label
        return self._actors

    def _release(self) -> None:
        """End the actors."""
        for actor in self._actors:
            self.ray.kill(actor)
        self._actors = []
        self._loaded = None

    def generate(
        self,
        model: ModelPlan,
        examples: Sequence[Example],
        decoding: Decoding,
        seeds: Sequence[int],
    ) -> Iterator[Generation | Failure]:
        """Yield the results of the model's actors in the order of the examples, with at
        most two calls per actor under way.
        """
        actors = self._actors_of(model)
        waiting = deque[RayObject]()
        for number, start in enumerate(range(0, len(examples), ACTOR_EXAMPLES)):
            chunk = slice(start, start + ACTOR_EXAMPLES)
            actor = actors[number % len(actors)]
            call = actor.generate.remote(
                list(examples[chunk]), decoding, list(seeds[chunk])
            )
            waiting.append(call)
            if len(waiting) >= QUEUED * len(actors):
                yield from self._generated(waiting.popleft())
        while waiting:
            yield from self._generated(waiting.popleft())

    def _generated(self, reference: RayObject) -> Sequence[Generation | Failure]:
        """Return the results of a call, and record the lines of its component."""
        results, lines = self.result(reference)
        record_again(lines)
        return results

    def executor(self, scorer: ShardScorer) -> RayExecutor:
        """Return an executor of shards on the cluster; the models have ended."""
        self._release()
        return RayExecutor(self, pack_scorer(scorer), self.options.count)

    def leave(self) -> None:
        """Begin to leave the cluster, and return at once."""
        if self._started:
            self._started = False
            # which waits for a head that is lost
            self._leaving = threading.Thread(target=self.ray.shutdown, daemon=True)
            self._leaving.start()

    def close(self) -> None:
        """Leave the cluster; one on this machine stops."""
        self.leave()
        if self._leaving is not None:
            self._leaving.join(CONNECT_SECONDS)

    def wait_for_results(self, references: Sequence[RayObject]) -> list[RayObject]:
        """Wait for at least one of the references and return those that are done.

        Raises :class:`HarnessError` when the head of the cluster is lost.
        """
        absent = 0
        while True:
            ready, _ = self.ray.wait(
                list(references), num_returns=1, timeout=WAIT_SECONDS
            )
            if ready:
                return ready

            # a shard may take long: only a head that is silent several times is lost
            absent = 0 if _answers(self._head) else absent + 1
            if absent >= LOST_AFTER:
                raise HarnessError(
                    f"the Ray cluster at {self._head} does not answer any more; "
                    "finished shards are kept: start the cluster "
                    "and run the same command again"
                )

    def result(self, reference: RayObject) -> RayObject:
        """Return the value of a reference; raise :class:`HarnessError` with the cause
        where a task or an actor failed.
        """
        self.wait_for_results([reference])
        try:
            return self.ray.get(reference)
        except Exception as error:
            # a mistake of the user that a worker found is told as one of this process
            cause = getattr(error, "cause", None)
            if isinstance(cause, HarnessError):
                raise cause from None
            if type(error).__module__.startswith("ray"):
                raise HarnessError(
                    f"a task on the Ray cluster failed: {_cause(error)}"
                ) from error
            raise


class RayExecutor:
    """Scores on a Ray cluster."""

    def __init__(self, cluster: RayCluster, payload: bytes, workers: int) -> None:
        self._cluster = cluster
        self._workers = workers
        ray = cluster.ray
        self._payload = ray.put(payload)
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES)(_score)

    def scores(
        self, jobs: Iterable[Job], advance: Callable[[int], None]
    ) -> Iterator[ShardScores]:
        """Yield the scores of jobs as they finish;
        at most two per worker are in the object store.
        """
        source = iter(jobs)
        pending: dict[RayObject, int] = {}
        while True:
            while (
                len(pending) < QUEUED * self._workers
                and (job := next(source, None)) is not None
            ):
                pending[self._task.remote(self._payload, job)] = job_steps(job)
            if not pending:
                return

            for reference in self._cluster.wait_for_results(list(pending)):
                steps = pending.pop(reference)
                result = cast(JobResult, self._cluster.result(reference))
                scores = result.unpack()
                advance(steps)
                yield scores

    def close(self) -> None:
        """Begin to leave the cluster: nothing else is computed on it."""
        self._payload = None
        self._cluster.leave()


_scorers: dict[int, ShardScorer] = {}


def _score(payload: bytes, job: Job) -> JobResult:
    """Return the result of a job; corpus state is read once per worker process."""
    key = hash(payload)
    if key not in _scorers:
        _scorers.clear()
        _scorers[key] = unpack_scorer(payload)
    return job_result(_scorers[key], job)


def _installed_version() -> str:
    return str(cast(RayObject, importlib.import_module("harness")).__version__)


class _Generator:
    """Actor with one model, loaded once."""

    def __init__(self, blob: bytes) -> None:
        code, name, params, self._label = pickle.loads(blob)  # sent by the driver
        code.load()
        with typed_by_user():  # the driver has checked its parameters
            self._adapter = cast(Adapter, current().create("adapters", name, params))

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> tuple[list[Generation | Failure], list[ComponentLine]]:
        """Return one result per example, and the lines of the adapter."""
        with collect_lines() as lines:
            if isinstance(self._adapter, Prepares):
                self._adapter.prepare(TaskView(examples, decoding, partial=True))
            results = results_of(self._adapter, self._label, examples, decoding, seeds)
            return list(results), lines


def _store_bytes() -> int:
    from harness.run.shard_grid import available_memory

    return max(100 << 20, int(available_memory() * STORE_SHARE))


def _answers(address: str) -> bool:
    """Return True when something listens at ``HOST:PORT``."""
    try:
        _touch(address, WAIT_SECONDS)
    except (OSError, ValueError):
        return False
    return True


def _touch(address: str, timeout: float) -> None:
    """Open and close a connection to ``HOST:PORT``."""
    import socket

    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=timeout).close()


def _check_reachable(address: str) -> None:
    """Raise :class:`InputError` when nothing listens at ``HOST:PORT``;
    Ray itself retries for a long time.
    """
    if address in ("auto", "local") or address.startswith("ray://"):
        return
    _, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal():
        raise InputError(
            f"address is '{address}'; expected HOST:PORT", parameter="address"
        )
    try:
        _touch(address, CONNECT_SECONDS)
    except OSError as error:
        raise InputError(
            f"no Ray cluster answers at '{address}': {error.strerror or error}",
            value=address,
        ) from None


def _cause(error: BaseException) -> str:
    """Return the last line of an error of Ray, which holds the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
