"""Conditions on which a run stops: which of two systems is better, or how well a number
is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from harness.contracts import MeanMetric, Values
from harness.errors import HarnessError
from harness.registry.catalogue import spelling
from harness.registry.display_names import display_name, labels_by_spelling
from harness.run.metric_plan import MetricPlan
from harness.run.sequences import mean_bounds
from harness.spec.models import UntilSpec
from harness.stats.anytime import Look

_ORDERED = re.compile(r"(?P<metric>.+?):\s*(?P<a>.+?)\s*(?P<sign>[<>])\s*(?P<b>.+)")
_PRECISE = re.compile(
    r"(?P<metric>.+?)\s*(?:±|\+-|\+/-)\s*(?P<width>\d*\.?\d+(?:e-?\d+)?)"
)


@dataclass(frozen=True)
class Condition:
    """One condition: which of two systems is better, or a number known within a
    half-width for every system.
    """

    text: str
    metric: int
    """Position of the metric in the plan."""
    systems: tuple[int, ...] = ()
    """Positions of the two systems; empty for a condition on the precision of all."""
    sign: str = ""
    """``>`` or ``<``: the claim about the number of the first system,
    which the run confirms or refutes.
    """
    width: float = 0.0

    @classmethod
    def parse(
        cls, text: str, metrics: Sequence[MetricPlan], labels: Sequence[str]
    ) -> Condition:
        """Return the condition of a text; raise :class:`HarnessError` for one that
        cannot be read, and for unknown names.
        """
        match = _ORDERED.fullmatch(text.strip()) or _PRECISE.fullmatch(text.strip())
        if match is None:
            raise HarnessError(
                f"until is '{text}'; expected 'METRIC: SYSTEM > SYSTEM' or "
                "'METRIC ± HALF-WIDTH', as 'CIDEr-D: ours > theirs'",
            )

        names = [plan.label for plan in metrics]
        by_spelling = labels_by_spelling(names)
        name = match["metric"].strip()
        label = by_spelling.get(name, by_spelling.get(spelling(name)))
        if label is None:
            raise HarnessError.of_name(
                "until: there is no metric",
                match["metric"],
                [*names, *map(display_name, names)],
                "the run has",
            )
        position = names.index(label)

        groups = match.groupdict()
        if "width" in groups:
            return cls(text, position, width=float(groups["width"]))
        for name in (groups["a"], groups["b"]):
            if name not in labels:
                raise HarnessError.of_name(
                    "until: there is no system", name, labels, "the run has"
                )
            if labels.count(name) > 1:
                raise HarnessError(
                    f"until: '{name}' has several decodings or sizes; "
                    "a condition compares runs of one each"
                )
        systems = labels.index(groups["a"]), labels.index(groups["b"])
        return cls(text, position, systems, groups["sign"])

    def pairs(self, count: int) -> list[tuple[int, int | None]]:
        """Return the pairs of systems whose sequences the condition looks at; None:
        the number of one system.
        """
        if self.systems:
            return [(self.systems[0], self.systems[1])]
        return [(system, None) for system in range(count)]

    def verdict(self, paths: Sequence[Sequence[Look]], level: float) -> str:
        """Return ``confirmed``, ``refuted`` or ``undecided``: for an order, by the
        first look with a small p-value and so without 0.
        """
        if not self.systems:
            widths = [(path[-1].high - path[-1].low) / 2 for path in paths]
            is_precise = all(width <= self.width for width in widths)
            return "confirmed" if is_precise else "undecided"

        # Later looks may be less certain: what was decided once stays.
        for path in paths:
            for look in path:
                if look.p_value <= level:
                    sign = ">" if look.difference > 0 else "<"
                    return "confirmed" if sign == self.sign else "refuted"
        return "undecided"


def read_conditions(
    spec: UntilSpec, metrics: Sequence[MetricPlan], labels: Sequence[str]
) -> list[Condition]:
    """Return the conditions of a spec; raise :class:`HarnessError` as
    :meth:`Condition.parse`, and for metrics without a sequence.
    """
    conditions = [Condition.parse(text, metrics, labels) for text in spec.conditions]
    for plan in (metrics[condition.metric] for condition in conditions):
        if not isinstance(plan.metric, MeanMetric):
            raise HarnessError(
                f"until: '{display_name(plan.label)}' has no confidence sequence: "
                "its number is no function of sums over examples"
            )
        if spec.population and mean_bounds(plan.metric) is None:
            raise HarnessError(
                f"population: '{display_name(plan.label)}' is no mean of scores "
                "with known bounds"
            )
    return conditions


def describe_verdict(item: Values) -> str:
    """Return a condition of :meth:`Stopping.summary` with its verdict,
    and with what its sequences wait for.

    >>> describe_verdict(
    ...     {
    ...         "condition": "bleu4 ± 0.01",
    ...         "verdict": "undecided",
    ...         "waits": ["no spread in 200 examples"],
    ...     }
    ... )
    'bleu4 ± 0.01: undecided, not yet: no spread in 200 examples'
    """
    text = f"{item['condition']}: {item['verdict']}"
    waits = cast("list[str]", item.get("waits", []))
    return f"{text}, not yet: {', '.join(waits)}" if waits else text
