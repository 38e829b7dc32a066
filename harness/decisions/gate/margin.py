"""Margins of a gate: how they are written, and those that cannot be meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf

from harness.errors import HarnessError
from harness.registry.display_names import display_name

SMALLEST_SHARE = 0.001
"""Share of the baseline below which a margin in per cent is probably one in units: to
tell it from 0 takes millions of examples.
"""


@dataclass(frozen=True)
class Margin:
    """Largest worsening that is accepted."""

    size: float
    relative: bool = False
    """The margin is a share of the baseline's number."""

    @classmethod
    def parse(cls, text: str) -> Margin:
        """Return the margin ``0.01`` or ``1%``;
        raise :class:`HarnessError` for anything else.
        """
        match = re.fullmatch(
            r"\s*(\d*\.?\d+(?:e-?\d+)?)\s*(%?)\s*", text, re.IGNORECASE
        )
        if match is None:
            raise HarnessError(
                f"the margin is '{text}'; expected a number such as 0.01, "
                "or a share of the baseline such as 1%"
            )
        return cls(float(match[1]) / (100 if match[2] else 1), bool(match[2]))

    def __str__(self) -> str:
        return f"{100 * self.size:g}%" if self.relative else f"{self.size:g}"

    def in_units(self, baseline: float) -> float:
        """Return the margin in the unit of the metric."""
        return self.size * abs(baseline) if self.relative else self.size


def verify_margin(
    margin: Margin, metric: str, baseline: float, lowest: float | None
) -> None:
    """Raise :class:`HarnessError` for a margin of a metric whose larger values are
    better that cannot be meant.

    It is one that no worsening exceeds, or a share of the baseline that is too small to
    be one; both ways to read its number are named.

    Parameters
    ----------
    margin : Margin
        Largest worsening.
    metric : str
        Label of the metric.
    baseline : float
        Number of the baseline.
    lowest : float, optional
        Smallest possible number; None: unknown.
    """
    size = margin.in_units(baseline)
    room = inf if lowest is None else baseline - lowest
    is_share = margin.relative and margin.size < SMALLEST_SHARE
    if size == 0 or not (is_share or size >= room):
        return

    # A number that was typed with or without % by mistake is meant the other way.
    typed = 100 * margin.size if margin.relative else margin.size
    as_units = f"{typed:g} for a drop of {typed:g} in its unit"
    readings: list[str] = []
    if size < room:
        mistake = f"is a share of {margin.size:.3g} of {baseline:.4g}"
        readings.append(f"{size:.3g} for this drop")
        if typed < room:
            readings.append(as_units)
    else:
        mistake = (
            f"can never fail a version: the number cannot fall from {baseline:.4g} "
            f"below {lowest:.4g}"
        )
        if typed < 100 and baseline > 0:
            drop = typed / 100 * baseline
            readings.append(
                f"{typed:g}% for a share of the baseline, a drop of {drop:.3g}"
            )
        if typed / 100 < room:
            readings.append(
                f"{typed / 100:g} for a drop of {typed / 100:g} in its unit"
            )

    advice = f": type {', or '.join(readings)}" if readings else ""
    raise HarnessError(
        f"the margin {margin} of {display_name(metric)} {mistake}{advice}",
        parameter="margins",
        value=str(margin),
    )
