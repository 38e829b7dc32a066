"""The state of a run while it is executed: its directory, its workers,
and the results so far.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.contracts import Values
from harness.errors import BUG_LOG, HarnessError
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.run.estimates import Watch
from harness.run.executor import Cluster, ExecutorOptions
from harness.run.finished import Run
from harness.run.live_results import show_result
from harness.run.shard_grid import Part, ShardGrid, grid_of
from harness.run.warmup import import_lazy_parts
from harness.rundir.artifacts import Artifacts, MemoryArtifacts
from harness.rundir.file_names import LOG
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.rundir import RunDir
from harness.rundir.samples import SampleTable


@dataclass(frozen=True)
class Options:
    """Settings of an execution that change no digit."""

    executor: ExecutorOptions = field(default_factory=ExecutorOptions)
    shard_size: int | None = None
    """Examples per shard; None: found from the memory."""
    part: Part | None = None
    """Part of the run to compute; None: the whole run."""
    watch: Watch | None = None
    """View of the run for another thread."""


@dataclass
class Execution:
    """State of a run while it is executed."""

    provenance: Provenance
    rundir: RunDir | None = None
    plugins: Plugins = field(default_factory=Plugins)
    options: Options = field(default_factory=Options)
    show: bool = False
    cluster: Callable[[], Cluster | None] = lambda: None
    """Returns the cluster of the executor, None for executors on this machine."""
    stage: Callable[[str], str] = str
    """Returns the description of a stage of the run from its name."""
    records: list[ResultRecord] = field(default_factory=list["ResultRecord"])
    slices: list[ResultRecord] = field(default_factory=list["ResultRecord"])
    """Results of slices of the examples."""
    failed: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])
    costs: dict[str, Values] = field(default_factory=dict[str, "Values"])
    """Model -> work of its adapter: tokens per second, requests, cost;
    it changes no number.
    """

    def __post_init__(self) -> None:
        self.artifacts: Artifacts = (
            self.rundir.artifacts if self.rundir else MemoryArtifacts()
        )

    def log(self, event: str, **values: object) -> None:
        """Append an event to the log of the run directory."""
        if self.rundir:
            self.rundir.log(event, **values)

    def keep_line(self, component: str, text: str) -> None:
        """Append a line that a component recorded to the log of the run directory."""
        self.log("component", component=component, text=text)

    def note(self, text: str) -> None:
        """Add a remark on the numbers."""
        if text not in self.notes:
            self.notes.append(text)
            self.log("note", text=text)

    def add(
        self, record: ResultRecord, skipped: Sequence[str] = (), count: int = 0
    ) -> None:
        """Add a record; ``skipped`` are the ids of the first examples without a score,
        ``count`` their number.
        """
        self.records.append(record)
        show_result(record)
        if count:
            self.log(
                "skipped",
                model=record.model,
                metric=record.metric,
                count=count,
                examples=list(skipped),
            )
        self.plugins.call("harness_scores_ready", record=record.to_dict())

    def grid(self, examples: int, texts: float) -> ShardGrid:
        """Return the shards of examples with so many texts each.

        A resumed run has the shards that it was begun with, unless the user gives
        another size.
        """
        options = self.options
        size = options.shard_size
        if size is None and self.rundir is not None:
            size = self.rundir.shard_size(examples)

        grid = grid_of(
            examples,
            texts,
            size=size,
            workers=options.executor.count,
            parts=options.part.count if options.part else 1,
        )
        if self.rundir is not None:
            self.rundir.write_shards(grid.size, examples=examples)
        return grid

    def finish(self, samples: SampleTable | None) -> Run:
        """Write the results and return the finished run; ``samples`` None: they are in
        the run directory already.
        """
        if self.rundir is not None:
            self.rundir.write_results(
                self.records, self.failed, self.notes, self.costs, self.slices
            )
            run = Run.of(self.rundir)
        else:
            assert samples is not None
            run = Run(
                self.provenance,
                tuple(self.records),
                samples,
                self.failed,
                self.notes,
                None,
                self.artifacts,
                self.costs,
                tuple(self.slices),
            )

        self.log("finished", results=len(self.records))
        self.plugins.call(
            "harness_run_finished",
            manifest=self.provenance.content,
            results=run.results,
        )
        return run


@contextmanager
def connect_cluster(
    options: ExecutorOptions,
) -> Generator[Callable[[], Cluster | None]]:
    """Context of a connection to a cluster,
    which is made while the examples are read; the value waits for it.

    The value returns None for executors on this machine. Raises
    :class:`~harness.errors.MissingExtra` where the plugin of the executor is not
    installed.
    """
    if options.name != "ray":
        yield lambda: None
        return
    connect: Callable[[ExecutorOptions], Cluster] = current().load(
        "executors", options.name
    )

    # Connecting takes seconds, in which the examples are read.
    import_lazy_parts()
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(connect, options)
        try:
            yield pending.result
        finally:
            if pending.exception() is None:
                pending.result().close()


@contextmanager
def log_bugs(folder: Path | None) -> Generator[None]:
    """Context of a run in ``folder``: the traceback of a bug goes into its log, whose
    path becomes an attribute of the exception.
    """
    try:
        yield
    except (HarnessError, OSError, MemoryError):
        raise
    except Exception as error:
        if folder is not None and folder.is_dir():
            text = "".join(traceback.format_exception(error))
            RunDir(folder).log("bug", traceback=text)
            setattr(error, BUG_LOG, str(folder / LOG))
        raise
