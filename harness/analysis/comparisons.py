"""Paired comparisons: two systems by one metric with the verdict, and the list of them
that notebooks show as a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan
from typing import Any

import harness
from harness.analysis.anytime import AnytimeTest
from harness.contracts import Values, VerbResult

LEVEL = 0.05
"""Level of significance of :attr:`Comparison.better`."""
SIZES_DIFFER = "sizes differ"
NOT_TESTED = "not tested"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two systems compared by one metric."""

    metric: str
    system_a: str
    system_b: str
    higher_is_better: bool | None
    sizes_differ: bool = False
    """True for numbers without a common scale: other set sizes, or state that was
    fitted on other references; :attr:`note` says which.
    """
    a: float | None = None
    """Number of system A on the common examples."""
    b: float | None = None
    difference: float | None = None
    """``a - b``."""
    ci95: Sequence[float] | None = None
    """Interval of the difference, two ends."""
    p_value: float | None = None
    """Of the number that the result table reports: approximate randomisation, or the
    jackknife, which :attr:`note` says.
    """
    p_bootstrap: float | None = None
    draws: int = 0
    exact: bool = False
    """True where all assignments were enumerated."""
    note: str
    n: int
    """Number of common examples."""
    left_out: int = 0
    """Number of examples that one system alone has."""
    sign_p_value: float | None = None
    """Of the per-example scores, by random signs."""
    a_larger: int = 0
    """Number of examples whose score is larger for A."""
    b_larger: int = 0
    ties: int = 0
    slice: str = ""
    """Slice of the examples that are compared, such as ``domain=near-domain``;
    empty for all.
    """
    forced: Sequence[str] = ()
    """Differences between two runs in spite of which they are compared."""
    p_holm: float | None = None
    """:attr:`p_value`, adjusted over the pairs of the metric."""
    p_bh: float | None = None
    """:attr:`p_value`, adjusted over all comparisons by Benjamini-Hochberg."""
    signature: str = ""
    """Signature of the metric, which names its model in tables; no item."""
    anytime: AnytimeTest | None = None
    """Confidence sequence, where it was asked for."""
    better: str = ""
    """``A`` or ``B`` for the better system, ``=``, ``sizes differ`` or ``not tested``;
    empty before p-values are adjusted.
    """

    def to_dict(self) -> Values:
        """Return the fields as in JSON; those that depend on other comparisons are
        absent before they are known.
        """
        absent = {"signature", "anytime"}
        absent |= {name for name in ("forced", "slice") if not getattr(self, name)}
        if not self.better:
            absent |= {"p_holm", "p_bh", "better"}
        values = {
            name: value for name, value in vars(self).items() if name not in absent
        }

        if self.forced:
            values["forced"] = list(self.forced)
        if self.anytime:
            values["anytime"] = asdict(self.anytime)
        return values


def better(row: Comparison) -> str:
    """Return ``A`` or ``B`` for the better system of a comparison with adjusted
    p-values, ``=``, ``sizes differ`` or ``not tested``.
    """
    if row.sizes_differ:
        return SIZES_DIFFER
    if row.p_holm is None or row.difference is None:
        return NOT_TESTED
    return verdict(row.difference, row.p_holm, row.higher_is_better)


def with_verdict(row: Comparison) -> Comparison:
    """Return a comparison with adjusted p-values and its :attr:`~Comparison.better`;
    beside an interval that does not hold 0, the verdict ``=`` has a note on what
    decided.
    """
    row = replace(row, better=better(row))
    if row.better != "=" or row.ci95 is None or row.ci95[0] <= 0 <= row.ci95[1]:
        return row
    return replace(row, note="; ".join(filter(None, (row.note, _reason_for_tie(row)))))


def _reason_for_tie(row: Comparison) -> str:
    """Return what makes the verdict of a row ``=`` whose interval does not hold 0."""
    if row.higher_is_better is None:
        return "the interval does not hold 0, but neither direction is better"
    if row.p_value is not None and row.p_value <= LEVEL:
        return (
            "= by p Holm, over all pairs of the metric; "
            "the interval does not hold 0, but is that of one pair alone"
        )
    test = "approximate randomisation" if row.draws else "the test"
    return (
        f"= by the p-value of {test}; the interval, by another method, does not hold 0"
    )


def verdict(
    difference: float,
    p_value: float,
    higher_is_better: bool | None,
    level: float = LEVEL,
) -> str:
    """Return ``A`` or ``B`` for the better system, or ``=`` where the difference is not
    significant at ``level``.
    """
    if p_value > level or difference == 0 or higher_is_better is None:
        return "="
    return "A" if (difference > 0) == higher_is_better else "B"


def finite(value: float | None) -> float | None:
    """Return a number as a float of Python; None for NaN, which JSON lacks."""
    return None if value is None or isnan(value) else float(value)


class Comparisons(VerbResult, list[Comparison]):
    """Rows of :func:`harness.compare`: one per pair of systems and metric.

    ``notes`` are remarks on the logs of scores that were compared, ``clusters`` the
    rankings of each metric (:func:`harness.analysis.rankings.rankings`), ``examples``
    those on which the systems of a single pair differ most.
    """

    ROWS = "comparisons"

    def __init__(
        self,
        rows: Iterable[Comparison] = (),
        notes: Sequence[str] = (),
        clusters: Mapping[str, Sequence[Any]] | None = None,
        examples: Sequence[Any] = (),
    ) -> None:
        super().__init__(rows)
        self.notes = notes
        self.clusters = clusters or {}
        self.examples = examples

    @property
    def comparisons(self) -> Comparisons:
        """The rows, as the JSON of the verb names them."""
        return self

    def to_dict(self) -> Values:
        """Return the rows, rankings, notes and examples as in JSON."""
        values: Values = {
            "comparisons": [row.to_dict() for row in self],
            "clusters": {
                metric: [asdict(system) for system in systems]
                for metric, systems in self.clusters.items()
            },
        }
        if self.notes:
            values["notes"] = list(self.notes)
        if self.examples:
            values["examples"] = [asdict(item) for item in self.examples]
        return values

    def __repr__(self) -> str:
        pairs = {(row.system_a, row.system_b) for row in self}
        decided = sum(row.better in ("A", "B") for row in self)
        metrics = len({row.metric for row in self})
        return (
            f"<comparisons of {len(pairs)} pairs by {metrics} metrics: "
            f"{decided} of {len(self)} significant>"
        )

    def chart(self) -> Any:
        """Return the differences with their intervals as an Altair chart."""
        return harness.as_chart(self)
