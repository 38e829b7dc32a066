"""The run: plan, examples, captions, features, scores, results.

Every unit of work (a generation shard, the scores of one metric for one model and decoding) is on disk before the next
begins, under a name made of all that it depends on; a killed run finds them again and ends with the same results.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Batch, CaptionSet, Decoding, Example, Scorer, TaskView, TokenScoreMetric
from harness.errors import HarnessError, InputError
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.run import progress
from harness.run import score as scoring
from harness.run import warmup as warming
from harness.run.features import FeatureCache
from harness.run.generate import Generated, generate, prepare
from harness.run.metric_plan import MetricPlan
from harness.run.plan import ModelPlan, Plan, Point
from harness.run.provenance import build_manifest
from harness.run.results import Samples, record, results_file, token_score_records
from harness.rundir.store import Store

LISTED = 100
"""So many ids of skipped examples stand in the log; samples.parquet has them all (null scores)."""


@dataclass(repr=False)
class Run:
    """One executed spec."""

    manifest: dict[str, Any]
    results: list[dict[str, Any]]
    """Records as in results.json."""
    samples: dict[str, list[Any]] = field(default_factory=dict)
    """Columns as in samples.parquet."""
    failed: dict[str, str] = field(default_factory=dict)
    """Examples that a model could not do: ``model/example`` -> reason."""
    path: Path | None = None
    notes: list[str] = field(default_factory=list)
    """What the reader of the numbers should know: sizes beyond the data."""

    def __repr__(self) -> str:
        return f"<run of {self.manifest.get('signature', 'a suite')}: {len(self.results)} results, {len(self.failed)} failed>"

    def to_pandas(self) -> Any:
        """The records as a pandas DataFrame."""
        from harness.errors import require

        return require("pandas", extra="datasets", needed_by="Run.to_pandas").DataFrame(self.results)

    def to_dataset(self) -> Any:
        """The samples as a ``datasets.Dataset``."""
        from harness.errors import require

        return require("datasets", extra="datasets", needed_by="Run.to_dataset").Dataset.from_dict(self.samples)


def read_examples(plan: Plan) -> list[Example]:
    """The examples of the plan, cut to its limit. Raises :class:`InputError` when none are left or two share an id."""
    limit = plan.spec.limit
    reader = plan.spec.dataset.reader
    examples = list(islice(iter(plan.reader), limit) if limit is not None else plan.reader)
    if not examples:
        told = f" after limit {limit}" if limit is not None else ""
        raise InputError(f"the data set has no examples{told}", f"reader '{reader}'")
    seen: set[str] = set()
    for example in examples:
        if example.id in seen:
            raise InputError(f"the id '{example.id}' occurs twice", f"reader '{reader}'")
        seen.add(example.id)
    return examples


def run(plan: Plan, *, output: Path | None = None, mode: str = "auto", show: bool = False) -> Run:
    """Carry out a plan. With ``output`` the run directory is written; ``show`` draws progress bars on stderr."""
    plugins = Plugins().load(current())
    examples = read_examples(plan)
    if plan.caption_metrics():
        for model in plan.models:
            for generation in plan.generations():  # before anything is written: what cannot work is told now
                prepare(model, TaskView(examples, generation, partial=plan.spec.limit is not None))
    manifest = build_manifest(plan, examples, plugins.failures)
    store = Store(output) if output else None
    if store and store.open(manifest, mode):
        finished = _finished(store)
        if finished is not None:
            store.close()
            return finished
    try:
        return _Work(plan, examples, manifest, store, plugins, show).carry_out()
    except HarnessError:
        if store:
            store.discard_if_empty()
        raise
    finally:
        if store:
            store.close()


def _finished(store: Store) -> Run | None:
    """The run of a directory that already holds all of it."""
    from harness.rundir.store import read_run

    if not (store.path / "results.json").is_file() or not (store.path / "samples.parquet").is_file():
        return None
    manifest, results = read_run(store.path)
    import pyarrow.parquet as pq

    samples = pq.read_table(store.path / "samples.parquet").to_pydict()
    return Run(manifest, results["results"], samples, results.get("failed", {}), store.path, results.get("notes", []))


@dataclass
class _Work:
    """The state of a run under way."""

    plan: Plan
    examples: Sequence[Example]
    manifest: dict[str, Any]
    store: Store | None
    plugins: Plugins
    show: bool
    results: list[dict[str, Any]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def carry_out(self) -> Run:
        self._log("started", digest=self.manifest["digest"])
        self.plugins.call("harness_run_started", manifest=self.manifest)
        warming.warm(plan.metric for plan in self.plan.metrics)
        self.features = FeatureCache([example.references for example in self.examples])
        self.samples = Samples([plan.label for plan in self.plan.caption_metrics()])
        for model in self.plan.models:
            self._token_metrics(model)
            for generation, points in self.plan.generations().items() if self.plan.caption_metrics() else ():
                self._score_generation(model, generation, points, self._generate(model, generation))
        path = self.store.path if self.store else None
        done = Run(self.manifest, self.results, self.samples.columns(), self.failed, path, self.notes)
        if self.store:
            self.store.write_samples(done.samples)
            self.store.write_results(results_file(self.manifest, self.results, self.failed, self.notes))
        self._log("finished", results=len(self.results))
        self.plugins.call("harness_run_finished", manifest=self.manifest, results=self.results)
        return done

    def _log(self, event: str, **values: Any) -> None:
        if self.store:
            self.store.log(event, **values)

    # ------------------------------------------------------------------ captions
    def _generate(self, model: ModelPlan, decoding: Decoding) -> Generated:
        started = time.perf_counter()
        with progress.bar(f"captions: {model.label}", len(self.examples), show=self.show) as advance:
            made = generate(
                model, decoding, self.examples, seed=self.plan.spec.seed, store=self.store,
                partial=self.plan.spec.limit is not None, advance=advance,
            )  # fmt: skip
        failures = made.failures(self.examples)
        self.failed.update({f"{model.label}/{name}": reason for name, reason in failures.items()})
        self._log(
            "captions",
            model=model.label,
            failed=failures,
            missing=made.missing(self.examples),
            seconds=time.perf_counter() - started,
        )
        return made

    # ------------------------------------------------------------------ scores
    def _score_generation(
        self, model: ModelPlan, generation: Decoding, points: Sequence[Point], made: Generated
    ) -> None:
        by_example = made.caption_sets(self.examples)
        sets = [item for item in by_example if item is not None]
        if not sets:
            failed = made.failures(self.examples).items()
            first = next((f"; '{name}': {reason}" for name, reason in failed), "")
            raise HarnessError(
                f"model '{model.label}' has candidates for none of the {len(self.examples)} examples{first}"
            )
        whole = scoring.batches(sets, self.features)
        for point in points:
            for count in self.plan.reference_counts:
                if self._beyond(model, point, points, count, whole):
                    continue
                parts = scoring.nested(whole, self.features, point.decoding.candidates, count)
                self._score_point(model, point, count, parts, sets, len(self.examples) - len(sets))
        for _, batch in whole:
            self.features.forget(batch)

    def _beyond(
        self,
        model: ModelPlan,
        point: Point,
        points: Sequence[Point],
        count: int | None,
        whole: Sequence[tuple[np.ndarray, Batch]],
    ) -> bool:
        """Whether a size of the grid is beyond what there is and a smaller one already shows all of it; noted, never silent."""
        n, m = max(batch.n for _, batch in whole), max(batch.m for _, batch in whole)
        sizes = [other.decoding.candidates for other in points if other.decoding.candidates is not None]
        counts = [other for other in self.plan.reference_counts if other is not None]
        for what, wanted, most, grid in (
            ("candidates", point.decoding.candidates, n, sizes),
            ("references", count, m, counts),
        ):
            if wanted is None or wanted <= most:
                continue
            note = f"{model.label} has at most {most} {what}, not {wanted}"
            shown = any(most <= other < wanted for other in grid)
            note += ": left out, a smaller size shows all of them" if shown else ": scored with what there is"
            if note not in self.notes:
                self.notes.append(note)
                self._log("note", text=note)
            if shown:
                return True
        return False

    def _score_point(
        self,
        model: ModelPlan,
        point: Point,
        count: int | None,
        parts: Sequence[tuple[np.ndarray, Batch]],
        sets: Sequence[CaptionSet],
        absent: int,
    ) -> None:
        shown = {**point.described(), **({"references": count} if count is not None else {})}
        cut = [item for _, batch in parts for item in batch.sets]
        sizes = {
            "candidates": sorted({batch.n for _, batch in parts}),
            "references": sorted({batch.m for _, batch in parts}),
        }
        order = np.argsort(np.concatenate([positions for positions, _ in parts]), kind="stable")
        self.samples.begin(model.label, shown, [cut[i] for i in order])
        for plan in self.plan.caption_metrics():
            scored = self._score(model, point, count, plan, parts, len(sets))
            made = record(self.plan.spec, model, shown, plan, scored, absent, sizes)
            self.samples.add(plan.label, plan.metric, scored)
            self._keep(made, [item.id for item, defined in zip(sets, scored.defined.tolist()) if not defined])

    def _score(
        self,
        model: ModelPlan,
        point: Point,
        count: int | None,
        plan: MetricPlan,
        parts: Sequence[tuple[np.ndarray, Batch]],
        total: int,
    ) -> scoring.Scored:
        parts_key = (
            model.label,
            model.adapter.fingerprint(),
            point.described(),
            count,
            plan.metric.signature(),
            dict(plan.params),
        )
        unit = Store.unit(f"{model.label} {plan.label}", *parts_key)
        known = self.store.read_arrays(unit) if self.store else None
        if known is not None:
            if not plan.metric.spec.shardable:  # its reduction looks at the texts again
                scoring.fitted(plan.metric, self.features)
            p_values = known.get("p_values")
            return scoring.Scored(
                known["stats"], p_values, str(known["p_method"]), float(known["p_floor"]), float(known["seconds"])
            )
        with progress.bar(f"{plan.label}: {model.label}", total, show=self.show) as advance:
            try:
                scored = scoring.score(
                    plan.metric, parts, self.features, self.plan.spec.significance, self.plan.spec.seed, advance
                )
            except HarnessError:
                raise
            except Exception as error:
                if type(plan.metric).__module__.startswith("harness."):
                    raise  # a bug of ours shows its traceback
                told = f"{type(error).__name__}: {error}"
                raise HarnessError(
                    f"metric '{plan.label}' failed on model '{model.label}': {told} (--debug shows where)"
                ) from error
        if self.store:
            arrays: dict[str, Any] = {
                "stats": scored.stats, "p_method": scored.p_method, "p_floor": scored.p_floor, "seconds": scored.seconds
            }  # fmt: skip
            if scored.p_values is not None:
                arrays["p_values"] = scored.p_values
            self.store.write_arrays(unit, arrays)
        return scored

    def _keep(self, made: dict[str, Any], skipped: Sequence[str]) -> None:
        self.results.append(made)
        if skipped:
            self._log(
                "skipped",
                model=made["model"],
                metric=made["metric"],
                count=len(skipped),
                examples=list(skipped[:LISTED]),
            )
        self.plugins.call("harness_scores_ready", record=made)

    # ------------------------------------------------------------------ metrics of level `model`
    def _token_metrics(self, model: ModelPlan) -> None:
        plans = [plan for plan in self.plan.metrics if plan.metric.spec.level == "model"]
        if not plans:
            return
        if not isinstance(model.adapter, Scorer):
            raise HarnessError(
                f"metric '{plans[0].label}' needs a model that scores references token by token; "
                f"'{model.label}' ({model.name}) cannot (use the adapter token-scores for numbers from a file)"
            )
        with progress.bar(f"token scores: {model.label}", len(self.examples), show=self.show) as advance:
            scores = []
            for item in model.adapter.score_references(self.examples):
                scores.append(item)
                advance(1)
        for plan in plans:
            assert isinstance(plan.metric, TokenScoreMetric)
            for made in token_score_records(self.plan.spec, model, plan, scores):
                self._keep(made, [])


def merged(runs: Sequence[Run]) -> Run:
    """Several runs (a suite) seen as one."""
    if len(runs) == 1:
        return runs[0]
    manifest: Mapping[str, Any] = {"suite": [run.manifest for run in runs]}
    return Run(
        dict(manifest),
        [r for run in runs for r in run.results],
        {},
        {k: v for run in runs for k, v in run.failed.items()},
    )
