"""Tasks of all kinds, planned and executed: models on a data set, and the kinds that
packages add (:mod:`harness.spec.task_kinds`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness.contracts import Values
from harness.errors import HarnessError, InputError
from harness.registry.permissions import allow, typed_values
from harness.run.execute import execute
from harness.run.execution import Options, log_bugs
from harness.run.finished import Run
from harness.run.memory_plan import READER, plan_again
from harness.run.metric_plan import Plan
from harness.run.plan import make_plan
from harness.run.progress import note
from harness.run.stored_metrics import require_components
from harness.rundir.directory_check import Mode
from harness.rundir.file_names import MANIFEST
from harness.rundir.format import write_suite
from harness.spec.loading import AnyLoaded, LoadedSpec, load_written_spec
from harness.spec.metric_text import parse_metric, split_metrics
from harness.spec.task_kinds import KindPlan, load_kind

TaskPlan = Plan | KindPlan
"""Plan of a task of any kind."""


def plan_task(loaded: AnyLoaded) -> TaskPlan:
    """Return the plan of a spec; raise :class:`InputError` with ``file:line`` for what
    does not fit together.
    """
    if isinstance(loaded, LoadedSpec):
        return make_plan(loaded)
    return load_kind(loaded.kind).plan(loaded)


def execute_task(
    plan: TaskPlan,
    *,
    output: Path | None,
    mode: Mode,
    show: bool,
    options: Options | None,
) -> Run:
    """Execute a plan and return the finished run; arguments as for
    :func:`harness.run.execute.execute`.
    """
    with log_bugs(output):
        if isinstance(plan, Plan):
            return execute(plan, output=output, mode=mode, show=show, options=options)
        return load_kind(plan.kind).execute(
            plan, output=output, mode=mode, show=show, options=options
        )


def execute_tasks(
    plans: Sequence[TaskPlan],
    *,
    output: Path | None = None,
    default_output: Path | None = None,
    mode: Mode = "auto",
    show: bool = False,
    options: Options | None = None,
    on_notice: Callable[[str, str], None] | None = None,
    on_absent: Callable[[str, bool], None] | None = None,
) -> list[Run]:
    """Execute one plan, or the plans of a suite, and return their runs; arguments as
    for :func:`harness.api.evaluate_all`.

    Judgment sets of a suite whose files are not there or cannot be read are reported
    and skipped.

    Raises :class:`InputError` where nothing is left.
    """
    several = len(plans) > 1
    judged = [plan for plan in plans if plan.kind]
    if judged and len(judged) < len(plans):
        models = next(plan for plan in plans if not plan.kind)
        raise HarnessError(
            "a suite holds tasks of judgments alone, or none", value=models.spec.task
        )

    # All sets are read before the first one is scored: a mistake in the last one would
    # end a run of hours.
    left_out: dict[str, str] = {}
    for plan in plans:
        line = plan.obstacle if several else plan.absence
        if line:
            left_out[plan.spec.task] = line
    if len(left_out) == len(plans):
        line = next(iter(left_out.values()))
        if several:
            line = f"no set of the suite can be read; the first one: {line}"
        raise InputError(line)

    folders = [_folder(plan, several, output, default_output) for plan in plans]
    suite = folders[0].parent if judged and several and folders[0] is not None else None
    if suite is not None and (suite / MANIFEST).exists():
        raise InputError("holds a run; give the suite another output", str(suite))
    for plan in plans:
        if on_absent and plan.spec.task in left_out:
            on_absent(left_out[plan.spec.task], bool(plan.absence))

    runs: list[Run] = []
    for plan, folder in zip(plans, folders):
        if plan.spec.task in left_out:
            continue
        if plan.spec.notice and on_notice:
            on_notice(plan.spec.notice, plan.spec.variant)
        runs.append(
            execute_task(plan, output=folder, mode=mode, show=show, options=options)
        )
    if suite is not None:
        tasks = [plan.spec.task for plan in plans if plan.spec.task not in left_out]
        write_suite(suite, [Path(task).name for task in tasks], left_out)
    return runs


def _folder(
    plan: TaskPlan, several: bool, output: Path | None, default_output: Path | None
) -> Path | None:
    """Return the run directory of a plan: the output, or a folder below it or the
    default one; None: nothing is written.
    """
    name = Path(plan.spec.task).name
    if output is not None:
        if not several:
            return output
        return output / (name if plan.kind else plan.spec.task)
    if default_output is None or not plan.kind:
        return default_output and default_output / name
    # The sets of a suite stand together in a folder of their kind.
    if several:
        return default_output / plan.kind / name
    return default_output / plan.spec.task


def rescore(
    run: str | Path,
    metrics: Sequence[str],
    *,
    show: bool = False,
    options: Options | None = None,
    allow_secrets: Sequence[str] = (),
) -> Run:
    """Add metrics to a finished run and return it; captions and statistics that the run
    has are read.

    A run that has all the metrics is returned as it is.

    Parameters
    ----------
    run : str or Path
        Run directory. Its data set and models must be those of the run.
    metrics : sequence of str
        ``NAME`` or ``NAME:PARAMETER=VALUE,...``, or comma-separated lists of these.
    show : bool
        Draw progress bars on stderr.
    options : Options, optional
        Executor and shards (:class:`harness.run.execute.Options`).
    allow_secrets : sequence of str
        See :func:`harness.evaluate`.

    Raises
    ------
    InputError
        There is no finished run, or one of its metrics is not installed here.
    """
    finished = Run.open(run)
    spec = dict(finished.provenance.spec)
    present: list[object] = list(spec.get("metrics", []))
    names = [name for text in metrics for name in split_metrics(text)]
    metric_specs = [_as_spec(parse_metric(name)) for name in names]
    added = [item for item in metric_specs if item not in present]
    if not added:
        note(f"{run} has all of these metrics: {', '.join(names)}")
        return finished
    require_components(finished)
    with allow(allow_secrets), typed_values(added):
        if finished.provenance.data.get("reader") == READER:
            plan: TaskPlan = plan_again(finished, [*present, *added])
        else:
            content = {**spec, "metrics": [*present, *added]}
            plan = plan_task(load_written_spec(content))
    return execute_task(
        plan, output=finished.path, mode="extend", show=show, options=options
    )


def _as_spec(metric: Values) -> object:
    """Return ``{name: {}}`` as ``name``."""
    ((name, params),) = metric.items()
    return metric if params else name
