"""The scoring pass of a run: which statistics are missing, who computes them, and the
statistics of each system and metric.

The corpus state of a metric is fitted shard by shard where the metric permits it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.contracts import CaptionSet, Statistics, join_statistics
from harness.run import score as scoring
from harness.run import warmup
from harness.run.corpus_fit import CorpusFit, fit, prime
from harness.run.estimates import Estimates
from harness.run.execution import Execution
from harness.run.executor import Executor, LocalExecutor, ProcessExecutor
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan
from harness.run.progress import bar
from harness.run.scored import Scored
from harness.run.shard_scores import Job, Request, ShardScorer
from harness.run.systems import PlannedSystem, StatisticsKeys, scorable_examples
from harness.rundir.artifact_key import ArtifactKey
from harness.spec.models import SignificanceSpec

Shard = tuple[int, int]
"""First example and end."""


@dataclass
class ScoringPass:
    """Statistics of all systems and metrics, shard by shard."""

    execution: Execution
    metrics: Sequence[MetricPlan]
    systems: Sequence[PlannedSystem]
    """Rows of the table of results."""
    shards: Sequence[Shard]
    references: Sequence[Sequence[str]]
    """References on which the metrics fit their corpus state."""
    corpus_key: str
    """Hash of these references."""
    significance: SignificanceSpec
    seed: int
    batch: int | None = scoring.BATCH
    """Examples per batch; None: more examples the fewer texts they have."""
    growing: bool = False
    """More shards follow (:meth:`select`), so that the corpus state is kept."""

    def __post_init__(self) -> None:
        self.artifacts = self.execution.artifacts
        self.options = self.execution.options
        self.show = self.execution.show
        self.keys = StatisticsKeys(self.significance, self.seed, self.corpus_key)

    @property
    def partial(self) -> bool:
        """True where other examples follow, or belong to another part: what needs all
        examples is left to the whole run.
        """
        return self.growing or self.options.part is not None

    @property
    def whole(self) -> Shard:
        """First example of the shards and the end."""
        return (self.shards[0][0], self.shards[-1][1]) if self.shards else (0, 0)

    def select(
        self,
        systems: Sequence[PlannedSystem],
        shards: Sequence[Shard],
        *,
        growing: bool,
    ) -> None:
        """Go on with other shards under the same corpus state."""
        self.systems = systems
        self.shards = shards
        self.growing = growing
        self.__dict__.pop("_examples", None)

    def batch_statistics(self, system: int, metric: int) -> Statistics | None:
        """Return the statistics of a metric on the shards;
        None for one that needs all examples.
        """
        stored = [
            self.artifacts.read_arrays(self._key(system, metric, shard).stem)
            for shard in self.shards
        ]
        present = [
            Scored.from_arrays(arrays).stats for arrays in stored if arrays is not None
        ]
        return join_statistics(present) if len(present) == len(stored) else None

    def compute(self) -> None:
        """Compute the statistics that are missing,
        under all metrics that are scored shard by shard.
        """
        missing_of_shard = self._missing_statistics()
        if not missing_of_shard:
            return

        total = 0
        needed: set[int] = set()
        for shard, missing in missing_of_shard.items():
            for system, metrics in missing.items():
                present = self._present(self.systems[system], self.shards[shard])
                total += len(metrics) * present
                needed.update(metrics)
        warmup.warm(self.metrics[metric].metric for metric in sorted(needed))

        # Estimates cost time: they are made where somebody looks.
        estimates = Estimates(self.metrics, self._labels)
        watch = self.options.watch
        is_watched = self.show or watch is not None
        if watch is not None:
            watch.estimates = estimates

        executor = self._executor(estimates if is_watched else None)
        jobs = (
            self._job(shard, missing) for shard, missing in missing_of_shard.items()
        )
        try:
            with bar(
                self.execution.stage("scores"),
                total,
                show=self.show,
                unit="scores",
                status=estimates.text,
            ) as advance:
                for scores in executor.scores(jobs, advance):
                    for (system, metric), scored in scores.scored.items():
                        key = self._key(system, metric, self.shards[scores.index])
                        self.artifacts.write_arrays(key, scored.to_arrays())
                        # an executor in this process adds each batch by itself
                        if is_watched and self.options.executor.name != "local":
                            estimates.add(system, metric, scored.stats)
        finally:
            executor.close()
            # the numbers need statistics alone, and the n-grams are as large
            if len(self.shards) > 1 and not self.growing:
                self.__dict__.pop("fit", None)

    @cached_property
    def fit(self) -> CorpusFit:
        """Corpus state of the metrics."""
        # a part of a run, or one that grows, has other shards than these
        shards = 2 if self.partial else max(1, len(self.shards))
        stage = self.execution.stage("corpus statistics")
        with bar(stage, len(self.references), show=self.show) as advance:
            return fit(self.metrics, self.references, shards=shards, advance=advance)

    @cached_property
    def _examples(self) -> dict[tuple[int, int], int]:
        """Number of examples that each metric can score in each system."""
        return {
            (s, m): scorable_examples(system, plan.metric)
            for s, system in enumerate(self.systems)
            for m, plan in enumerate(self.metrics)
        }

    @cached_property
    def _needs_all_examples(self) -> list[bool]:
        """True for the metrics whose p-values depend on the number of examples of the
        run.
        """
        return [
            scoring.depends_on_all_examples(plan.metric, self.significance)
            for plan in self.metrics
        ]

    def _present(self, system: PlannedSystem, shard: Shard) -> int:
        first = shard[0] - system.start
        last = shard[1] - system.start
        return int(np.count_nonzero(system.present[first:last]))

    def _key(self, system: int, metric: int, shard: Shard) -> ArtifactKey:
        examples = None
        if self._needs_all_examples[metric]:
            examples = self._examples[system, metric]
        return self.keys.of(
            self.systems[system], self.metrics[metric], *shard, examples
        )

    def _missing_statistics(self) -> dict[int, dict[int, list[int]]]:
        """Return the missing statistics of metrics that are scored shard by shard:
        shard -> system -> metrics.
        """
        missing: list[tuple[int, int, int]] = []
        for number, shard in enumerate(self.shards):
            for system in range(len(self.systems)):
                for metric in range(len(self.metrics)):
                    if self.partial and self._needs_all_examples[metric]:
                        continue
                    key = self._key(system, metric, shard)
                    if self.artifacts.read_arrays(key.stem) is None:
                        missing.append((number, system, metric))

        # The corpus state, which tells the metrics apart, is fitted where something is
        # missing alone.
        streaming = set(self.fit.streaming) if missing else set[int]()
        by_shard: dict[int, dict[int, list[int]]] = {}
        for number, system, metric in missing:
            if metric in streaming:
                by_system = by_shard.setdefault(number, {})
                by_system.setdefault(system, []).append(metric)
        return by_shard

    def _job(self, shard: int, missing: dict[int, list[int]]) -> Job:
        positions: dict[tuple[int, bytes], int] = {}
        sets: list[list[CaptionSet]] = []
        requests: list[Request] = []
        for system, metrics in missing.items():
            item = self.systems[system]
            key = item.uncut_key(*self.shards[shard])
            # several systems share captions, which go into the job once
            if key not in positions:
                positions[key] = len(sets)
                sets.append(item.caption_sets(*self.shards[shard], uncut=True))
            requests.append(self._request(positions[key], system, metrics))
        return Job(shard, sets, requests)

    def _request(self, captions: int, system: int, metrics: Sequence[int]) -> Request:
        """Return the request of metrics for a system whose captions have this position
        in the job.
        """
        item = self.systems[system]
        counts = tuple((metric, self._examples[system, metric]) for metric in metrics)
        return Request(
            captions, system, item.decoding.candidates, item.references, counts
        )

    @property
    def _labels(self) -> list[str]:
        return [system.label for system in self.systems]

    def _scorer(self, features: FeatureCache) -> ShardScorer:
        return ShardScorer(
            self.metrics,
            features,
            self.significance,
            self.seed,
            self._labels,
            self.batch,
        )

    def _executor(self, estimates: Estimates | None) -> Executor:
        scorer = self._scorer(self.fit.features)
        if self.options.executor.name == "local":
            scorer.observe = estimates.add if estimates is not None else None
            return LocalExecutor(scorer)
        prime(self.fit, self.metrics, self._first_sets())
        cluster = self.execution.cluster()
        if cluster is not None:
            return cluster.executor(scorer)
        return ProcessExecutor(scorer, self.options.executor.count)

    def _first_sets(self) -> list[CaptionSet]:
        for start, stop in self.shards:
            for system in self.systems:
                sets = system.caption_sets(start, min(stop, start + 64), uncut=True)
                if sets:
                    return sets
        return []

    @cached_property
    def _whole_features(self) -> FeatureCache:
        if len(self.shards) == 1 and self.options.executor.name == "local":
            return self.fit.features  # all texts are in it
        return FeatureCache(self.references)

    def _whole(self, system: int, metric: int) -> tuple[Scored, ArtifactKey]:
        """Return the statistics of a metric that is not scored shard by shard: read, or
        computed on all examples.
        """
        plan = self.metrics[metric]
        item = self.systems[system]
        key = self._key(system, metric, self.whole)
        stored = self.artifacts.read_arrays(key.stem)
        if stored is not None:
            # its reduction may read corpus state
            scoring.fit_once(plan.metric, self._whole_features)
            return Scored.from_arrays(stored), key

        scorer = self._scorer(self._whole_features)
        sets = item.caption_sets(*self.whole, uncut=True)
        job = Job(0, [sets], [self._request(0, system, [metric])])
        description = ": ".join(filter(None, (plan.label, item.label)))
        with bar(description, len(sets), show=self.show) as advance:
            scored = scorer.score(job, advance).scored[system, metric]
        self.artifacts.write_arrays(key, scored.to_arrays())
        return scored, key

    def statistics(self, system: int, metric: int) -> tuple[Scored, str]:
        """Return the statistics of a metric on all examples of a system,
        and the name of their artifacts.
        """
        keys = [self._key(system, metric, shard) for shard in self.shards]
        shard_arrays = [self.artifacts.read_arrays(key.stem) for key in keys]
        present = [
            Scored.from_arrays(arrays) for arrays in shard_arrays if arrays is not None
        ]
        if len(present) < len(shard_arrays):
            scored, key = self._whole(system, metric)
            return scored, key.stem

        run_key = self._key(system, metric, self.whole)
        if len(keys) > 1:
            self.artifacts.write_shards(run_key.stem, [key.stem for key in keys])
        return Scored.join(present), run_key.stem
