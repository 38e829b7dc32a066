"""Verdict of a gate, its rows and its sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil, inf, isfinite
from typing import Literal

from harness.contracts import Values, VerbResult
from harness.decisions.statistics.sample_size import LEVEL
from harness.errors import counted
from harness.registry.display_names import display_name
from harness.reporting.table import Table, heading, number

Verdict = Literal["passed", "failed", "undecided"]
Undecided = Literal["stop", "fail", "pass"]
HEADERS = (
    "metric",
    "slice",
    "n",
    "baseline",
    "new",
    "worse by",
    "90 % interval",
    "margin",
    "verdict",
)


@dataclass(frozen=True)
class GateRow:
    """One metric of one slice: the worsening of the new system with its one-sided
    bounds.
    """

    metric: str
    system: str
    slice: str
    n: int
    new: float
    baseline: float
    worsening: float
    """Baseline minus new system, or the reverse for a cost; in units of the metric."""
    low: float
    """One-sided lower bound at level .05; of a relative margin, which moves with the
    baseline, the bound to compare with :attr:`margin`.
    """
    high: float
    """One-sided upper bound."""
    margin: float
    """The margin in units of the metric."""
    p_pass: float
    """P-value of the hypothesis that the worsening is at least the margin."""
    p_fail: float
    """P-value of the hypothesis that it is at most the margin,
    adjusted by Holm over all rows.
    """
    needed: float
    """Examples (or clusters) that would tell the worsening from the margin with power
    .8, if it is the one observed.
    """
    higher_is_better: bool
    left_out: int = 0
    """Examples of the baseline, in the slice, that are not compared."""
    method: str = ""
    """Method of the bounds, for people; empty without a test."""
    least: float = 0.0
    """Examples (or clusters) that are needed to pass where no example changes; inf
    where this is never told.
    """
    units: int = 0
    """Number of independent examples or clusters."""
    clustered: bool = False
    note: str = ""
    """Remarks: equal outputs, examples that are missing, the reason why nothing is
    decided.
    """

    @property
    def verdict(self) -> Verdict:
        """The verdict of this row alone."""
        if self.p_fail <= LEVEL:
            return "failed"
        return "passed" if self.p_pass <= LEVEL else "undecided"

    @property
    def unit(self) -> str:
        """Independent unit: ``example`` or ``cluster``."""
        return "cluster" if self.clustered else "example"


@dataclass(frozen=True)
class GateResult(VerbResult):
    """Verdict of a gate over all metrics and slices."""

    ROWS = "rows"

    rows: Sequence[GateRow]
    notes: Sequence[str] = ()
    """Remarks on logs of scores, and sentences on examples that are not compared."""
    undecided: Undecided = "stop"
    """Verdict that an undecided one counts as."""

    @property
    def counts_as(self) -> str:
        """End of the line of an undecided verdict that counts as another one; empty for
        others.
        """
        if self.verdict == "undecided" and self.undecided != "stop":
            return f" (counts as {self.undecided})"
        return ""

    @property
    def line(self) -> str:
        """:attr:`sentence`, and what an undecided verdict counts as."""
        return self.sentence + self.counts_as

    def to_dict(self) -> Values:
        """Return verdict, line, notes and rows."""
        return {
            "verdict": self.verdict,
            "line": self.line,
            "notes": list(self.notes),
            "rows": [{**asdict(row), "verdict": row.verdict} for row in self.rows],
        }

    def blocks(self) -> Iterator[Table | str]:
        """Yield the table and the line."""
        yield gate_table(self)
        yield self.line

    @property
    def verdict(self) -> Verdict:
        """``failed`` where one row failed, ``passed`` where all passed."""
        verdicts = {row.verdict for row in self.rows}
        if "failed" in verdicts:
            return "failed"
        return "undecided" if "undecided" in verdicts else "passed"

    @property
    def headline(self) -> str:
        """The verdict in a short sentence, without numbers."""
        rows = [row for row in self.rows if row.verdict == self.verdict]
        name = _name_row(rows[0])
        if self.verdict == "passed":
            subject = f"none of {counted(len(rows), 'row')} is"
            if len(rows) == 1:
                subject = f"{name} is not"
            return f"passed: {subject} worse by more than its margin"

        count = f"{len(rows)} of {counted(len(self.rows), 'row')}"
        sentence = f"{count} are worse by more than their margins"
        if len(rows) == 1:
            sentence = f"{name} is worse by more than its margin"
        if self.verdict == "failed":
            return f"failed: {sentence}"
        return f"undecided: the examples do not tell whether {sentence}"

    @property
    def remarks(self) -> list[str]:
        """Numbers of examples that would decide an undecided verdict, and the notes of
        the rows.
        """
        lines: list[str] = []
        if self.verdict == "undecided":
            undecided = [row for row in self.rows if row.verdict == "undecided"]
            lines.append(_what_decides(undecided))
        lines += [f"{_name_row(row)}: {row.note}" for row in self.rows if row.note]
        return lines

    @property
    def sentence(self) -> str:
        """One line: the verdict with the row that decides it."""
        if self.verdict == "passed":
            closest = max(self.rows, key=_excess)
            return (
                "passed: no worsening beyond the margin in "
                f"{counted(len(self.rows), 'row')} ({_describe_row(closest)})"
            )
        rows = [row for row in self.rows if row.verdict == self.verdict]
        names = "; ".join(map(_describe_row, rows))
        if self.verdict == "failed":
            return f"failed: {names}"
        return f"undecided: {names}; {_what_decides(rows)}"


def _describe_row(row: GateRow) -> str:
    """Return a row with its numbers, for the line that decides."""
    bounds = f"[{row.low:.4g}, {row.high:.4g}]"
    if not isfinite(row.low) and not isfinite(row.high):
        bounds = "[no bounds]"
    note = f", {row.note}" if row.note else ""
    return (
        f"{_name_row(row)} worse by {row.worsening:.4g} {bounds}, "
        f"margin {row.margin:.4g}, n = {row.n:,}{note}"
    )


def _name_row(row: GateRow) -> str:
    """Return the name of the metric of a row, with its slice."""
    name = display_name(row.metric)
    return f"{name} in {row.slice}" if row.slice else name


def _excess(row: GateRow) -> float:
    return row.high - row.margin


def _what_decides(rows: Sequence[GateRow]) -> str:
    """Return what would decide rows that are undecided."""
    # Where even a version without a change has too few examples, this is the number to
    # know first.
    short = [
        row
        for row in rows
        if row.worsening < row.margin and row.units < row.least < inf
    ]

    # The hardest row decides how many examples all of them need.
    least = 0.0
    sentences: list[str] = []
    if short:
        row = max(short, key=lambda row: row.least)
        least = row.least
        sentences.append(
            f"a version without a change needs {ceil(least):,} {row.unit}s to pass"
        )
    hardest = max(rows, key=lambda row: row.needed)
    if isfinite(hardest.needed) and hardest.needed > least:
        count = ceil(hardest.needed)
        sentences.append(f"about {count:,} {hardest.unit}s would decide")
    return "; ".join(sentences) or "no number of examples decides"


def gate_table(result: GateResult) -> Table:
    """Return a row per metric and slice; the interval is that of the two one-sided
    bounds.
    """
    headers = list(HEADERS)
    cells = [_cells(row) for row in result.rows]
    alignment = "llrrrrrrl"
    if len({row.system for row in result.rows}) > 1:
        headers = ["system", *headers]
        cells = [[row.system, *line] for row, line in zip(result.rows, cells)]
        alignment = f"l{alignment}"

    notes = [
        "passed: upper bound below the margin; failed: "
        "lower bound above it (Holm); each bound one-sided at level 0.05",
        f"bounds: {_describe_methods(result.rows)}",
        *result.notes,
    ]
    left_out = max((row.left_out for row in result.rows), default=0)
    if left_out:
        notes.append(
            f"up to {counted(left_out, 'example', 'has/have')} no value in the "
            "baseline, or in both versions"
        )
    return Table(headers, cells, alignment, notes=tuple(notes))


def _describe_methods(rows: Sequence[GateRow]) -> str:
    """Return the methods of the bounds with the names of the metrics that have them."""
    names: dict[str, dict[str, None]] = {}
    for row in rows:
        names.setdefault(row.method or "none", {})[display_name(row.metric)] = None
    return "; ".join(
        f"{method} ({', '.join(metrics)})" for method, metrics in names.items()
    )


def _cells(row: GateRow) -> list[str]:
    numbers = [number(value) for value in (row.baseline, row.new, row.worsening)]
    is_bounded = isfinite(row.low) or isfinite(row.high)
    ends = f"{number(row.low)} … {number(row.high)}" if is_bounded else "–"
    return [
        heading(row.metric, row.higher_is_better),
        row.slice or "all",
        f"{row.n:,}",
        *numbers,
        ends,
        number(row.margin),
        row.verdict,
    ]
