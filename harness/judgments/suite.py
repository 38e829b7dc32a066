"""Suites of judgment sets: sets whose files are not there are reported and skipped; the others run into one folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from harness.errors import InputError
from harness.judgments.execute import execute
from harness.judgments.plan import JudgmentPlan
from harness.run.execution import Options
from harness.run.finished import Run
from harness.rundir.format import MANIFEST, read_json_object, to_json, write_atomically
from harness.rundir.rundir import Mode

SUITE = "suite.json"
"""File of a suite's folder: the run folders in their order, and the sets that are not there."""


def execute_all(
    plans: Sequence[JudgmentPlan],
    *,
    output: Path | None = None,
    default_output: Path | None = None,
    mode: Mode = "auto",
    show: bool = False,
    options: Options | None = None,
    on_notice: Callable[[str, str], None] | None = None,
    on_absent: Callable[[str], None] | None = None,
) -> list[Run]:
    """Execute one plan, or the plans of a suite whose files exist; other arguments as for :func:`harness.api.evaluate_all`.

    ``on_absent`` is called with the line of each set that is skipped. Raises :class:`InputError` when the files of a single task
    are missing, or those of every task of a suite.
    """
    if len(plans) == 1:
        (plan,) = plans
        plan.require_files()
        folder = output if output is not None or default_output is None else default_output / plan.spec.task
        _notice(plan, on_notice)
        return [execute(plan, output=folder, mode=mode, show=show, options=options)]
    present = [plan for plan in plans if not plan.missing]
    if not present:
        raise InputError(f"no set of the suite is there; the first one: {plans[0].absence}")
    root = output if output is not None or default_output is None else default_output / "judgments"
    if root is not None and (root / MANIFEST).exists():
        raise InputError("holds a run; give the suite another --output", str(root))
    runs: list[Run] = []
    for plan in plans:
        if plan.missing:
            if on_absent:
                on_absent(plan.absence)
            continue
        _notice(plan, on_notice)
        folder = None if root is None else root / Path(plan.spec.task).name
        runs.append(execute(plan, output=folder, mode=mode, show=show, options=options))
    if root is not None:
        content = {
            "runs": [Path(plan.spec.task).name for plan in present],
            "absent": {plan.spec.task: plan.absence for plan in plans if plan.missing},
        }
        write_atomically(root / SUITE, to_json(content))
    return runs


def _notice(plan: JudgmentPlan, on_notice: Callable[[str, str], None] | None) -> None:
    if plan.spec.notice and on_notice:
        on_notice(plan.spec.notice, plan.spec.variant)


def run_folders(path: str | Path) -> tuple[list[Path], list[str]]:
    """Return the run directories of a path, and the lines of the sets of its suite that are not there.

    A run directory stands for itself; a folder of runs for those in it: in the order of its suite, else by name.
    """
    folder = Path(path)
    if (folder / MANIFEST).is_file() or not folder.is_dir():
        return [folder], []
    if (folder / SUITE).is_file():
        content = read_json_object(folder / SUITE)
        absent = cast("dict[str, str]", content.get("absent") or {})
        return [folder / name for name in cast("list[str]", content.get("runs") or [])], list(absent.values())
    inner = sorted(file.parent for file in folder.glob(f"**/{MANIFEST}"))
    return inner or [folder], []


def refuse_judgments(verb: str, runs: Sequence[str | Path]) -> None:
    """Raise :class:`InputError` for a run of judgments (or ``RUN::MODEL``), whose records are of metrics, not of models."""
    for run in runs:
        file = Path(str(run).split("::")[0]) / MANIFEST
        if file.is_file() and read_json_object(file).get("kind"):
            raise InputError(
                f"is a run of judgments, which harness {verb} does not read; harness report shows its tests", str(run)
            )
