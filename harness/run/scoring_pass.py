"""The scoring pass of a run: which statistics are missing, who computes them, and what comes of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from harness.contracts import CaptionSet, Statistics
from harness.run import score as scoring
from harness.run.corpus_fit import CorpusFit, fit, prime
from harness.run.estimates import Estimates
from harness.run.example_store import ExampleStore
from harness.run.executor import Cluster, Executor, ExecutorOptions, LocalExecutor, ProcessExecutor
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan
from harness.run.plan import Plan
from harness.run.progress import bar
from harness.run.results import caption_record
from harness.run.score import Scored
from harness.run.shard_scores import Job, Request, ShardScorer
from harness.run.systems import PlannedSystem, StatisticsKeys, Unit, is_corpus_free, scorable_examples
from harness.rundir.format import SAMPLES
from harness.rundir.pieces import PieceKey, Pieces, PieceStore
from harness.rundir.records import ResultRecord
from harness.rundir.sample_file import SampleWriter
from harness.rundir.samples import SampleTable

MAX_LOGGED_IDS = 100
"""Maximum number of skipped-example ids written to the log; samples.parquet has all of them as null scores."""
Shard = tuple[int, int]
AddRecord = Callable[[ResultRecord, Sequence[str], int], None]


class ScoringPass:
    """Statistics of all systems and metrics, shard by shard.

    Parameters
    ----------
    plan : Plan
        The plan.
    store : ExampleStore
        Examples.
    units : sequence of Unit
        Captions of every model and generation.
    systems : sequence of PlannedSystem
        Rows of the table of results.
    shards : sequence of (int, int)
        First example and end of each shard.
    pieces : Pieces
        Statistics on disk, or in memory.
    options : ExecutorOptions
        Executor.
    show : bool
        Draw progress bars.
    partial : bool
        True for a part of a run: what needs all examples is left to the whole run.
    cluster : callable
        Returns the cluster of the executor ``ray``, None for the others.
    stage : callable
        Returns the description of a stage of the run from its name.
    """

    def __init__(
        self,
        plan: Plan,
        store: ExampleStore,
        units: Sequence[Unit],
        systems: Sequence[PlannedSystem],
        shards: Sequence[Shard],
        pieces: Pieces,
        options: ExecutorOptions,
        *,
        show: bool = False,
        partial: bool = False,
        cluster: Callable[[], Cluster | None] = lambda: None,
        stage: Callable[[str], str] = str,
    ) -> None:
        self.plan, self.store, self.units, self.systems, self.shards = plan, store, units, systems, shards
        self.pieces, self.options, self.show, self.partial, self.cluster = pieces, options, show, partial, cluster
        self.stage = stage
        self.metrics = plan.caption_metrics
        self.keys = StatisticsKeys(plan.spec, store, units, [is_corpus_free(item.metric) for item in self.metrics])

    # ------------------------------------------------------------------ statistics
    def compute(self) -> None:
        """Compute the statistics that are missing, under all metrics that are scored shard by shard."""
        jobs = self._jobs()
        if not jobs:
            return
        total = sum(
            len(metrics) * self._present(self.systems[system].unit, self.shards[shard])
            for shard, missing in jobs.items()
            for system, metrics in missing.items()
        )
        estimates = Estimates(self.metrics, self._labels)
        executor = self._executor(estimates if self.show else None)
        try:
            with bar(self.stage("scores"), total, show=self.show, unit="scores", status=estimates.text) as advance:
                for scores in executor.scores((self._job(shard, missing) for shard, missing in jobs.items()), advance):
                    for (system, metric), scored in scores.scored.items():
                        key = self._key(system, metric, self.shards[scores.index])
                        self.pieces.write_arrays(key, scored.to_arrays())
                        if self.show and self.options.name != "local":
                            estimates.add(system, metric, scored.stats)
        finally:
            executor.close()

    @cached_property
    def fit(self) -> CorpusFit:
        """Corpus state of the metrics."""
        with bar(self.stage("corpus statistics"), len(self.store), show=self.show) as advance:
            shards = max(1, len(self.shards) if not self.partial else 2)
            return fit(self.metrics, self.store, shards=shards, advance=advance)

    @cached_property
    def _examples(self) -> dict[tuple[int, int], int]:
        """Number of examples that each metric can score in each system."""
        return {
            (s, m): scorable_examples(self.units[system.unit], system, plan.metric)
            for s, system in enumerate(self.systems)
            for m, plan in enumerate(self.metrics)
        }

    @cached_property
    def _counted(self) -> list[bool]:
        """True for the metrics whose p-values depend on the number of examples of the run."""
        return [scoring.depends_on_all_examples(plan.metric, self.plan.spec.significance) for plan in self.metrics]

    def _present(self, unit: int, shard: Shard) -> int:
        captions = self.units[unit].captions
        return int(np.count_nonzero(captions.present[shard[0] - captions.start : shard[1] - captions.start]))

    def _key(self, system: int, metric: int, shard: Shard) -> PieceKey:
        examples = self._examples[system, metric] if self._counted[metric] else None
        return self.keys.of(self.systems[system], metric, self.metrics[metric], *shard, examples)

    def _jobs(self) -> dict[int, dict[int, list[int]]]:
        """Return the missing statistics: shard -> system -> metrics."""
        jobs: dict[int, dict[int, list[int]]] = {}
        for number, shard in enumerate(self.shards):
            missing: dict[int, list[int]] = defaultdict(list)
            for system in range(len(self.systems)):
                for metric in range(len(self.metrics)):
                    if self.partial and self._counted[metric]:
                        continue
                    if self.pieces.read_arrays(self._key(system, metric, shard)) is None:
                        missing[system].append(metric)
            if missing:
                jobs[number] = missing
        if not jobs:
            return {}
        streaming = set(self.fit.streaming)
        streamed = {n: {s: [m for m in ms if m in streaming] for s, ms in job.items()} for n, job in jobs.items()}
        return {n: {s: ms for s, ms in job.items() if ms} for n, job in streamed.items() if any(job.values())}

    def _job(self, shard: int, missing: dict[int, list[int]]) -> Job:
        used = sorted({self.systems[system].unit for system in missing})
        requests = [
            Request(
                used.index(self.systems[system].unit),
                system,
                self.systems[system].candidates,
                self.systems[system].references,
                tuple((metric, self._examples[system, metric]) for metric in metrics),
            )
            for system, metrics in missing.items()
        ]
        return Job(shard, [self.units[unit].caption_sets(*self.shards[shard]) for unit in used], requests)

    @property
    def _labels(self) -> list[str]:
        return [self.units[system.unit].model.label for system in self.systems]

    def _scorer(self, features: FeatureCache) -> ShardScorer:
        return ShardScorer(self.metrics, features, self.plan.spec.significance, self.plan.spec.seed, self._labels)

    def _executor(self, estimates: Estimates | None) -> Executor:
        scorer = self._scorer(self.fit.features)
        if self.options.name == "local":
            scorer.observe = estimates.add if estimates is not None else None
            return LocalExecutor(scorer)
        prime(self.fit, self.metrics, self._first_sets())
        cluster = self.cluster()
        if cluster is not None:
            return cluster.executor(scorer)
        return ProcessExecutor(scorer, self.options.count)

    def _first_sets(self) -> list[CaptionSet]:
        for start, stop in self.shards:
            for unit in self.units:
                sets = unit.caption_sets(start, min(stop, start + 64))
                if sets:
                    return sets
        return []

    # ------------------------------------------------------------------ metrics that need all texts
    @cached_property
    def _whole_features(self) -> FeatureCache:
        if len(self.shards) == 1 and self.options.name == "local":
            return self.fit.features  # all texts are in it
        return FeatureCache(self.store.references)

    def _whole(self, system: int, metric: int) -> tuple[Scored, PieceKey]:
        """Return the statistics of a metric that is not scored shard by shard: read, or computed on all examples."""
        plan, item = self.metrics[metric], self.systems[system]
        whole = (self.shards[0][0], self.shards[-1][1])
        key = self._key(system, metric, whole)
        stored = self.pieces.read_arrays(key)
        if stored is not None:
            scoring.fitted(plan.metric, self._whole_features)  # its reduction may read corpus state
            return Scored.from_arrays(stored), key
        scorer = self._scorer(self._whole_features)
        sets = self.units[item.unit].caption_sets(*whole)
        request = Request(0, system, item.candidates, item.references, ((metric, self._examples[system, metric]),))
        with bar(f"{plan.label}: {self._labels[system]}", len(sets), show=self.show) as advance:
            scored = scorer.score(Job(0, [sets], [request]), advance).scored[system, metric]
        self.pieces.write_arrays(key, scored.to_arrays())
        return scored, key

    # ------------------------------------------------------------------ results
    def collect(self, add: AddRecord, folder: Path | None, arrays: dict[str, Statistics]) -> SampleTable | None:
        """Make a record of every system and metric, and the samples.

        Parameters
        ----------
        add : callable
            Called with each record, the ids of the first examples without a score, and the number of these examples.
        folder : Path, optional
            Run directory, where samples.parquet is written; None: the table is returned.
        arrays : dict
            Filled with the statistics by name, for a run without a directory.
        """
        spec = self.plan.spec
        tested = [p.label for p in self.metrics if scoring.is_tested(p.metric, spec.significance)]
        path = folder / SAMPLES if folder is not None else None
        columns = [plan.label for plan in self.metrics]
        with (
            bar(self.stage("results"), len(self.systems) * len(columns), show=self.show, unit="numbers") as advance,
            SampleWriter(path, columns, tested, has_meta=self.store.has_meta) as writer,
        ):
            for system in range(len(self.systems)):
                scores: dict[str, np.ndarray] = {}
                p_values: dict[str, np.ndarray] = {}
                for metric, plan in enumerate(self.metrics):
                    scored, name = self._scored(system, metric)
                    scores[plan.label] = scored.per_example(plan.metric)
                    if scored.p_values is not None:
                        p_values[plan.label] = scored.p_values
                    if folder is None:
                        arrays[name] = scored.stats
                    record = self._record(system, plan, scored)
                    undefined = np.flatnonzero(~scored.defined)
                    add(replace(record, statistics=name), self._ids(system, undefined[:MAX_LOGGED_IDS]), len(undefined))
                    advance(1)
                self._write(writer, system, scores, p_values)
        return None if folder is not None else writer.table

    def _scored(self, system: int, metric: int) -> tuple[Scored, str]:
        """Return the statistics of a metric on all examples of a system, and the name of their pieces."""
        keys = [self._key(system, metric, shard) for shard in self.shards]
        parts = [self.pieces.read_arrays(key) for key in keys]
        present = [Scored.from_arrays(part) for part in parts if part is not None]
        if len(present) < len(parts):
            scored, key = self._whole(system, metric)
            return scored, key.stem
        whole = self._key(system, metric, (self.shards[0][0], self.shards[-1][1]))
        if len(keys) > 1 and isinstance(self.pieces, PieceStore):
            self.pieces.write_shards(whole.stem, [key.stem for key in keys])
        return Scored.joined(present), whole.stem

    def _record(self, system: int, plan: MetricPlan, scored: Scored) -> ResultRecord:
        item = self.systems[system]
        unit = self.units[item.unit]
        n, m = unit.sizes(item.candidates, item.references)
        sizes = {"candidates": np.unique(n).tolist(), "references": np.unique(m).tolist()}
        absent = len(unit.captions) - len(n)
        return caption_record(self.plan.spec, unit.model, item.described(), plan, scored, absent, sizes)

    def _ids(self, system: int, rows: np.ndarray) -> list[str]:
        """Return the ids of examples by their rows among those with candidates."""
        captions = self.units[self.systems[system].unit].captions
        places = np.flatnonzero(captions.present)[rows] + captions.start
        return [self.store[int(place)].id for place in places]

    def _write(
        self, writer: SampleWriter, system: int, scores: dict[str, np.ndarray], p_values: dict[str, np.ndarray]
    ) -> None:
        item, first = self.systems[system], 0
        unit = self.units[item.unit]
        for start, stop in self.shards:
            sets = unit.caption_sets(start, stop, item.candidates, item.references)
            rows = slice(first, first + len(sets))
            first += len(sets)
            writer.write(
                unit.model.label,
                item.described(),
                sets,
                {name: values[rows] for name, values in scores.items()},
                {name: values[rows] for name, values in p_values.items()},
            )
