"""A worker process: the scorer that is sent to it, and the local code that it needs."""

from __future__ import annotations

import io
import os
import pickle
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.files.component_lines import (
    ComponentLine,
    collect_lines,
    record_again,
)
from harness.registry import current, use_files
from harness.registry.local_code import import_from, is_below, module_file
from harness.run.shard_scores import Job, ShardScorer, ShardScores

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess


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
            "use executor='local'"
        ) from error

    # pickled by itself, so that it is loaded before the scorer is read
    code = LocalCode.of_modules(pickler.modules)
    return pickle.dumps((code, buffer.getvalue()), protocol=pickle.HIGHEST_PROTOCOL)


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
        modules: dict[tuple[str, str], None] = {}
        for manifest in manifests:
            for name in sorted(names):
                file = getattr(sys.modules.get(name), "__file__", None)
                is_local = file and is_below(Path(file), manifest.folder)
                if is_local and module_file(manifest.folder, name):
                    modules[str(manifest.folder), name] = None
        return cls(tuple(manifest.source for manifest in manifests), tuple(modules))

    def load(self) -> None:
        """Add the registries to this process, and import their modules."""
        use_files(self.manifests)
        for folder, module in self.modules:
            import_from(Path(folder), module, "the registry of this run")


@dataclass(frozen=True)
class JobResult:
    """Scores of a job in another process, or its error, with the lines that components
    recorded there.
    """

    scores: ShardScores | HarnessError
    lines: Sequence[ComponentLine]

    def unpack(self) -> ShardScores:
        """Record the lines in this process and return the scores, or raise the
        error.
        """
        record_again(self.lines)
        if isinstance(self.scores, HarnessError):
            raise self.scores
        return self.scores


def job_result(scorer: ShardScorer, job: Job) -> JobResult:
    """Return the result of a job, for the process of the run."""
    with collect_lines() as lines:
        try:
            return JobResult(scorer.score(job), lines)
        except HarnessError as error:
            # As a value: an error that is raised would leave the lines here.
            return JobResult(error, lines)


_worker: ShardScorer | HarnessError | None = None


def start_worker(payload: bytes) -> None:
    """Unpack the scorer of this process; an error is raised by its first job, since one
    that is raised here would end the pool without a reason.

    The process ends with the one that started it.
    """
    global _worker
    _end_with_parent()
    try:
        _worker = unpack_scorer(payload)
    except (ImportError, AttributeError, HarnessError) as error:
        _worker = HarnessError(
            f"a worker process cannot load the metrics of the run: {error}"
        )


def _end_with_parent() -> None:
    """End this process when its parent has ended, also by a kill.

    A worker waits for jobs at a pipe that it may write to itself, and so never meets
    its end; the programs that it has started would stay with it.
    """
    # Most runs have one process.
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait_for_end, args=(parent,), daemon=True).start()


def _wait_for_end(parent: BaseProcess) -> None:
    parent.join()
    # Nobody takes the scores: what is in the middle of a job need not go on.
    os._exit(1)


def score_job(job: Job) -> JobResult:
    """Return the result of a job by the scorer of this process."""
    if isinstance(_worker, HarnessError):
        raise _worker
    assert _worker is not None
    return job_result(_worker, job)
