"""Check of a spec without running it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.api import plans
from harness.contracts import Values, VerbResult
from harness.errors import HarnessError, InputError, counted
from harness.files.yaml_source import Located
from harness.run.execute import read_examples
from harness.run.media_check import require_files
from harness.run.metric_plan import Plan
from harness.run.resources import check_plan, check_sets

if TYPE_CHECKING:
    from harness.run.tasks import TaskPlan
    from harness.spec.loading import SpecSource


@dataclass(frozen=True)
class Validation(VerbResult):
    """Runs of a valid spec."""

    ROWS = "runs"

    name: str
    """The spec, as it was given."""
    runs: Sequence[Values]
    """Per run: task, variant, reader, models, decodings, metrics, estimate of the
    cost.
    """
    valid: bool = True

    def to_dict(self) -> Values:
        """Return ``valid`` and the runs."""
        return {"valid": self.valid, "runs": self.runs}

    def blocks(self) -> Iterator[str]:
        """Yield the lines of each run."""
        for row in self.runs:
            variant = f" ({row['variant']})" if row["variant"] else ""
            task = f"task {row['task']}{variant}, reader {row['reader']}"
            yield f"{self.name}: valid; {task}"
            if "statistics" in row:
                yield f"  statistics: {', '.join(row['statistics'])}"
                yield f"  files: {row['missing'] or 'there'}"
            else:
                yield f"  models: {', '.join(row['models'])}"
                yield f"  decodings: {row['decodings']}"
            yield f"  metrics: {', '.join(row['metrics'])}"
            if "estimate" in row:
                yield f"  cost: {row['estimate']['text']}"


def validate(
    spec: SpecSource,
    *,
    overrides: Sequence[str] = (),
    allow_secrets: Sequence[str] = (),
    **replace: Any,
) -> Validation:
    """Check syntax, keys, values, names and parameters of a spec, its data and their
    images, and estimate its cost; nothing is generated or scored.

    Parameters
    ----------
    spec, overrides, allow_secrets, **replace
        As for :func:`harness.evaluate`.

    Raises
    ------
    HarnessError
        A mistake in the spec or its data.
    """
    name = str(spec) if isinstance(spec, (str, Path)) else "the spec"
    checked = plans(spec, overrides, allow_secrets=allow_secrets, **replace)
    return Validation(name, [_row(plan) for plan in checked])


def _row(plan: TaskPlan) -> Values:
    """Return the printed values of a plan."""
    row: Values = {
        "task": plan.spec.task,
        "variant": plan.spec.variant,
        **plan.describe(),
        "metrics": [metric.label for metric in plan.metrics],
    }
    if not plan.absence:
        row["estimate"] = _estimate(plan)
    return row


def _estimate(plan: TaskPlan) -> Values:
    """Return the estimate of time and memory of a run on its data set, read here; its
    text says so where data of elsewhere cannot be read.

    Raises :class:`InputError` for local data that cannot be read as the spec says, and
    for media that are not there.
    """
    examples = None
    try:
        if isinstance(plan, Plan):
            examples = read_examples(plan)
            count = len(examples)
            check = partial(check_plan, plan, examples)
        else:
            sets = plan.caption_sets()
            count = len(sets)
            check = partial(check_sets, plan.metrics, sets)
    except HarnessError as error:
        if isinstance(plan, Plan) and _is_mistake(plan, error):
            raise
        return {"text": f"unknown, because the data set cannot be read: {error}"}

    if isinstance(plan, Plan) and examples is not None:
        require_files(plan, examples)
    cost = check()
    return {
        "text": f"{counted(count, 'example')}, {cost}",
        "seconds": cost.seconds,
        "bytes": cost.bytes,
    }


def _is_mistake(plan: Plan, error: HarnessError) -> bool:
    """Return True for an error of data that are here, or of a parameter that selects
    some of them.
    """
    values = (value for _, value in Located(plan.spec.dataset.params).walk())
    is_local = any(isinstance(value, str) and Path(value).exists() for value in values)
    return isinstance(error, InputError) and (
        is_local or error.parameter in ("split", "columns")
    )
