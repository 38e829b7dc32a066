"""Number of judged items that separates two metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.errors import HarnessError, InputError, did_you_mean
from harness.run.finished import Run


@dataclass(frozen=True)
class ItemsNeeded:
    """Number of judged items with which a test of two metrics has a given power."""

    difference: float
    """Agreement of metric a minus that of metric b."""
    standard_error: float
    """Standard error of the difference over resamples of the items."""
    items: int
    """Number of items of the run."""
    needed: int | None
    """Number of items; None for equal agreement."""


def items_needed(run: Run, a: str, b: str, *, level: float = 0.05, power: float = 0.8) -> ItemsNeeded:
    """Return the number of items with which two metrics of a run of judgments are separated.

    The difference is taken as normal, with a standard error that falls with the root of the number of items; the test is that of one
    pair of metrics, without Holm's correction.

    Parameters
    ----------
    run : Run
        Run of judgments.
    a, b : str
        Labels of two of its metrics.
    level : float
        Level of the two-sided test.
    power : float
        Probability of a significant difference.

    Raises
    ------
    HarnessError
        No metric has the label, or the run has no judgments or no standard error of the difference.
    """
    from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

    if not run.provenance.kind:
        raise HarnessError("is a run of models; two metrics are separated by a run of judgments", str(run.path))
    records = {record.metric: record for record in run.records if (record.details or {}).get("headline")}
    for name in (a, b):
        if name not in records:
            raise HarnessError(f"there is no metric '{name}'{did_you_mean(name, records)}; there are {', '.join(records)}")
    first, second = records[a], records[b]
    error = (first.details or {}).get("against", {}).get(b, {}).get("standard_error")
    if error is None:
        raise InputError(f"has no standard error of {a} against {b}: run it again with tests and a bootstrap", str(run.path))
    difference, items = first.value - second.value, int(run.provenance.data["examples"])
    share = error / abs(difference) * float(ndtri(1 - level / 2) + ndtri(power)) if difference else math.inf
    return ItemsNeeded(difference, error, items, None if math.isinf(share) else max(2, math.ceil(items * share**2)))
