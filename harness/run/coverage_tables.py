"""Measured coverages of intervals: tables beside the code of metrics, which decide
whether a run prints an interval.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from harness.contracts import Interval, Metric
from harness.errors import HarnessError

FILE = "calibration.json"
"""File of measured coverages in the top folder of a package of metrics
(:mod:`harness.testing.calibration` writes it).
"""
LOWEST = 0.90
"""Coverage below which an interval is not printed."""
NOT_MEASURED = "how often such an interval holds the true value is not measured"
"""Note of an interval whose metric has no table."""


def checked_interval(metric: Metric, interval: Interval, n_examples: int) -> Interval:
    """Return the interval of a number of examples,
    or none where its measured coverage is below :data:`LOWEST`.

    The coverage is the lowest of the distributions of scores on which it was measured,
    at the largest measured number of examples that is not above ``n_examples``, else at
    the smallest. An interval of a metric without a table stays, with
    :data:`NOT_MEASURED` in its note.
    """
    if interval.ends is None:
        return interval

    package = type(metric).__module__.partition(".")[0]
    tables = _coverages(package)
    name = next((name for name in table_names(metric) if name in tables), None)
    if name is None:
        notes = [text for text in (interval.note, NOT_MEASURED) if text]
        return replace(interval, note="; ".join(notes))

    coverages = tables[name]
    measured = [size for size in coverages if size <= n_examples]
    size = max(measured, default=min(coverages))
    if coverages[size] >= LOWEST:
        return interval
    return Interval(
        None,
        f"measured coverage {coverages[size]:.3f} with {size} examples, "
        f"below {LOWEST:.2f}",
    )


def table_name(metric: Metric) -> str:
    """Return the name of a metric in tables, without the embedding or distance:
    ``mmd`` of ``mmd(minilm)``.
    """
    return metric.spec.name.partition("(")[0]


def table_names(metric: Metric) -> tuple[str, ...]:
    """Return the names that the table of a metric may have, the one that says most
    first: ``dense(densecap,meteor)``, ``dense(densecap)``, ``dense``.
    """
    whole = metric.spec.name
    first, comma, _ = whole.partition(",")
    names = (whole, f"{first})" if comma else whole, table_name(metric))
    return tuple(dict.fromkeys(names))


def table_file(module: str) -> Path | None:
    """Return where the table of the metrics of a module is, or would be;
    None for a module without a file.
    """
    package = sys.modules.get(module.partition(".")[0])
    file = getattr(package, "__file__", None)
    return Path(file).parent / FILE if file and hasattr(package, "__path__") else None


@cache
def _coverages(package: str) -> Mapping[str, Mapping[int, float]]:
    """Return metric -> number of examples -> lowest measured coverage; raise
    :class:`HarnessError` for a file of another form.
    """
    file = table_file(package)
    if file is None or not file.is_file():
        return {}
    tables: dict[str, dict[int, float]] = {}
    try:
        metrics = cast("dict[str, Any]", json.loads(file.read_text("utf-8"))["metrics"])
        for name, table in metrics.items():
            cells = table["sizes"].items()
            tables[name] = {int(size): _lowest(cell) for size, cell in cells}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HarnessError(
            f"{file}: expected the tables that 'harness check METRIC --calibrate "
            f"--json' prints; found {error!r:.80}"
        ) from error
    return {name: table for name, table in tables.items() if table}


def _lowest(cell: Mapping[str, Sequence[float | None]]) -> float:
    """Return the lowest coverage; 1 where no interval was printed in the simulation."""
    return min((share for share in cell["interval"] if share is not None), default=1.0)
