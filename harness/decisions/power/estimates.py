"""Targets of a pilot, and the sizes that reach them."""

from __future__ import annotations

from dataclasses import dataclass

from harness.decisions.power.sizes import Size

DEFAULT_POWER = 0.8
"""Power to reach where no target is given."""


@dataclass(frozen=True)
class Estimate:
    """Smallest number of examples, candidates or references beyond the pilot that
    reaches a target.
    """

    axis: str
    """``examples``, ``candidates`` or ``references``."""
    value: int | None
    """Smallest number for the pilot as it is; None when it is beyond ``limit``."""
    low: int | None
    high: int | None
    """``low`` and ``high`` are a 95 % interval; None for a bound beyond ``limit``. The
    interval includes the pilot's own number where resamples of the pilot reach the
    target.
    """
    limit: int
    """Largest number that is considered."""
    n: int
    m: int
    examples: int
    """``n``, ``m`` and ``examples`` are the numbers of the pilot,
    of which the axis is varied.
    """
    extrapolated: bool = True


@dataclass(frozen=True)
class Needed:
    """Smallest size of a pilot that reaches a target, for one model and metric."""

    model: str
    metric: str
    needed: Size | None
    """None where the pilot does not reach the target."""
    largest: Size
    estimates: tuple[Estimate, ...] = ()
    """Sizes beyond the pilot, one per axis; empty where the pilot reaches the target.
    """
    notes: tuple[str, ...] = ()
    """Limits of the design, and reasons for missing estimates."""


@dataclass(frozen=True)
class PowerTarget:
    """Goal of a study; a None component is reached by every size."""

    p: float = 0.05
    """Combined p-value of a run."""
    power: float | None = DEFAULT_POWER
    """Probability that the combined p-value is at most ``p``."""
    share: float | None = None
    """Share of examples with p <= alpha."""

    def is_reached(self, size: Size) -> bool:
        """Return True when a size reaches the target."""
        if self.power is not None and not size.power >= self.power:
            return False
        return self.share is None or size.share >= self.share
