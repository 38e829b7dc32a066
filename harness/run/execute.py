"""Execution of a plan: examples, captions, statistics, results.

The unit of work is a shard of examples under one model and decoding. Its captions and the statistics of each metric are pieces: on
disk before the run ends, under keys of everything that they depend on. A killed run reads them again and ends with the same
results, and neither the number of shards nor the executor changes a digit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from harness.contracts import (
    Decoding,
    Example,
    Failure,
    Generation,
    Scorer,
    Statistics,
    TaskView,
    Values,
    needs_whole_task,
)
from harness.errors import HarnessError, InputError
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.run import warmup
from harness.run.equal_sizes import common_size
from harness.run.example_store import ExampleStore
from harness.run.executor import Cluster, ExecutorOptions
from harness.run.finished import Run
from harness.run.garbage_collection import rare_collections
from harness.run.generate import Asks, Captions, generate, prepare
from harness.run.plan import GridPoint, ModelPlan, Plan
from harness.run.progress import Stages, bar
from harness.run.provenance import build_manifest, digest
from harness.run.results import token_score_records
from harness.run.scoring_pass import ScoringPass
from harness.run.shard_grid import Part, ShardGrid, grid_of
from harness.run.size_notes import size_note
from harness.run.systems import PlannedSystem, Unit
from harness.run.token_scores import token_scores
from harness.run.work import print_speed, work_of
from harness.rundir.pieces import MemoryPieces, Pieces
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.rundir import Mode, RunDir
from harness.rundir.samples import SampleTable

MAX_LOGGED_IDS = 100
"""Maximum number of skipped-example ids written to the log; samples.parquet has all of them as null scores."""


@dataclass(frozen=True)
class Options:
    """Settings of an execution that change no digit."""

    executor: ExecutorOptions = field(default_factory=ExecutorOptions)
    shard_size: int | None = None
    """Examples per shard; None: found from the memory."""
    part: Part | None = None
    """Part of the run to compute; None: the whole run."""


def read_examples(plan: Plan, *, show: bool = False) -> ExampleStore:
    """Return the examples of the plan, cut to its limit.

    Raises :class:`InputError` when there are none or two share an id.
    """
    limit = plan.spec.limit
    where = f"reader '{plan.spec.dataset.reader}'"
    with bar("reading examples", limit or 0, show=show) as advance:
        reader = islice(iter(plan.reader), limit) if limit is not None else plan.reader
        examples = ExampleStore(reader, where, advance)
    if not len(examples):
        cut = f" after limit {limit}" if limit is not None else ""
        raise InputError(f"the data set has no examples{cut}", where)
    return examples


@rare_collections()
def execute(
    plan: Plan, *, output: Path | None = None, mode: Mode = "auto", show: bool = False, options: Options | None = None
) -> Run:
    """Execute a plan and return the finished run.

    Parameters
    ----------
    plan : Plan
        The plan.
    output : Path, optional
        Run directory; None: nothing is written.
    mode : {"auto", "resume", "fresh", "extend"}
        See :meth:`harness.rundir.rundir.RunDir.create`.
    show : bool
        Draw progress bars on stderr.
    options : Options, optional
        Executor and shards. With a part, the run directory holds the pieces of the part, and the run has no results.
    """
    options, identity = options or Options(), digest(plan)
    finished = _finished(identity, output, mode)
    if finished is not None:
        return finished
    plugins = Plugins().load(current())
    with _connected(options.executor) as cluster:
        return _executed(plan, output, mode, show, options, identity, plugins, cluster)


def _executed(
    plan: Plan,
    output: Path | None,
    mode: Mode,
    show: bool,
    options: Options,
    identity: str,
    plugins: Plugins,
    cluster: Callable[[], Cluster | None],
) -> Run:
    examples = read_examples(plan, show=show)
    if plan.caption_metrics:
        for model in plan.models:
            for decoding in plan.generations:  # before anything is written: report a task that cannot work
                prepare(model, TaskView(examples, decoding, partial=plan.spec.limit is not None))
    manifest = build_manifest(plan, examples, plugins.failures, identity)
    if options.part is not None:
        manifest["part"] = str(options.part)
    rundir = RunDir.create(output, manifest, mode) if output else None
    if rundir and rundir.finished:
        rundir.close()
        return Run.of(rundir)
    try:
        return Execution(plan, examples, Provenance(manifest), rundir, plugins, show, options, cluster).execute()
    except HarnessError:
        if rundir:
            rundir.discard_if_empty()
        raise
    finally:
        if rundir:
            rundir.close()


@contextmanager
def _connected(options: ExecutorOptions) -> Generator[Callable[[], Cluster | None]]:
    """Context of a connection to the Ray cluster, which is made while the examples are read; the value waits for it.

    The value returns None for the other executors, and raises as :class:`~harness.run.ray_executor.RayCluster`.
    """
    if options.name != "ray":
        yield lambda: None
        return
    from harness.run.ray_executor import RayCluster

    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(RayCluster, options)
        try:
            yield pending.result
        finally:
            if pending.exception() is None:
                pending.result().close()


def _finished(identity: str, output: Path | None, mode: Mode) -> Run | None:
    """Return the finished run of the plan in a directory, without reading the data set; None where there is none."""
    if output is None or mode == "fresh" or not RunDir(output).finished:
        return None
    manifest = RunDir(output).held_manifest()
    if manifest is None or manifest.get("digest") != identity:
        return None
    rundir = RunDir.create(output, manifest, mode)
    try:
        return Run.of(rundir) if rundir.finished else None
    finally:
        rundir.close()


@dataclass
class Execution:
    """State of a run while it is executed."""

    plan: Plan
    examples: ExampleStore
    provenance: Provenance
    rundir: RunDir | None
    plugins: Plugins
    show: bool
    options: Options = field(default_factory=Options)
    cluster: Callable[[], Cluster | None] = lambda: None
    records: list[ResultRecord] = field(default_factory=list["ResultRecord"])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])
    costs: dict[str, Values] = field(default_factory=dict[str, "Values"])
    """Model -> work of its adapter: tokens per second, requests, cost; it changes no number."""

    def __post_init__(self) -> None:
        self.pieces: Pieces = self.rundir.pieces if self.rundir else MemoryPieces()
        self.grid = self._grid()
        self.shards = self.grid.of_part(self.options.part)
        self.span = (self.shards[0][0], self.shards[-1][1]) if self.shards else (0, 0)
        self.arrays: dict[str, Statistics] = {}
        models, plan = self.plan.models, self.plan
        names = [f"token scores: {model.label}" for model in models if plan.token_metrics]
        names += [f"captions: {model.label}" for model in models for _ in plan.generations if plan.caption_metrics]
        self.stage = Stages([*names, *(["scores", "results"] if plan.caption_metrics else [])])

    def execute(self) -> Run:
        """Execute all units of work and return the finished run."""
        self._log("started", digest=self.provenance.digest)
        with self.plugins.running(self.provenance.content):
            return self._execute()

    def _execute(self) -> Run:
        warmup.warm(plan.metric for plan in self.plan.metrics)
        for model in self.plan.models:
            self._judge_token_scores(model)
        units = self._units()
        systems = self._systems(units)
        scoring = ScoringPass(
            self.plan, self.examples, units, systems, self.shards, self.pieces, self.options.executor,
            show=self.show, partial=self.options.part is not None, cluster=self.cluster, stage=self.stage,
        )  # fmt: skip
        scoring.compute()
        if self.options.part is not None:
            self.plugins.call("harness_run_stopped", manifest=self.provenance.content, error=None)
            return self._end_part()
        samples = scoring.collect(self._add, self.rundir.path if self.rundir else None, self.arrays)
        run = self._finish(None if self.rundir else samples)
        self._log("finished", results=len(self.records))
        results = [record.to_dict() for record in self.records]
        self.plugins.call("harness_run_finished", manifest=self.provenance.content, results=results)
        return run

    def _grid(self) -> ShardGrid:
        """Return the shards of the run; a resumed run has those that it was begun with, unless the user gives another size."""
        size, options = self.options.shard_size, self.options
        if size is None and self.rundir is not None:
            size = self.rundir.shard_size()
        counts = [decoding.candidates or 1 for decoding in self.plan.generations]
        texts = max(self.examples.reference_counts, default=1) + len(self.plan.models) * sum(counts)
        parts = options.part.count if options.part else 1
        grid = grid_of(len(self.examples), texts, size=size, workers=options.executor.count, parts=parts)
        if self.rundir is not None:
            self.rundir.write_shards(grid.size, examples=len(self.examples))
        return grid

    def _end_part(self) -> Run:
        assert self.rundir is not None
        self.rundir.write_shards(
            self.grid.size, examples=len(self.examples), part=str(self.options.part), finished=True
        )
        self._log("finished part", part=str(self.options.part))
        return Run(
            self.provenance, (), SampleTable.empty(), self.failed, self.notes, self.rundir.path
        )  # fmt: skip

    def _finish(self, samples: SampleTable | None) -> Run:
        records = tuple(self.records)
        if self.rundir is None:
            assert samples is not None
            return Run(self.provenance, records, samples, self.failed, self.notes, costs=self.costs, arrays=self.arrays)
        self.rundir.write_results(self.records, None, self.failed, self.notes, self.costs)
        return Run(
            self.provenance, records, self.rundir.samples, self.failed, self.notes, self.rundir.path, costs=self.costs
        )

    def _log(self, event: str, **values: object) -> None:
        if self.rundir:
            self.rundir.log(event, **values)

    def _note(self, text: str) -> None:
        self.notes.append(text)
        self._log("note", text=text)

    # ------------------------------------------------------------------ captions
    def _units(self) -> list[Unit]:
        """Return the captions of all models and decodings; empty without metrics of captions."""
        units = [
            Unit(model, self._captions(model, decoding))
            for model in self.plan.models
            for decoding in (self.plan.generations if self.plan.caption_metrics else ())
        ]
        if self.plan.spec.sizes != "equal" or not units:
            return units
        if self.options.part is not None:
            raise HarnessError("sizes: equal needs the captions of all examples; run this spec without --shard")
        labels = [unit.model.label for unit in units]
        size = common_size([(label, *unit.sizes()) for label, unit in zip(labels, units)])
        if size.note:
            self._note(size.note)
        return [Unit(unit.model, unit.captions, (size.n, size.m)) for unit in units]

    def _captions(self, model: ModelPlan, decoding: Decoding) -> Captions:
        """Return the captions of a model under a decoding; raise :class:`HarnessError` when there are none."""
        started, spec = time.perf_counter(), self.plan.spec
        start, stop = self.span
        task = TaskView(self.examples, decoding, partial=spec.limit is not None)
        with bar(self.stage(f"captions: {model.label}"), stop - start, show=self.show) as advance:
            captions = generate(
                model, task, seed=spec.seed, pieces=self.pieces, advance=advance, span=self.span, ask=self._asks(model),
                prepared=len(self.plan.generations) == 1,
            )  # fmt: skip
        self._count_cost(model)
        failures = captions.failures
        self.failed.update({f"{model.label}/{name}": reason for name, reason in failures.items()})
        self._log(
            "captions",
            model=model.label,
            failed=failures,
            missing=list(captions.missing),
            seconds=time.perf_counter() - started,
        )
        if not captions.present.any() and stop > start:
            first = next((f"; '{name}': {reason}" for name, reason in failures.items()), "")
            raise HarnessError(f"model '{model.label}' has candidates for none of the {stop - start} examples{first}")
        return captions

    def _asks(self, model: ModelPlan) -> Asks | None:
        """Return a source of a model's captions on the cluster, which waits for it; None for this process."""
        if self.options.executor.name != "ray" or needs_whole_task(model.adapter):  # nodes do not have the task
            return None

        def ask(
            examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
        ) -> Iterator[Generation | Failure]:
            cluster = self.cluster()
            assert cluster is not None
            yield from cluster.asks(model)(examples, decoding, seeds)

        return ask

    def _count_cost(self, model: ModelPlan) -> None:
        """Keep the work of an adapter and print its speed."""
        work = work_of(model.adapter)
        if work:
            self.costs[model.label] = work
            print_speed(model.label, work)

    # ------------------------------------------------------------------ systems
    def _systems(self, units: Sequence[Unit]) -> list[PlannedSystem]:
        """Return the rows of the table of results: each unit under the points of the grid that share its generation."""
        groups = list(self.plan.generations.values())
        return [
            PlannedSystem(index, point, count)
            for index, unit in enumerate(units)
            for point in groups[index % len(groups)]
            for count in self.plan.reference_counts
            if not self._exceeds_data(unit, point, groups[index % len(groups)], count)
        ]

    def _exceeds_data(self, unit: Unit, point: GridPoint, points: Sequence[GridPoint], count: int | None) -> bool:
        """Return True for a size beyond the data that a smaller size of the grid already covers; it is noted."""
        sizes = unit.sizes()
        if not len(sizes[0]):
            return False
        n, m = (int(values.max()) for values in sizes)
        n_sizes = [other.decoding.candidates for other in points]
        for what, size, most, grid in (
            ("candidates", point.decoding.candidates, n, n_sizes),
            ("references", count, m, self.plan.reference_counts),
        ):
            note = size_note(unit.model.label, what, size, most, grid)
            if note is None:
                continue
            if note.text not in self.notes:
                self._note(note.text)
            if note.covered:
                return True
        return False

    def _add(self, record: ResultRecord, skipped: Sequence[str], count: int = 0) -> None:
        """Add a record; ``skipped`` are the ids of the first examples without a score, ``count`` their number."""
        self.records.append(record)
        if count:
            self._log("skipped", model=record.model, metric=record.metric, count=count, examples=list(skipped))
        self.plugins.call("harness_scores_ready", record=record.to_dict())

    # ------------------------------------------------------------------ metrics of level `model`
    def _judge_token_scores(self, model: ModelPlan) -> None:
        plans = [plan.of_meta(example.meta for example in self.examples) for plan in self.plan.token_metrics]
        if not plans:
            return
        if not isinstance(model.adapter, Scorer):
            raise HarnessError(
                f"metric '{plans[0].label}' needs a model that scores references token by token; "
                f"'{model.label}' ({model.name}) does not (the adapter token-scores reads them from a file)"
            )
        start, stop = self.span
        with bar(self.stage(f"token scores: {model.label}"), stop - start, show=self.show) as advance:
            scores = token_scores(model, self.examples, self.span, self.pieces, advance)
        if self.options.part is not None:
            return
        for plan in plans:
            for record in token_score_records(self.plan.spec, model, plan, scores):
                self._add(record, [])
