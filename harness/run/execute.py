"""Execution of a plan: examples, captions, features, scores, results.

The unit of work is (model, decoding, shard of examples). Its captions and the statistics of each metric are pieces: on disk
before the next unit begins, under keys of everything that they depend on. A killed run reads them again and ends with the
same results.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from harness import __version__
from harness.contracts import CaptionSet, Decoding, Example, PositionedBatch, Scorer, TaskView
from harness.errors import HarnessError, InputError
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.run import score as scoring
from harness.run import warmup
from harness.run.features import FeatureCache
from harness.run.finished import Run
from harness.run.generate import Generated, example_values, generate, prepare
from harness.run.metric_plan import MetricPlan, TokenMetricPlan
from harness.run.plan import GridPoint, ModelPlan, Plan
from harness.run.progress import bar
from harness.run.provenance import build_manifest, code_of
from harness.run.results import caption_record, token_score_records
from harness.run.size_notes import size_note
from harness.rundir.pieces import PieceKey, content_digest
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.rundir import Mode, RunDir
from harness.rundir.samples import SampleColumns

MAX_LOGGED_IDS = 100
"""Maximum number of skipped-example ids written to the log; samples.parquet has all of them as null scores."""


def read_examples(plan: Plan) -> list[Example]:
    """Return the examples of the plan, cut to its limit.

    Raises :class:`InputError` when there are none or two share an id.
    """
    limit = plan.spec.limit
    where = f"reader '{plan.spec.dataset.reader}'"
    examples = list(islice(iter(plan.reader), limit) if limit is not None else plan.reader)
    if not examples:
        cut = f" after limit {limit}" if limit is not None else ""
        raise InputError(f"the data set has no examples{cut}", where)
    seen: set[str] = set()
    for example in examples:
        if example.id in seen:
            raise InputError(f"the id '{example.id}' occurs twice", where, value=example.id)
        seen.add(example.id)
    return examples


def execute(plan: Plan, *, output: Path | None = None, mode: Mode = "auto", show: bool = False) -> Run:
    """Execute a plan and return the finished run.

    Parameters
    ----------
    plan : Plan
        The plan.
    output : Path, optional
        Run directory; None: nothing is written.
    mode : {"auto", "resume", "fresh"}
        See :meth:`harness.rundir.rundir.RunDir.create`.
    show : bool
        Draw progress bars on stderr.
    """
    plugins = Plugins().load(current())
    examples = read_examples(plan)
    if plan.caption_metrics:
        for model in plan.models:
            for decoding in plan.generations:  # before anything is written: report a task that cannot work
                prepare(model, TaskView(examples, decoding, partial=plan.spec.limit is not None))
    manifest = build_manifest(plan, examples, plugins.failures)
    rundir = RunDir.create(output, manifest, mode) if output else None
    if rundir and rundir.finished:
        rundir.close()
        return Run.of(rundir)
    try:
        return Execution(plan, examples, Provenance(manifest), rundir, plugins, show).execute()
    except HarnessError:
        if rundir:
            rundir.discard_if_empty()
        raise
    finally:
        if rundir:
            rundir.close()


@dataclass(frozen=True)
class _Unit:
    """One unit of work: the captions of a model under a decoding for one shard of examples."""

    model: ModelPlan
    generated: Generated
    sets: list[CaptionSet]
    """Caption sets of the examples with candidates."""
    whole: list[PositionedBatch]
    """The sets as batches, in their full sizes."""

    @property
    def absent(self) -> int:
        """Number of examples without candidates."""
        return len(self.generated.examples) - len(self.sets)


@dataclass
class Execution:
    """State of a run while it is executed."""

    plan: Plan
    examples: Sequence[Example]
    provenance: Provenance
    rundir: RunDir | None
    plugins: Plugins
    show: bool
    records: list[ResultRecord] = field(default_factory=list["ResultRecord"])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])

    @cached_property
    def features(self) -> FeatureCache:
        """Feature cache of the run."""
        return FeatureCache([example.references for example in self.examples])

    @cached_property
    def samples(self) -> SampleColumns:
        """Columns of samples.parquet."""
        return SampleColumns([plan.label for plan in self.plan.caption_metrics])

    @cached_property
    def _data_digest(self) -> str:
        """Hash of the examples' content: corpus state depends on all of them."""
        return content_digest([example_values(example) for example in self.examples])

    def execute(self) -> Run:
        """Execute all units of work and return the finished run."""
        self._log("started", digest=self.provenance.digest)
        self.plugins.call("harness_run_started", manifest=self.provenance.content)
        warmup.warm(plan.metric for plan in self.plan.metrics)
        for model in self.plan.models:
            self._judge_token_scores(model)
            for decoding, points in self.plan.generations.items() if self.plan.caption_metrics else ():
                self._score_unit(self._unit(model, decoding), points)
        run = self._finish()
        self._log("finished", results=len(self.records))
        results = [record.to_dict() for record in self.records]
        self.plugins.call("harness_run_finished", manifest=self.provenance.content, results=results)
        return run

    def _finish(self) -> Run:
        samples = self.samples.table()
        if self.rundir is None:
            return Run(self.provenance, tuple(self.records), samples, self.failed, self.notes)
        self.rundir.write_results(self.records, samples, self.failed, self.notes)
        return Run(self.provenance, tuple(self.records), samples, self.failed, self.notes, self.rundir.path)

    def _log(self, event: str, **values: object) -> None:
        if self.rundir:
            self.rundir.log(event, **values)

    # ------------------------------------------------------------------ captions
    def _unit(self, model: ModelPlan, decoding: Decoding) -> _Unit:
        started = time.perf_counter()
        task = TaskView(self.examples, decoding, partial=self.plan.spec.limit is not None)
        pieces = self.rundir.pieces if self.rundir else None
        with bar(f"captions: {model.label}", len(self.examples), show=self.show) as advance:
            generated = generate(model, task, seed=self.plan.spec.seed, pieces=pieces, advance=advance)
        failures = generated.failures
        self.failed.update({f"{model.label}/{name}": reason for name, reason in failures.items()})
        self._log(
            "captions",
            model=model.label,
            failed=failures,
            missing=generated.missing,
            seconds=time.perf_counter() - started,
        )
        sets = generated.caption_sets()
        if not sets:
            first = next((f"; '{name}': {reason}" for name, reason in failures.items()), "")
            raise HarnessError(
                f"model '{model.label}' has candidates for none of the {len(self.examples)} examples{first}"
            )
        return _Unit(model, generated, sets, scoring.batches(sets, self.features))

    # ------------------------------------------------------------------ scores
    def _score_unit(self, unit: _Unit, points: Sequence[GridPoint]) -> None:
        for point in points:
            for count in self.plan.reference_counts:
                if self._exceeds_data(unit, point, points, count):
                    continue
                parts = scoring.nested(unit.whole, self.features, point.decoding.candidates, count)
                self._score_point(unit, point, count, parts)
        for _, batch in unit.whole:
            self.features.forget(batch)

    def _exceeds_data(self, unit: _Unit, point: GridPoint, points: Sequence[GridPoint], count: int | None) -> bool:
        """Return True for a size beyond the data that a smaller size of the grid already covers; it is noted."""
        n, m = (max(sizes) for sizes in zip(*((batch.n, batch.m) for _, batch in unit.whole)))
        n_sizes = [other.decoding.candidates for other in points]
        for what, size, most, grid in (
            ("candidates", point.decoding.candidates, n, n_sizes),
            ("references", count, m, self.plan.reference_counts),
        ):
            note = size_note(unit.model.label, what, size, most, grid)
            if note is None:
                continue
            if note.text not in self.notes:
                self.notes.append(note.text)
                self._log("note", text=note.text)
            if note.covered:
                return True
        return False

    def _score_point(self, unit: _Unit, point: GridPoint, count: int | None, parts: Sequence[PositionedBatch]) -> None:
        decoding = {**point.described(), **({"references": count} if count is not None else {})}
        order = np.argsort(np.concatenate([positions for positions, _ in parts]), kind="stable")
        cut = [item for _, batch in parts for item in batch.sets]
        sets = [cut[int(i)] for i in order]
        sizes = {
            "candidates": sorted({batch.n for _, batch in parts}),
            "references": sorted({batch.m for _, batch in parts}),
        }
        self.samples.begin(unit.model.label, decoding, sets)
        content = content_digest([[s.id, s.candidates, s.references, s.media, s.source, dict(s.meta)] for s in sets])
        for plan in self.plan.caption_metrics:
            scored, key = self._scored(unit.model, plan, parts, content)
            self.samples.add(plan.label, scored.per_example(plan.metric), scored.p_values)
            record = caption_record(self.plan.spec, unit.model, decoding, plan, scored, unit.absent, sizes)
            if self.rundir:
                record = replace(record, statistics=key.stem)
            undefined = np.flatnonzero(~scored.defined).tolist()
            self._add(record, [sets[i].id for i in undefined])

    def _scored(
        self, model: ModelPlan, plan: MetricPlan, parts: Sequence[PositionedBatch], content: str
    ) -> tuple[scoring.Scored, PieceKey]:
        """Return the statistics of a metric and the key of their piece: read from disk, or computed and written."""
        spec = self.plan.spec
        key = PieceKey.of(
            f"{model.label} {plan.label}",
            __version__, plan.metric.signature(), dict(plan.params), code_of([plan.metric]),
            spec.significance.model_dump(), spec.seed, content, self._data_digest,
        )  # fmt: skip
        stored = self.rundir.pieces.read_arrays(key) if self.rundir else None
        if stored is not None:
            if not plan.metric.spec.shardable:  # its reduction reads the texts again
                scoring.fitted(plan.metric, self.features)
            return scoring.Scored.from_arrays(stored), key
        scored = self._compute(model, plan, parts)
        if self.rundir:
            self.rundir.pieces.write_arrays(key, scored.to_arrays())
        return scored, key

    def _compute(self, model: ModelPlan, plan: MetricPlan, parts: Sequence[PositionedBatch]) -> scoring.Scored:
        spec = self.plan.spec
        total = sum(len(batch) for _, batch in parts)
        with bar(f"{plan.label}: {model.label}", total, show=self.show) as advance:
            try:
                return scoring.score(plan.metric, parts, self.features, spec.significance, spec.seed, advance)
            except HarnessError:
                raise
            except Exception as error:
                if type(plan.metric).__module__.startswith("harness."):
                    raise  # a bug of the harness shows its traceback
                raise HarnessError(
                    f"metric '{plan.label}' failed on model '{model.label}': {type(error).__name__}: {error} (--debug shows where)"
                ) from error

    def _add(self, record: ResultRecord, skipped: Sequence[str]) -> None:
        self.records.append(record)
        if skipped:
            self._log(
                "skipped",
                model=record.model,
                metric=record.metric,
                count=len(skipped),
                examples=list(skipped[:MAX_LOGGED_IDS]),
            )
        self.plugins.call("harness_scores_ready", record=record.to_dict())

    # ------------------------------------------------------------------ metrics of level `model`
    def _judge_token_scores(self, model: ModelPlan) -> None:
        plans: Sequence[TokenMetricPlan] = self.plan.token_metrics
        if not plans:
            return
        if not isinstance(model.adapter, Scorer):
            raise HarnessError(
                f"metric '{plans[0].label}' needs a model that scores references token by token; "
                f"'{model.label}' ({model.name}) does not (the adapter token-scores reads them from a file)"
            )
        with bar(f"token scores: {model.label}", len(self.examples), show=self.show) as advance:
            scores: list[Any] = []
            for item in model.adapter.score_references(self.examples):
                scores.append(item)
                advance(1)
        for plan in plans:
            for record in token_score_records(self.plan.spec, model, plan, scores):
                self._add(record, [])


def merged(runs: Sequence[Run]) -> Run:
    """Return several runs (a suite) as one."""
    if len(runs) == 1:
        return runs[0]
    content: Mapping[str, object] = {"suite": [run.provenance.content for run in runs]}
    return Run(
        Provenance(dict(content)),
        tuple(record for run in runs for record in run.records),
        SampleColumns([]).table(),
        {name: reason for run in runs for name, reason in run.failed.items()},
        [note for run in runs for note in run.notes],
    )
