"""Views of a spec as series of numbers: what a plot shows, before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import HarnessError, did_you_mean


@dataclass(frozen=True)
class Series:
    """One line, group of bars or set of points; ``low`` and ``high`` are interval ends where known."""

    label: str
    x: tuple[Any, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


def lookup(record: Mapping[str, Any], path: str) -> Any:
    """``decoding.temperature``, ``params.distance``, ``model``, ``metric`` of a record; None where absent.

    >>> lookup({"decoding": {"temperature": 0.5}}, "decoding.temperature")
    0.5
    """
    here: Any = record
    for part in path.split("."):
        if not isinstance(here, Mapping) or part not in here:
            return None
        here = here[part]
    return here


def quantity(record: Mapping[str, Any], what: str) -> tuple[float, tuple[float, float] | None]:
    """The number of a record that a view asks for: its value, ``p`` or ``log p``."""
    if what == "value":
        value, ci = record["value"], record.get("ci95")
        return _number(value), (float(ci[0]), float(ci[1])) if ci else None
    p = _number(record.get("p_value"))
    return (math.log(p) if what == "log p" and p > 0 else p), None


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    return float(value)


def split_quantity(y: str) -> tuple[str, str]:
    """``log p:METRIC`` and ``p:METRIC`` as (quantity, metric); anything else is a metric's value."""
    for prefix in ("log p", "p"):
        if y.startswith(prefix + ":"):
            return prefix, y.removeprefix(prefix + ":")
    return "value", y


def series(results: Sequence[Mapping[str, Any]], x: str, y: str | Sequence[str], by: str | None) -> list[Series]:
    """Group the records for a plot: one series per metric asked for and per value of ``by``.

    Raises :class:`HarnessError` for a metric that the results do not hold, naming the nearest.
    """
    metrics = list(dict.fromkeys(record["metric"] for record in results))
    made = []
    for wanted in _expand([y] if isinstance(y, str) else list(y), metrics):
        what, metric = split_quantity(wanted)
        if metric not in metrics:
            raise HarnessError(
                f"view asks for the metric '{metric}'{did_you_mean(metric, metrics)}; there are {', '.join(metrics)}"
            )
        chosen = [record for record in results if record["metric"] == metric]
        groups: dict[Any, list[Mapping[str, Any]]] = {}
        for record in chosen:
            groups.setdefault(lookup(record, by) if by else None, []).append(record)
        several = len(_expand([y] if isinstance(y, str) else list(y), metrics)) > 1
        for group, records in groups.items():
            label = " ".join(
                str(part)
                for part in (wanted if several or group is None else "", "" if group is None else group)
                if part
            )
            made.append(_one(label, records, x, what))
    return made


def _expand(wanted: list[str], metrics: list[str]) -> list[str]:
    out: list[str] = []
    for item in wanted:
        what, metric = split_quantity(item)
        prefix = "" if what == "value" else f"{what}:"
        out.extend(f"{prefix}{name}" for name in metrics) if metric == "*" else out.append(item)
    return out


def _one(label: str, records: Sequence[Mapping[str, Any]], x: str, what: str) -> Series:
    points = [(lookup(record, x), *quantity(record, what)) for record in records]
    points = [point for point in points if not math.isnan(point[1])]
    if all(isinstance(point[0], (int, float)) for point in points):
        points.sort(key=lambda point: point[0])
    low = tuple(ci[0] if ci else value for _, value, ci in points)
    high = tuple(ci[1] if ci else value for _, value, ci in points)
    has = any(ci for _, _, ci in points)
    return Series(
        label, tuple(p[0] for p in points), tuple(p[1] for p in points), low if has else (), high if has else ()
    )
