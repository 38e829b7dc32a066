"""The Python API: runs of specs, scores of files and of texts, and metrics by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.contracts import Parameters, Reading
from harness.errors import HarnessError
from harness.files.generated.cleaning import check_clean
from harness.registry import current
from harness.registry.component_ends import ending_components
from harness.registry.permissions import typed_by_user
from harness.run.event_metrics import NEED, options_by_need
from harness.run.file_options import FileOptions
from harness.run.metric_plan import (
    AnyMetricPlan,
    MetricPlan,
    default_metrics,
    metric_plans,
)
from harness.run.output_notes import log_notes, notes_of_sets
from harness.run.progress import in_notebook
from harness.run.readings import readings_of_manifest
from harness.run.text_scores import (
    SAMPLES,
    BoundMetric,
    MetricResult,
    Scores,
    score_captions,
)
from harness.run.text_sets import caption_sets, sets_of
from harness.spec.models import SignificanceSpec

if TYPE_CHECKING:  # scoring two lists needs neither specs nor runs: a third of a second
    from harness.run.execution import Options
    from harness.run.finished import Run
    from harness.run.tasks import TaskPlan
    from harness.rundir.directory_check import Mode
    from harness.spec.loading import SpecSource

__all__ = [
    "BoundMetric",
    "MetricResult",
    "caption_sets",
    "evaluate",
    "evaluate_all",
    "metric",
    "plans",
    "score",
    "score_files",
]


def evaluate(
    spec: SpecSource,
    *,
    output: str | Path | None = None,
    mode: Mode = "auto",
    overrides: Sequence[str] = (),
    show: bool | None = None,
    **replace: Any,
) -> Run:
    """Run a spec and return the finished run.

    Parameters
    ----------
    spec : str, Path, mapping or Spec
        A file, the name of a shipped task, or the content of a spec. A suite (a spec
        that includes several tasks) runs one task after the other, each into a folder
        of its own.
    output : str or Path, optional
        Run directory; without it nothing is written.
    mode : {"auto", "resume", "fresh"}
        Continue or replace the run in the directory.
    overrides : sequence of str
        ``"a.b=value"`` texts, as for ``--set``.
    show : bool, optional
        Draw progress bars: on stderr in a terminal, below the cell in a notebook.
        Default: in notebooks only.
    **replace
        Top-level keys of the spec: ``limit=100``, ``seed=1``, ``metrics=[...]``; and
        ``allow_secrets=["NAME"]``, names of environment variables that the spec may
        read and send to the servers that it names.

    Raises
    ------
    HarnessError
        A mistake in the spec or its data.
    """
    from harness.run.finished import merge_runs

    runs = evaluate_all(
        spec,
        output=None if output is None else Path(output),
        mode=mode,
        overrides=overrides,
        show=show,
        **replace,
    )
    return merge_runs(runs)


def plans(
    spec: SpecSource,
    overrides: Sequence[str] = (),
    *,
    allow_secrets: Sequence[str] = (),
    **replace: Any,
) -> list[TaskPlan]:
    """Return the plans of a spec (one, or several for a suite), checked;
    arguments as for :func:`evaluate`.
    """
    from harness.registry.permissions import allow
    from harness.run.tasks import plan_task
    from harness.spec.loading import load_specs

    with allow(allow_secrets):
        return [plan_task(item) for item in load_specs(spec, overrides, **replace)]


def evaluate_all(
    spec: SpecSource,
    *,
    output: Path | None = None,
    default_output: Path | None = None,
    mode: Mode = "auto",
    overrides: Sequence[str] = (),
    show: bool | None = None,
    on_notice: Callable[[str, str], None] | None = None,
    on_absent: Callable[[str, bool], None] | None = None,
    options: Options | None = None,
    **replace: Any,
) -> list[Run]:
    """Run a spec and return one run per task of a suite;
    other arguments as for :func:`evaluate`.

    Parameters
    ----------
    spec
        As for :func:`evaluate`.
    output : Path, optional
        Run directory; for a suite the folder of its run directories.
    default_output : Path, optional
        Folder for run directories named after their tasks when ``output`` is not given.
    on_notice : callable, optional
        Called with the notice and the variant of a spec before it is run.
    on_absent : callable, optional
        Called with one line for each judgment set of a suite that is skipped, and True
        where its files are not there, False where they cannot be read.
    options : Options, optional
        Executor and shards (:class:`harness.run.execute.Options`); they change no
        digit.
    """
    from harness.run.tasks import execute_tasks

    return execute_tasks(
        plans(spec, overrides, **replace),
        output=output,
        default_output=default_output,
        mode=mode,
        show=in_notebook() if show is None else show,
        options=options,
        on_notice=on_notice,
        on_absent=on_absent,
    )


def score_files(
    candidates: str | Sequence[str],
    references: str | Sequence[str] | None,
    metrics: Sequence[str | Parameters] | None = None,
    *,
    images: str | None = None,
    labels: Sequence[str] = (),
    p_value: str = "none",
    seed: int = 0,
    bootstrap: int | None = None,
    limit: int | None = None,
    allow_missing: bool = False,
    allow_unknown: bool = False,
    allow_empty: bool = False,
    options: FileOptions = FileOptions(),  # noqa: B008  (frozen)
    slices: Sequence[str] = (),
    output: Path | None = None,
    mode: Mode = "auto",
    show: bool | None = None,
) -> Run:
    """Score one or several files of candidates against a file of references and return
    the run.

    Parameters
    ----------
    candidates : str or sequence of str
        Paths (docs/data-formats.md lists the formats); each file is a model of the run.
    references : str or sequence of str
        Path, or paths of files that each have some references of all examples; None for
        metrics that read ``images`` alone.
    metrics : sequence of str or mapping, optional
        ``NAME`` or ``NAME:PARAMETER=VALUE,...``, comma-separated lists of these, or
        ``{NAME: PARAMETERS}``; default: the metrics of
        :func:`harness.run.metric_plan.default_metrics`.
    images : str, optional
        Folder of the images of the examples, found by the ids.
    labels : sequence of str
        Names of the models, one per file; default: the file names.
    p_value : {"none", "exact", "monte-carlo"}
        Permutation p-values per example.
    bootstrap : int, optional
        Number of bootstrap samples of each interval.
    seed, limit, output, mode, show
        As for :func:`evaluate`.
    allow_missing : bool
        Count examples without predictions instead of refusing them.
    allow_unknown : bool
        Leave out predictions for unknown examples instead of refusing them.
    allow_empty : bool
        Accept empty candidates and references instead of refusing them.
    options : FileOptions
        Columns of the files, and systems of records that hold several; each system is a
        model of the run.
    slices : sequence of str
        Columns of the references' records whose values are slices, with results of
        their own (``slices`` of the run).
    """
    from harness.run.file_spec import score_spec

    files = [candidates] if isinstance(candidates, str) else list(candidates)
    names = default_metrics()[0] if metrics is None else metrics
    faults = {"missing": allow_missing, "unknown": allow_unknown, "empty": allow_empty}
    allow = [name for name, accepted in faults.items() if accepted]

    spec = score_spec(
        files,
        references,
        names,
        images=images,
        labels=labels,
        p_value=p_value,
        seed=seed,
        bootstrap=bootstrap,
        limit=limit,
        allow=allow,
        options=options,
        slices=slices,
    )
    with typed_by_user():
        (run,) = evaluate_all(spec, output=output, mode=mode, show=show)
    return run


def metric(
    name: str,
    *,
    p_value: str | None = None,
    budget: int | None = None,
    draws: int | None = None,
    **params: Any,
) -> BoundMetric:
    """Return a metric by name with its parameters:
    ``harness.metric("trm", distance="cider", p_value="exact")``.

    Parameters
    ----------
    name : str
        Registered name.
    p_value : {None, "exact", "monte-carlo"}
        Permutation p-values. ``exact`` falls back to Monte Carlo beyond ``budget``
        relabelings and reports it.
    budget, draws : int, optional
        Maximum number of relabelings of the exact test, and draws of the Monte Carlo
        test.
    **params
        Constructor parameters of the metric.
    """
    with typed_by_user():
        (plan,) = metric_plans([current().create("metrics", name, params)])
    significance = _significance(p_value, budget=budget, draws=draws)
    return BoundMetric(_caption_plan(plan), significance)


def _caption_plan(plan: AnyMetricPlan) -> MetricPlan:
    if not isinstance(plan, MetricPlan):
        raise HarnessError(
            f"metric '{plan.label}' judges token scores, not captions: "
            "run it on a model that can score"
        )
    return plan


def _significance(
    method: str | None, **settings: int | None
) -> SignificanceSpec | None:
    if method in (None, "none"):
        return None
    if method not in ("exact", "monte-carlo"):
        raise HarnessError(
            f"p_value is {method!r}; expected None, 'exact' or 'monte-carlo'",
            parameter="p_value",
        )

    values = {name: value for name, value in settings.items() if value is not None}
    return SignificanceSpec.model_validate({"method": method, **values})


def score(
    candidates: object,
    references: object,
    metrics: str | Parameters | Sequence[Any] | None = None,
    *,
    p_value: str | None = None,
    seed: int = 0,
    bootstrap: int = SAMPLES,
    allow_missing: bool = False,
    allow_unknown: bool = False,
    allow_empty: bool = False,
    id: str | None = "",
    column: str = "",
    system: str | Sequence[str] = (),
    reference_id: str | None = "",
    reference_column: str | Sequence[str] = (),
    split: str = "",
    events: str = "",
    time_unit: str = "",
    fps: float | None = None,
    clean: str | Sequence[str] = (),
) -> Scores:
    """Score two files, two lists of texts or two mappings,
    with several metrics; features are shared.

    Parameters
    ----------
    candidates, references
        Both paths (any format of docs/data-formats.md; of references also a list of
        paths), both mappings id -> text or texts, or both lists of one text or of one
        list of texts per example. A text may be an object with the key ``caption``, as
        in the dictionaries of pycocoevalcap.
    metrics : str, mapping or sequence, optional
        One or several names, ``name:param=value`` texts, ``{name: params}`` mappings or
        instances; a text may be a comma-separated list. Default: the metrics of
        :func:`harness.run.metric_plan.default_metrics`.
    p_value : {None, "exact", "monte-carlo"}
        Permutation p-values.
    seed : int
        Seed of Monte Carlo p-values and of the intervals.
    bootstrap : int
        Number of bootstrap samples of each 95 % interval; 0: no intervals.
    allow_missing : bool
        Leave out examples without candidates.
    allow_unknown : bool
        Leave out candidates of examples without references.
    allow_empty : bool
        Accept empty captions and references.
    id, column, reference_id, reference_column : str, optional
        Columns, or paths such as ``response.text``, of the ids and captions in files of
        candidates and references; default: a usual name. An id None matches records and
        examples by position.
    system : str or sequence of str, optional
        Systems to score, from a file whose candidates are an object of systems; the
        captions of several form one set.
    split : str, optional
        Split of a file of references whose records have one.
    events : {"paragraph", "separate"}, optional
        Texts with times in files: those of a record are joined to one text, or each is
        an item ``ID#1``; by default an error.
    time_unit : {"seconds", "hundredths", "frames"}, optional
        Unit of times without one in answers, for metrics of sets of events.
    fps : float, optional
        Frames of a second, for times that are frames.
    clean : str or sequence of str
        What to remove of candidates, such as ``"think,marks,prefix"``
        (docs/outputs.md). Remarks on what stands around captions go to the logger
        ``harness.run.output_notes``.

    Returns
    -------
    Scores
        A dict: label of the metric -> :class:`MetricResult`. A notebook shows it as a
        table; ``chart()`` draws the scores per example.

    Raises
    ------
    HarnessError
        A mistake in the input.
    """
    if metrics is None:
        metrics = default_metrics()[0]
    names = [metrics] if isinstance(metrics, (str, Mapping)) else list(metrics)
    significance = _significance(p_value)

    options = file_options(
        id=id,
        columns=(column,) if column else (),
        system=system,
        reference_id=reference_id,
        reference_column=reference_column,
        split=split,
        events=events,
        time_unit=time_unit,
        fps=fps,
        clean=clean,
    )
    with typed_by_user():
        plans_of_metrics = [_caption_plan(plan) for plan in metric_plans(names)]
    of_events = {
        plan.label: NEED in plan.metric.spec.needs for plan in plans_of_metrics
    }
    options = options_by_need(of_events, options)

    readings: list[Reading] = []
    sets = sets_of(
        candidates,
        references,
        allow_missing=allow_missing,
        allow_unknown=allow_unknown,
        allow_empty=allow_empty,
        options=options,
        readings=readings,
    )

    log_notes(notes_of_sets(sets, [plan.metric for plan in plans_of_metrics]))
    # An instance is the caller's, whose program serves the next call too.
    is_named = all(isinstance(name, (str, Mapping)) for name in names)
    with ending_components() if is_named else nullcontext():
        scores = score_captions(plans_of_metrics, sets, significance, seed, bootstrap)
    scores.readings = readings_of_manifest(readings)
    return scores


def file_options(
    *,
    id: str | None = "",
    columns: Sequence[str] = (),
    system: str | Sequence[str] = (),
    reference_id: str | None = "",
    reference_column: str | Sequence[str] = (),
    split: str = "",
    events: str = "",
    time_unit: str = "",
    fps: float | None = None,
    clean: str | Sequence[str] = (),
) -> FileOptions:
    """Return options as :func:`score` takes them."""
    # one name is a sequence of one; an empty one is none, so that a usual name is taken
    if isinstance(reference_column, str):
        reference_column = (reference_column,)
    return FileOptions(
        id,
        tuple(columns),
        (system,) if isinstance(system, str) else tuple(system),
        reference_id,
        tuple(name for name in reference_column if name),
        split,
        events,
        time_unit,
        fps,
        check_clean(clean),
    )
