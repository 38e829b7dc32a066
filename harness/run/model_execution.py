"""The captions, token scores and statistics of models on a data set, while a run is
executed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from harness.contracts import (
    CountsUsage,
    Decoding,
    Example,
    ForgetsTexts,
    GeneratesUnordered,
    Scorer,
    StoreResult,
    TaskView,
    Timed,
    Values,
    needs_whole_task,
)
from harness.errors import HarnessError, counted
from harness.run.common_size import CommonSize, common_size, size_note
from harness.run.example_store import ExampleStore
from harness.run.execution import Execution
from harness.run.executor import Cluster
from harness.run.finished import Run
from harness.run.generate import generate
from harness.run.metric_plan import ModelPlan, Plan
from harness.run.output_notes import notes_of_system
from harness.run.progress import bar, note
from harness.run.reference_positions import position_note
from harness.run.results import token_score_records
from harness.run.scoring_pass import ScoringPass
from harness.run.stopping import Stopping, batches
from harness.run.systems import PlannedSystem
from harness.run.token_scores import token_scores
from harness.rundir.format import JsonObject, plain
from harness.rundir.provenance import Provenance
from harness.rundir.samples import SampleTable
from harness.stats.seeds import derive


@dataclass(kw_only=True)
class ModelExecution(Execution):
    """Execution of models on a data set: their captions and token scores."""

    plan: Plan
    examples: ExampleStore

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = [decoding.candidates or 1 for decoding in self.plan.generations]
        n_candidates = len(self.plan.models) * sum(counts)
        n_references = max(self.examples.reference_counts, default=1)
        self.size = self.grid(len(self.examples), n_references + n_candidates)
        self.shards = self.size.of_part(self.options.part)
        self.span = (self.shards[0][0], self.shards[-1][1]) if self.shards else (0, 0)

    def end_part(self) -> Run:
        """Finish a part of the run, which has no results, and return it."""
        assert self.rundir is not None
        self.plugins.call(
            "harness_run_stopped", manifest=self.provenance.content, error=None
        )
        part_name = str(self.options.part)
        self.rundir.finish_part(
            self.size.size, examples=len(self.examples), part=part_name
        )
        self.log("finished part", part=part_name)
        return Run(
            self.provenance,
            (),
            SampleTable.empty(),
            self.failed,
            self.notes,
            self.rundir.path,
        )

    def score(self) -> ScoringPass:
        """Return the scoring pass over all examples,
        or over those that the conditions of the spec need.
        """
        plan = self.plan
        spec = plan.spec
        examples = self.examples
        scoring = ScoringPass(
            self,
            plan.caption_metrics,
            (),
            (),
            examples.references,
            examples.digest(),
            spec.significance,
            spec.seed,
        )

        if spec.until:
            stopping = Stopping(
                spec.until, plan.caption_metrics, examples, spec.cluster
            )
            self._grow(scoring, stopping)

        scoring.select(self.generate_systems(), self.shards, growing=False)
        for model in plan.models:  # the run has their captions now
            if isinstance(model.adapter, ForgetsTexts):
                model.adapter.forget_texts()
        scoring.compute()
        return scoring

    def _grow(self, scoring: ScoringPass, stopping: Stopping) -> None:
        """Take examples in batches until the conditions are decided;
        what follows is about these examples.
        """
        show = self.show
        all_shards = self.shards
        stop = 0
        with bar("examples until decided", len(self.examples), show=show) as advance:
            # one bar for all batches, none for each
            self.show = scoring.show = False
            for batch in batches(all_shards):
                start, stop = batch[0][0], batch[-1][1]
                self.span = start, stop
                scoring.select(self.generate_systems(growing=True), batch, growing=True)
                scoring.compute()
                stopping.add(scoring)
                advance(stop - start)
                if stopping.decided():
                    break
        self.show = scoring.show = show

        self.shards = [shard for shard in all_shards if shard[1] <= stop]
        self.span = (0, stop)
        summary = stopping.summary()
        self.note(stopping.note(summary))
        content = {**self.provenance.content, "stopped": summary}
        self.provenance = Provenance(cast(JsonObject, plain(content)))
        if self.rundir is not None:
            self.rundir.write_manifest(self.provenance.content)

    def generate_systems(self, growing: bool = False) -> list[PlannedSystem]:
        """Return the rows of the table of results: captions of each model and
        generation under the sizes of the grid.

        ``growing``: the rows of a batch, all of them, since later examples may have
        sizes beyond the data of these.
        """
        plan = self.plan
        drawn = None if plan.spec.reference_subset == "first" else plan.spec.seed
        generated: list[tuple[PlannedSystem, Sequence[Decoding]]] = []
        for model in plan.models if plan.caption_metrics else ():
            for generation, decodings in plan.generations.items():
                captions = self._captions(model, generation)
                generated.append((replace(captions, subset_seed=drawn), decodings))

        if drawn is None and generated:
            text = position_note(self.examples, plan.reference_counts)
            if text:
                self.note(text)
        if not growing:
            self._note_outputs([system for system, _ in generated])

        if plan.spec.sizes == "equal" and generated:
            size = self._common_size([system for system, _ in generated])
            generated = [
                (replace(system, largest=(size.n, size.m)), decodings)
                for system, decodings in generated
            ]

        # Each generation gives a row for every size of the grid that its data have.
        systems: list[PlannedSystem] = []
        for system, decodings in generated:
            grid = [decoding.candidates for decoding in decodings]
            for decoding in decodings:
                for count in plan.reference_counts:
                    if growing or not self._exceeds_data(system, decoding, grid, count):
                        row = replace(system, decoding=decoding, references=count)
                        systems.append(row)
        return systems

    def _common_size(self, systems: Sequence[PlannedSystem]) -> CommonSize:
        """Return the common size of the caption sets of systems, which is noted."""
        if self.options.part is not None:
            raise HarnessError(
                "sizes: equal needs the captions of all examples; run this spec whole"
            )
        size = common_size([(system.label, *system.sizes()) for system in systems])
        if size.note:
            self.note(size.note)
        return size

    def _note_outputs(self, systems: Sequence[PlannedSystem]) -> None:
        """Note what stands around the captions of systems,
        and files that are all but surely a mistake.
        """
        adapters = {model.label: model.adapter for model in self.plan.models}
        metrics = [plan.metric for plan in self.plan.caption_metrics]
        for system in systems:
            for text in notes_of_system(system, adapters[system.label], metrics):
                self.note(text)

    def _captions(self, model: ModelPlan, decoding: Decoding) -> PlannedSystem:
        """Return the captions of a model under a decoding;
        raise :class:`HarnessError` when there are none.
        """
        started = time.perf_counter()
        spec = self.plan.spec
        start, stop = self.span
        task = TaskView(self.examples, decoding, partial=spec.limit is not None)

        # The same random numbers for both sources of a test would make their captions
        # dependent.
        is_source = model.label in (spec.same or ())
        seed = derive(spec.seed, model.label) if is_source else spec.seed

        # Nodes do not have the task, and a server needs none of them: its answers are
        # stored here one by one.
        is_server = isinstance(model.adapter, GeneratesUnordered)
        here = needs_whole_task(model.adapter) or is_server
        on_cluster = self.options.executor.name == "ray" and not here

        stage = self.stage(f"captions: {model.label}")
        with bar(stage, stop - start, show=self.show) as advance:
            captions = generate(
                model,
                task,
                seed=seed,
                artifacts=self.artifacts,
                advance=advance,
                span=self.span,
                ask=self._ask_cluster if on_cluster else None,
                prepared=len(self.plan.generations) == 1,
                latest=self.options.watch.latest if self.options.watch else None,
            )

        self._count_cost(model)
        failures = captions.failures
        self.failed.update(
            {f"{model.label}/{name}": reason for name, reason in failures.items()}
        )
        self.log(
            "captions",
            model=model.label,
            failed=failures,
            missing=list(captions.missing),
            seconds=time.perf_counter() - started,
        )
        if not captions.present.any() and stop > start:
            reasons = [f"; '{name}': {reason}" for name, reason in failures.items()]
            raise HarnessError(
                f"model '{model.label}' has candidates for none of "
                f"{counted(stop - start, 'example')}{''.join(reasons[:1])}"
            )
        return captions

    def _ask_cluster(
        self,
        model: ModelPlan,
        examples: Sequence[Example],
        decoding: Decoding,
        seeds: Sequence[int],
        store: StoreResult,
    ) -> None:
        """Store the captions of a model from the cluster,
        after waiting for the connection.
        """
        cluster = cast(Cluster, self.cluster())
        results = cluster.generate(model, examples, decoding, seeds)
        for position, item in enumerate(results):
            store(position, item)

    def _count_cost(self, model: ModelPlan) -> None:
        """Keep the work of an adapter and print its speed."""
        work = work_of(model.adapter)
        if work:
            self.costs[model.label] = work
            if self.show or not self.plan.spec.until:
                print_speed(model.label, work)

    def _exceeds_data(
        self,
        system: PlannedSystem,
        decoding: Decoding,
        grid: Sequence[int | None],
        references: int | None,
    ) -> bool:
        """Return True for a size beyond the data that a smaller size of the grid
        already covers; it is noted.
        """
        n, m = system.sizes()
        for noun, size, available, sizes_of_grid in (
            ("candidates", decoding.candidates, n, grid),
            ("references", references, m, self.plan.reference_counts),
        ):
            # a part of a run may have no examples
            if not len(available):
                continue
            largest = int(available.max())
            note = size_note(system.label, noun, size, largest, sizes_of_grid)
            if note is not None:
                self.note(note.text)
                if note.covered:
                    return True
        return False

    def judge_token_scores(self, model: ModelPlan) -> None:
        """Add the records of the metrics that judge token scores of a model."""
        plans = [
            plan.of_meta(example.meta for example in self.examples)
            for plan in self.plan.token_metrics
        ]
        if not plans:
            return
        if not isinstance(model.adapter, Scorer):
            raise HarnessError(
                f"metric '{plans[0].label}' needs a model that scores references "
                f"token by token; '{model.label}' ({model.name}) does not "
                "(adapters: token-scores reads a file, generated-answers texts)"
            )

        start, stop = self.span
        stage = self.stage(f"token scores: {model.label}")
        with bar(stage, stop - start, show=self.show) as advance:
            scores = token_scores(
                model, self.examples, self.span, self.artifacts, advance
            )
        self._count_cost(model)

        # numbers need the scores of all examples
        if self.options.part is not None:
            return
        for plan in plans:
            records = token_score_records(
                self.plan.spec, model, plan, scores, self.examples
            )
            for record in records:
                self.add(record)


def work_of(adapter: object) -> Values:
    """Return the counts of an adapter since it was created; empty without any."""
    values: Values = {}
    if isinstance(adapter, Timed):
        values.update(adapter.timings())
    if isinstance(adapter, CountsUsage):
        values.update(adapter.usage())
    return values if any(values.values()) else {}


def print_speed(label: str, work: Values) -> None:
    """Print the tokens per second of a model on standard error,
    with the devices and the size of the batches.
    """
    speed = work.get("tokens_per_second")
    if not speed:
        return
    text = f"{label}: {float(speed):,.0f} tokens/s"
    if work.get("batch_size"):
        text += f", batches of {work['batch_size']}"
    if work.get("devices"):
        text += f" on {', '.join(map(str, work['devices']))}"
    note(text)
