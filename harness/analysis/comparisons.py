"""Paired comparisons: one of two systems by one metric, and the list of them that notebooks show as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from math import isnan
from typing import Any

import harness
from harness.contracts import Values
from harness.contracts.parameters import Parameters

LEVEL = 0.05
"""Level of significance of :attr:`Comparison.better`."""
SIZES_DIFFER = "sizes differ"
NOT_TESTED = "not tested"


@dataclass(frozen=True)
class Comparison(Parameters):
    """Two systems compared by one metric. Fields are also items: ``row["p_value"]`` is ``row.p_value``."""

    metric: str
    system_a: str
    system_b: str
    higher_is_better: bool | None
    sizes_differ: bool
    """True for numbers without a common scale: other set sizes, or other numbers of references."""
    a: float | None
    """Number of system A on the common examples."""
    b: float | None
    difference: float | None
    """``a - b``."""
    ci95: Sequence[float] | None
    """Interval of the difference, two ends."""
    p_value: float | None
    """Of the number that the result table reports: approximate randomisation, or the jackknife, which :attr:`note` says."""
    p_bootstrap: float | None
    draws: int
    exact: bool
    """True where all assignments were enumerated."""
    note: str
    n: int
    """Number of common examples."""
    left_out: int
    """Number of examples that one system alone has."""
    sign_p_value: float | None
    """Of the per-example scores, by random signs."""
    a_larger: int
    """Number of examples whose score is larger for A."""
    b_larger: int
    ties: int
    forced: Sequence[str] = ()
    """Differences between two runs in spite of which they are compared."""
    p_holm: float | None = None
    """:attr:`p_value`, adjusted over the pairs of the metric."""
    p_bh: float | None = None
    """:attr:`p_value`, adjusted over all comparisons by Benjamini-Hochberg."""
    signature: str = ""
    """Signature of the metric, which names its model in tables; no item."""
    better: str = ""
    """``A`` or ``B`` for the better system, ``=``, ``sizes differ`` or ``not tested``; empty before p-values are adjusted."""

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(
            name
            for name in FIELDS
            if name != "signature" and (self.better or name not in ADJUSTED) and (self.forced or name != "forced")
        )

    def to_dict(self) -> Values:
        """Return the items as JSON types."""
        return {name: list(value) if name in LISTS and value is not None else value for name, value in self.items()}


FIELDS = tuple(field.name for field in fields(Comparison))
ADJUSTED = {"p_holm", "p_bh", "better"}
"""Fields that depend on the other comparisons."""


LISTS = {"ci95", "forced"}
"""Fields that are lists in JSON."""


def better(row: Comparison) -> str:
    """Return ``A`` or ``B`` for the better system of a comparison with adjusted p-values, ``=``, ``sizes differ`` or ``not tested``."""
    if row.sizes_differ:
        return SIZES_DIFFER
    if row.p_holm is None or row.difference is None:
        return NOT_TESTED
    return verdict(row.difference, row.p_holm, row.higher_is_better)


def verdict(difference: float, p_value: float, higher_is_better: bool | None, level: float = LEVEL) -> str:
    """Return ``A`` or ``B`` for the better system, or ``=`` where the difference is not significant at ``level``."""
    if p_value > level or difference == 0 or higher_is_better is None:
        return "="
    return "A" if (difference > 0) == higher_is_better else "B"


def finite(value: float | None) -> float | None:
    """Return a number as a float of Python; None for NaN, which JSON lacks."""
    return None if value is None or isnan(value) else float(value)


class Comparisons(list[Comparison]):
    """Rows of :func:`harness.compare`: one per pair of systems and metric."""

    def __repr__(self) -> str:
        pairs = {(row.system_a, row.system_b) for row in self}
        decided = sum(row.better in ("A", "B") for row in self)
        metrics = len({row.metric for row in self})
        return f"<comparisons of {len(pairs)} pairs by {metrics} metrics: {decided} of {len(self)} significant>"

    def _repr_html_(self) -> str:
        return harness.as_html(self)

    def chart(self) -> Any:
        """Return the differences with their intervals as an Altair chart."""
        return harness.as_chart(self)
