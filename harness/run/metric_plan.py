"""The metrics of a run or of a call: parameters expanded, labels made unique."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.contracts import Metric


@dataclass(frozen=True)
class MetricPlan:
    """One metric of the run; ``label`` is unique within it."""

    label: str
    name: str
    params: Mapping[str, Any]
    metric: Metric


def expand_params(params: Mapping[str, Any], keep: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Every combination of the list-valued parameters, but for those in ``keep`` which are lists by nature.

    >>> expand_params({"distance": ["a", "b"], "n": 2})
    [{'distance': 'a', 'n': 2}, {'distance': 'b', 'n': 2}]
    """
    axes = [
        [(name, item) for item in value] if isinstance(value, list) and name not in keep else [(name, value)]
        for name, value in params.items()
    ]
    return [dict(choice) for choice in itertools.product(*axes)]


def metric_labels(plans: Sequence[MetricPlan]) -> list[str]:
    """Labels as given where they differ, else with the parameters that tell them apart."""
    counts = Counter(plan.label for plan in plans)
    labels = []
    for plan in plans:
        label = plan.label
        if counts[label] > 1 and plan.params:
            shown = ",".join(f"{name}={value}" for name, value in plan.params.items() if f"({value}" not in label)
            label = f"{label}[{shown}]" if shown else label
        labels.append(label)
    return unique(labels)


def unique(labels: Sequence[str]) -> list[str]:
    """The labels, repeated ones numbered."""
    seen: Counter[str] = Counter()
    out = []
    for label in labels:
        seen[label] += 1
        out.append(label if seen[label] == 1 else f"{label} #{seen[label]}")
    return out
