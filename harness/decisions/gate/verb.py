"""The function of the verb ``gate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.analysis.score_declarations import Bounds
from harness.decisions.gate.gate import gate_margins
from harness.decisions.gate.margin import Margin
from harness.decisions.gate.result import GateResult, Undecided
from harness.errors import HarnessError, counted
from harness.results import Run


def gate(
    new: str | Path | Run,
    baseline: str | Path | Run,
    metrics: str | Sequence[str],
    max_drop: str | float | Sequence[str | float],
    *,
    slice: str | None = None,
    undecided: Undecided = "stop",
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    bounds: Bounds | Mapping[str, Bounds] | None = None,
    allow_missing: bool = False,
    seed: int = 0,
) -> GateResult:
    """Return whether a new version of a system passes against a baseline.

    >>> import harness
    >>> new, old = (
    ...     harness.evaluate("coco", models=["human"], metrics=["rouge"], limit=9)
    ...     for _ in range(2)
    ... )
    >>> harness.gate(new, old, "rouge", max_drop=0.1).verdict
    'undecided'

    Parameters
    ----------
    new, baseline : str, Path or Run
        Run directories, ``RUN::MODEL``, or runs.
    metrics : str or sequence of str
        Metrics that must not get worse.
    max_drop : str, float or sequence
        Largest worsening, ``0.01`` or ``"1%"`` of the baseline: one for all metrics, or
        one for each.
    slice : str, optional
        Column of the metadata: each of its values has to pass too.
    undecided : {"stop", "fail", "pass"}
        What an undecided verdict counts as, for its line and the exit code of the verb.
    lower_is_better, higher_is_better, bounds, allow_missing, seed
        As for :func:`harness.decisions.gate.gate.gate_margins`.

    Raises
    ------
    HarnessError
        The runs differ in data, references, or a metric's version; a metric has no
        direction; sets have different sizes; the new version lacks examples; a margin
        cannot be meant.
    """
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    is_one = isinstance(max_drop, (str, float, int))
    margins = [str(margin) for margin in ([max_drop] if is_one else max_drop)]
    if not names or len(margins) not in (1, len(names)):
        raise HarnessError(
            f"{counted(len(names), 'metric')} and {counted(len(margins), 'margin')}: "
            "expected a margin (max_drop) for each metric, or one margin"
        )
    if len(margins) == 1:
        margins *= len(names)
    result = gate_margins(
        new,
        baseline,
        dict(zip(names, map(Margin.parse, margins))),
        slices=slice,
        lower_is_better=lower_is_better,
        higher_is_better=higher_is_better,
        bounds=bounds,
        allow_missing=allow_missing,
        seed=seed,
    )
    return replace(result, undecided=undecided)
