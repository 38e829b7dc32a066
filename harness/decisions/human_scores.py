"""Mean human scores of systems and of their differences, and captions to label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Self

from harness.contracts import Values, VerbResult
from harness.decisions.statistics.prediction_powered import PoweredMean
from harness.reporting.formats.delimited import delimit
from harness.reporting.table import Table, interval_text, number

HEADERS = (
    "system",
    "score",
    "95 % interval",
    "labels alone",
    "95 % interval of these",
    "labels",
    "saved",
    "examples",
)
SAVED = (
    "saved: further labels that the labels alone would need for as small a standard "
    "error"
)


@dataclass(frozen=True)
class HumanScore:
    """Estimate of the mean human score of a system, or of the difference of two."""

    system: str
    """Label of the system, or ``A - B``."""
    powered: PoweredMean
    classical: PoweredMean
    """Of the labels alone."""
    labels: int
    """Number of examples with labels."""
    examples: int

    @property
    def saved(self) -> float | None:
        """Number of further labels with which the labels alone would have the same
        standard error; None without an interval.
        """
        error = self.powered.standard_error
        if self.powered.ci95 is None:
            return None
        if not error:
            return float("inf")
        return self.labels * ((self.classical.standard_error / error) ** 2 - 1)


class HumanScores(VerbResult, tuple[list[HumanScore], list[str]]):
    """Estimates of the systems and of their differences, and notes; as a tuple
    ``estimates, notes``.
    """

    ROWS = "estimates"
    by: Sequence[str]
    """Metrics or judges that predict the labels."""

    def __new__(
        cls, estimates: list[HumanScore], notes: list[str], by: Sequence[str]
    ) -> Self:
        """Return the tuple."""
        result = super().__new__(cls, (estimates, notes))
        result.by = by
        return result

    @property
    def estimates(self) -> list[HumanScore]:
        """Mean human scores of the systems, then of their differences."""
        return self[0]

    @property
    def notes(self) -> list[str]:
        """Remarks on the estimates."""
        return self[1]

    def to_dict(self) -> Values:
        """Return estimates and notes."""
        rows = [{**asdict(row), "saved": row.saved} for row in self.estimates]
        return {"estimates": rows, "notes": self.notes}

    def table(self) -> Table:
        """Return a row per system and difference."""
        cells = [
            [
                row.system,
                number(row.powered.value),
                interval_text(row.powered.ci95),
                number(row.classical.value),
                interval_text(row.classical.ci95),
                str(row.labels),
                "–" if row.saved is None else f"{row.saved:.0f}",
                str(row.examples),
            ]
            for row in self.estimates
        ]
        return Table(
            HEADERS,
            cells,
            "lrrrrrrr",
            f"human score by {', '.join(self.by)}",
            (SAVED, *self.notes),
            secondary=HEADERS[-1:],
        )

    def blocks(self) -> Iterator[Table]:
        """Yield the table."""
        yield self.table()


class LabelPlan(VerbResult, list[Values]):
    """Captions to label, with an empty column ``score``."""

    def to_dict(self) -> list[Values]:
        """Return the captions."""
        return list(self)

    def to_csv(self) -> str:
        """Return the plan as CSV, which people fill in."""
        return delimit([list(self[0]), *(list(row.values()) for row in self)])

    def blocks(self) -> Iterator[str]:
        """Yield the plan as CSV."""
        yield self.to_csv().removesuffix("\n")
