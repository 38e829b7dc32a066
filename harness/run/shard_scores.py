"""Scores of one shard: the caption sets of all models for a range of examples, under
every metric that streams.

A job holds everything that a worker needs beside corpus state, and its result is
arrays; a worker that is lost has lost nothing but its time, because the job can be
given to another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from harness.contracts import CaptionSet, Features, PositionedBatch, Statistics, Warms
from harness.errors import HarnessError
from harness.registry import current
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan
from harness.run.scored import Scored
from harness.spec.models import SignificanceSpec


@dataclass(frozen=True, slots=True)
class Request:
    """Metrics to compute on the captions of one system,
    cut to a number of candidates and references.
    """

    captions: int
    """Index of the captions in the job."""
    system: int
    """Index of the system in the run."""
    candidates: int | None
    references: int | None
    metrics: tuple[tuple[int, int], ...]
    """Index of each metric, and the number of examples of the run that it can score."""


@dataclass(frozen=True)
class Job:
    """One shard."""

    index: int
    sets: Sequence[Sequence[CaptionSet]]
    """Caption sets of each model and generation for the examples of the shard."""
    requests: Sequence[Request]


@dataclass(frozen=True)
class ShardScores:
    """Result of a job."""

    index: int
    scored: dict[tuple[int, int], Scored] = field(
        default_factory=dict[tuple[int, int], Scored]
    )
    """Statistics by system and metric."""


@dataclass
class ShardScorer:
    """Computes jobs; one per worker."""

    metrics: Sequence[MetricPlan]
    features: FeatureCache
    significance: SignificanceSpec
    seed: int
    labels: Sequence[str]
    """Label of the model of each system, for messages; empty for captions of no model.
    """
    batch: int | None = scoring.BATCH
    """Examples per batch; None: more examples the fewer texts they have."""
    observe: Callable[[int, int, Statistics], None] | None = None
    """Called with system, metric and the statistics of each batch;
    in the process of the run alone.
    """
    _last: int | None = None

    def score(
        self, job: Job, advance: Callable[[int], None] = lambda n: None
    ) -> ShardScores:
        """Return the statistics of a job; ``advance`` gets the number of examples after
        each batch.
        """
        if self._last is not None and self._last != job.index:
            self.features.next_shard()
        self._last = job.index

        scored: dict[tuple[int, int], Scored] = {}
        for position, sets in enumerate(job.sets):
            requests = [
                request for request in job.requests if request.captions == position
            ]
            if not requests:
                continue
            full_batches = scoring.batches(sets, self.features, self.batch)
            self._check_batches(requests, full_batches)

            for request in requests:
                nested_batches = scoring.nested(
                    full_batches, self.features, request.candidates, request.references
                )
                # First those that have nothing to load: a terminal shows their numbers
                # meanwhile.
                for metric, examples in sorted(
                    request.metrics,
                    key=lambda item: isinstance(self.metrics[item[0]].metric, Warms),
                ):
                    scored[request.system, metric] = self._score_request(
                        request, metric, nested_batches, examples, advance
                    )
            for _, batch in full_batches:
                self.features.forget(batch)
        return ShardScores(job.index, scored)

    def _check_batches(
        self, requests: Sequence[Request], batches: Sequence[PositionedBatch]
    ) -> None:
        """Raise :class:`HarnessError` where an example is too large for one of the
        metrics of some requests.
        """
        indices = {index for request in requests for index, _ in request.metrics}
        plans = [self.metrics[index] for index in sorted(indices)]
        pairs = [(plan.label, plan.metric) for plan in plans]
        scoring.check_batches(pairs, batches, self.significance)

    def _score_request(
        self,
        request: Request,
        metric: int,
        batches: Sequence[PositionedBatch],
        examples: int,
        advance: Callable[[int], None],
    ) -> Scored:
        plan = self.metrics[metric]
        label = self.labels[request.system]
        model = f" on model '{label}'" if label else ""
        observe: Callable[[Statistics], None] | None = None
        if self.observe is not None:
            observe = partial(self.observe, request.system, metric)

        # Batches are halved until one fits into memory.
        while True:
            try:
                return scoring.score(
                    plan.metric,
                    batches,
                    self.features,
                    self.significance,
                    self.seed,
                    advance,
                    examples,
                    observe,
                )
            except HarnessError:
                raise
            except MemoryError:
                batches = self._halve(batches, f"metric '{plan.label}'{model}")
            except Exception as error:
                if current().is_built_in("metrics", plan.name):
                    raise  # a bug of the harness shows its traceback
                raise HarnessError(
                    f"metric '{plan.label}' failed{model}: {type(error).__name__}: "
                    f"{error} (--debug shows where)"
                ) from error

    def _halve(
        self, batches: Sequence[PositionedBatch], subject: str
    ) -> Sequence[PositionedBatch]:
        """Return batches of half the size, after one did not fit into memory; raise
        :class:`HarnessError` for single examples.
        """
        for _, batch in batches:
            self.features.forget(batch)
        smaller = halve_batches(batches, self.features)
        if smaller is None:
            sets = (item for _, batch in batches for item in batch.sets)
            worst = max(sets, key=lambda item: sum(map(len, item.candidates)))
            raise HarnessError(
                f"{subject} needs more memory than there is for one example, "
                f"such as '{worst.id}' ({len(worst.candidates)} candidates, "
                f"{len(worst.references)} references); "
                "shorten its texts or run where there is more memory"
            )
        return smaller


def halve_batches(
    batches: Sequence[PositionedBatch], features: Features
) -> list[PositionedBatch] | None:
    """Return the same examples in batches of half the size;
    None where every batch holds one example.

    Rows do not depend on the batch that they are computed in, so that no digit changes.
    """
    if all(len(batch) == 1 for _, batch in batches):
        return None
    smaller: list[PositionedBatch] = []
    for positions, batch in batches:
        middle = (len(batch) + 1) // 2
        for start, stop in ((0, middle), (middle, len(batch))):
            if start < stop:
                half = features.batch(batch.sets[start:stop])
                smaller.append(PositionedBatch(positions[start:stop], half))
    return smaller
