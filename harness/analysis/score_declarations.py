"""Declarations of a user for the scores of logs: which of them are costs, and the range
of their values.

The logs of one comparison have one direction per metric: that of the user, else the one
that a log declares, else that of the name
(:mod:`harness.analysis.score_directions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from harness.analysis.pairs import ComparedRun
from harness.analysis.score_directions import Direction, direction_of_name
from harness.analysis.score_logs import (
    DirectedScore,
    LoggedMetric,
    LoggedScore,
    ScoreLog,
)
from harness.errors import HarnessError, InputError
from harness.registry.catalogue import spelling
from harness.registry.display_names import labels_by_spelling

Bounds = tuple[float, float]
"""Smallest and largest score that is possible."""
ALL = ""
"""Name that stands for all metrics that are compared."""


@dataclass(frozen=True)
class DeclaredScores:
    """Declarations for the metrics of logs, by the names that the user typed."""

    lower_is_better: Sequence[str] = ()
    higher_is_better: Sequence[str] = ()
    bounds: Bounds | Mapping[str, Bounds] | None = None
    """Range of the scores of all metrics, or of each of some."""

    def parameter(self) -> str:
        """Return the name of the first declaration that is made; empty without any."""
        for name, value in vars(self).items():
            if value:
                return name
        return ""


def parse_bounds(texts: Sequence[str]) -> dict[str, Bounds]:
    """Return texts ``LOW,HIGH`` or ``NAME=LOW,HIGH`` as metric -> bounds.

    Raises :class:`InputError` for a text that is not of the form, and for a name that
    occurs twice.

    >>> parse_bounds(["0,1", "judge/tone=0,10"])
    {'': (0.0, 1.0), 'judge/tone': (0.0, 10.0)}
    """
    bounds: dict[str, Bounds] = {}
    for text in texts:
        name, _, ends = text.rpartition("=")
        try:
            low, high = map(float, ends.split(","))
        except ValueError:
            raise InputError(
                f"bounds is '{text}'; expected LOW,HIGH such as 0,1, "
                "or NAME=LOW,HIGH for one metric",
                parameter="bounds",
            ) from None
        if name in bounds:
            raise InputError(
                f"bounds occurs twice for {name or 'all metrics'}: give one range",
                parameter="bounds",
            )
        bounds[name] = low, high
    return bounds


def declare_scores(
    sides: Sequence[ComparedRun], declared: DeclaredScores
) -> list[ComparedRun]:
    """Return the sides of a comparison with one direction, and the declared bounds, for
    each metric of their logs.

    A metric whose direction is unclear, or whose scores leave the bounds, is refused as
    soon as it is compared (:attr:`~harness.analysis.score_logs.DirectedScore.refusal`):
    others of the same log can be.

    Raises
    ------
    HarnessError
        A declaration for runs that are no logs, of a metric that no log has, or against
        another one.
    """
    logs = [side.run for side in sides if isinstance(side.run, ScoreLog)]
    if len(logs) < len(sides) and (parameter := declared.parameter()):
        name = next(side.name for side in sides if not isinstance(side.run, ScoreLog))
        raise HarnessError(
            f"{parameter} is for logs of scores; {name} is a run, "
            "whose metrics declare direction and range themselves",
            parameter=parameter,
        )
    if not logs:
        return list(sides)

    metrics = list(dict.fromkeys(metric for log in logs for metric in log.contents))
    lower = _labels(declared.lower_is_better, metrics, "lower_is_better")
    higher = _labels(declared.higher_is_better, metrics, "higher_is_better")
    for metric in lower:
        if metric in higher:
            raise HarnessError(
                f"'{metric}' is declared with lower_is_better and with "
                "higher_is_better: give one of them",
                parameter="lower_is_better",
            )

    typed = dict.fromkeys(lower, Direction(False, "lower_is_better"))
    typed |= dict.fromkeys(higher, Direction(True, "higher_is_better"))
    bounds = _bounds_by_label(declared.bounds, metrics)
    directed: dict[str, DirectedScore] = {}
    for metric in metrics:
        contents = [log.contents[metric] for log in logs if metric in log.contents]
        directed[metric] = _direct(
            metric, contents, typed.get(metric), bounds.get(metric)
        )
    return [
        replace(side, run=_direct_log(side.run, directed))
        if isinstance(side.run, ScoreLog)
        else side
        for side in sides
    ]


def _labels(names: Sequence[str], metrics: Sequence[str], parameter: str) -> list[str]:
    """Return the labels of metrics that a user named, in any spelling."""
    by_name = labels_by_spelling(metrics)
    labels: list[str] = []
    for name in names:
        label = by_name.get(name, by_name.get(spelling(name)))
        if label is None:
            raise HarnessError.of_name(
                f"{parameter}: there is no metric",
                name,
                metrics,
                "the logs have",
                parameter=parameter,
            )
        labels.append(label)
    return labels


def _bounds_by_label(
    bounds: Bounds | Mapping[str, Bounds] | None, metrics: Sequence[str]
) -> dict[str, Bounds]:
    """Return label -> bounds of the metrics that have some."""
    if not bounds:
        return {}
    by_name = dict(bounds) if isinstance(bounds, Mapping) else {ALL: bounds}
    for low, high in by_name.values():
        if not (isfinite(low) and isfinite(high) and low < high):
            raise InputError(
                f"bounds is {low:g},{high:g}; expected two finite numbers, "
                "the smaller one first",
                parameter="bounds",
            )

    # Those of one metric come before those of all.
    shared = by_name.pop(ALL, None)
    by_label = {} if shared is None else dict.fromkeys(metrics, shared)
    labels = _labels(list(by_name), metrics, "bounds")
    return by_label | dict(zip(labels, by_name.values()))


def _direct(
    metric: str,
    contents: Sequence[LoggedMetric],
    typed: Direction | None,
    bounds: Bounds | None,
) -> DirectedScore:
    """Return a metric under its direction and bounds, with the reason why it cannot be
    compared where there is one.
    """
    declared = {
        item.higher_is_better: item
        for content in reversed(contents)
        if (item := content.declared)
    }
    usual = direction_of_name(metric)
    remedy = "name it in lower_is_better or higher_is_better, or choose other metrics"

    # The first refusal is printed: an infinite score comes before a wrong direction.
    refusals = [content.infinite(metric) for content in contents]

    if typed:
        direction = typed
    elif len(declared) > 1:
        direction = Direction(None)
        sources = " and ".join(
            f"{'higher' if better else 'lower'} is better ({item.source})"
            for better, item in declared.items()
        )
        refusals.append(f"'{metric}' has two directions: {sources}; {remedy}")
    else:
        direction = next(iter(declared.values()), usual)
        if direction.higher_is_better is None:
            refusals.append(
                f"the name of '{metric}' does not say whether larger is better; "
                f"{remedy}"
            )
    if bounds:
        refusals.append(_describe_outlier(metric, contents, bounds))

    # Larger is better by default, which needs no note.
    is_usual = direction.higher_is_better and usual.higher_is_better
    score = LoggedScore(metric, bounds, direction.higher_is_better)
    refusal = next(filter(None, refusals), "")
    return DirectedScore(score, "" if is_usual else direction.note, refusal)


def _describe_outlier(
    metric: str, contents: Sequence[LoggedMetric], bounds: Bounds
) -> str:
    """Return the refusal of a metric with a score outside its bounds;
    empty where all lie within.
    """
    low, high = bounds
    for content in contents:
        for extreme in (content.lowest, content.highest):
            if not low <= extreme.value <= high:
                return (
                    f"'{metric}' is {extreme.value:g} at {extreme.where}, "
                    f"outside bounds=({low:g}, {high:g})"
                )
    return ""


def _direct_log(log: ScoreLog, directed: Mapping[str, DirectedScore]) -> ScoreLog:
    """Return a log under the directions of a comparison."""
    records = [
        replace(
            record,
            higher_is_better=directed[record.metric].metric.spec.higher_is_better,
        )
        for record in log.records
    ]
    return replace(
        log,
        records=tuple(records),
        directed={metric: directed[metric] for metric in log.contents},
    )
