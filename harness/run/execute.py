"""Execution of a plan: examples, captions, statistics, results.

The unit of work is a shard of examples under one model and decoding. Its captions and
the statistics of each metric are artifacts: on disk before the run ends, under keys of
everything that they depend on. A killed run reads them again and ends with the same
results, and neither the number of shards nor the executor changes a digit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import cast

from harness.contracts import Example, TaskView, Values
from harness.errors import HarnessError, InputError
from harness.files.component_lines import keep_lines
from harness.files.media import check_media, media_label
from harness.registry import current
from harness.registry.component_ends import ending_components
from harness.registry.hooks import Plugins
from harness.run import warmup
from harness.run.example_store import ExampleStore
from harness.run.execution import Options, connect_cluster
from harness.run.finished import Run
from harness.run.generate import prepare
from harness.run.metric_plan import Plan
from harness.run.model_execution import ModelExecution
from harness.run.progress import Stages, bar
from harness.run.provenance import build_manifest, digest
from harness.run.readings import (
    check_alike,
    collect_readings,
    note_readings,
    readings_of_manifest,
)
from harness.run.resources import check_plan
from harness.run.results import collect_results
from harness.run.stopping import BATCH, order_examples
from harness.run.stopping_conditions import read_conditions
from harness.rundir.directory_check import Mode
from harness.rundir.format import JsonObject
from harness.rundir.provenance import Provenance
from harness.rundir.rundir import RunDir
from harness.rundir.stored_paths import PATHS, resolve_paths

_log = logging.getLogger(__name__)


def read_examples(plan: Plan, *, show: bool = False) -> ExampleStore:
    """Return the examples of the plan, cut to its limit.

    References that a user gives as files, of any program, may name media by paths of
    another place: those are left out, with a note, since few of their metrics read
    any. Raises :class:`InputError` when there are no examples or two share an id.
    """
    outside: list[Example] = []
    of_files = current().with_role("readers", "reference-files")
    is_of_files = plan.spec.dataset.reader == of_files.name
    limit = plan.spec.limit
    location = f"reader '{plan.spec.dataset.reader}'"
    with bar("reading examples", limit or 0, show=show) as advance:
        reader = islice(iter(plan.reader), limit) if limit is not None else plan.reader
        examples = ExampleStore(
            check_media(
                reader, plan.media_places, outside.append if is_of_files else None
            ),
            location,
            advance,
            content=plan.reader.fingerprint,
        )
    if outside:
        _log.warning(
            "note: %s of %s examples name media outside of the folders of the files, "
            "such as %s; they are not opened",
            f"{len(outside):,}",
            f"{len(examples):,}",
            media_label(str(outside[0].media)),
        )
    if not len(examples):
        cut = f" after limit {limit}" if limit is not None else ""
        raise InputError(f"the data set has no examples{cut}", location)
    return examples


def execute(
    plan: Plan,
    *,
    output: Path | None = None,
    mode: Mode = "auto",
    show: bool = False,
    options: Options | None = None,
    prepare_directory: Callable[[RunDir], None] | None = None,
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
        Executor and shards. With a part, the run directory holds the artifacts of the
        part, and the run has no results.
    prepare_directory : callable, optional
        Called with the run directory of a run that is not finished, before anything is
        computed.
    """
    options = options or Options()
    identity = _identity(plan, output)

    # A finished run of this plan is opened without reading its data set.
    finished = _open_finished_run(identity, output, mode)
    if finished is not None:
        return finished

    plugins = Plugins().load(current())
    with connect_cluster(options.executor) as cluster:
        # Read the task. What cannot work is reported before anything is written.
        examples = read_examples(plan, show=show)
        if plan.spec.until:
            options = _check_growing(plan, options, output, mode)
            examples = order_examples(examples, plan.spec.seed, plan.spec.cluster)
        check_plan(plan, examples)
        _prepare_models(plan, examples)
        manifest = _collect_manifest(plan, examples, plugins, identity, options)

        directory = RunDir.create(output, manifest, mode) if output else nullcontext()
        with directory as rundir:
            # another process may have ended the run while the data were read
            if rundir and rundir.finished:
                return Run.of(rundir)
            if rundir and prepare_directory:
                prepare_directory(rundir)

            provenance = Provenance(manifest)
            run = ModelExecution(
                provenance,
                rundir,
                plugins,
                options,
                show,
                cluster,
                Stages(_stages(plan)),
                plan=plan,
                examples=examples,
            )
            run.log("started", digest=provenance.digest)
            if options.watch:
                options.watch.begin(plan.spec.task, len(examples))
            with (
                plugins.running(manifest),
                keep_lines(run.keep_line),
                ending_components(),
            ):
                return _compute_results(run)


def _collect_manifest(
    plan: Plan,
    examples: ExampleStore,
    plugins: Plugins,
    identity: str,
    options: Options,
) -> JsonObject:
    """Return the manifest of a run, with the readings of its reader and adapters, or of
    a part of it; raise :class:`HarnessError` for readings that differ.
    """
    readings = collect_readings(
        [plan.reader, *(model.adapter for model in plan.models)]
    )
    check_alike(readings)
    note_readings(readings)
    manifest: JsonObject = {
        **build_manifest(plan, examples, plugins.failures, identity),
        "readings": readings_of_manifest(readings),
    }
    if options.part is not None:
        manifest["part"] = str(options.part)
    return manifest


def _compute_results(run: ModelExecution) -> Run:
    """Compute what a run that has begun lacks, and return the finished run."""
    # Models: token scores for the metrics that judge them, captions for the others.
    warmup.warm(item.metric for item in run.plan.metrics)
    for model in run.plan.models:
        run.judge_token_scores(model)

    # Metrics: the statistics that the run does not have yet, shard by shard.
    scoring = run.score()
    if run.options.part is not None:
        return run.end_part()

    # Numbers: one reduction of all statistics for each record, and the samples beside
    # them.
    return run.finish(collect_results(run, run.plan, scoring))


def _prepare_models(plan: Plan, examples: ExampleStore) -> None:
    """Let every model check the task of each generation; raises its errors."""
    if not plan.caption_metrics:
        return
    for model in plan.models:
        for decoding in plan.generations:
            is_cut = plan.spec.limit is not None
            prepare(model, TaskView(examples, decoding, partial=is_cut))


def _identity(plan: Plan, output: Path | None) -> str:
    """Return the digest of a plan: that of paths as texts for a directory of this run
    that was begun so.
    """
    held = RunDir(output).held_manifest() if output is not None else None
    if held is not None and PATHS not in held:
        earlier = digest(plan, as_given=True)
        if held.get("digest") == earlier:
            return earlier
    return digest(plan)


def _check_growing(
    plan: Plan, options: Options, output: Path | None, mode: Mode
) -> Options:
    """Return the options of a run that stops when it has decided; raise
    :class:`HarnessError` for what cannot grow.
    """
    obstacle = ""
    if options.part is not None:
        obstacle = f"a part of a run (shard='{options.part}')"
    elif plan.spec.sizes == "equal":
        obstacle = "sizes: equal"
    elif plan.token_metrics:
        obstacle = "metrics of token scores"
    if obstacle:
        raise HarnessError(
            "conditions (until='CONDITION') grow a run example by example and "
            f"cannot be combined with {obstacle}"
        )

    # A mistake in a condition is told before anything is asked of a model.
    assert plan.spec.until is not None
    n_sizes = len(plan.decodings) * len(plan.reference_counts)
    labels = [model.label for model in plan.models for _ in range(n_sizes)]
    read_conditions(plan.spec.until, plan.caption_metrics, labels)

    held = None
    if output is not None and mode == "extend":
        held = RunDir(output).held_manifest()
    if held is not None:
        data = cast("Values", held.get("data") or {})
        held_order = data.get("fingerprint"), held.get("seed")
        if held_order != (plan.reader.fingerprint(), plan.spec.seed):
            raise InputError(
                "holds a run on other data or with another seed: "
                "mode='extend' takes the next examples of one order",
                str(output),
            )
    return replace(options, shard_size=options.shard_size or BATCH)


def _stages(plan: Plan) -> list[str]:
    """Return the names of the stages of a run."""
    labels = [model.label for model in plan.models]
    names: list[str] = []
    if plan.token_metrics:
        names += [f"token scores: {label}" for label in labels]
    if plan.caption_metrics:
        names += [f"captions: {label}" for label in labels for _ in plan.generations]
        names += ["scores", "results"]
    return names


def _open_finished_run(identity: str, output: Path | None, mode: Mode) -> Run | None:
    """Return the finished run of the plan in a directory, without reading the data set;
    None where there is none.
    """
    if output is None or mode == "fresh" or not RunDir(output).finished:
        return None
    manifest = RunDir(output).held_manifest()
    if manifest is None or manifest.get("digest") != identity:
        return None
    with RunDir.create(output, resolve_paths(manifest, output), mode) as rundir:
        return Run.of(rundir) if rundir.finished else None
