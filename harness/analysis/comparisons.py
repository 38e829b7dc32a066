"""Paired comparisons: one of two systems by one metric, and the list of them that
notebooks show as a table.

Those of the systems of a run are kept in ``comparisons.json`` beside its results; those
of metrics by their agreement with people are the tests that a run of judgments has
made. Significance clusters and the examples that differ most come from the list.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from math import isnan
from typing import Any, cast

import numpy as np

import harness
from harness import __version__
from harness.analysis.anytime import AnytimeTest
from harness.analysis.pairs import Pair
from harness.contracts import Values
from harness.errors import HarnessError, did_you_mean
from harness.run.finished import Run
from harness.rundir.artifact_key import content_digest
from harness.rundir.file_names import COMPARISONS
from harness.rundir.kept_file import KeptFile
from harness.rundir.records import ResultRecord
from harness.stats.metric_tests import EXCHANGE_TESTS, exchange_test
from harness.stats.multiplicity import cluster_letters

LEVEL = 0.05
"""Level of significance of :attr:`Comparison.better`."""
SIZES_DIFFER = "sizes differ"
NOT_TESTED = "not tested"
SCHEMA = 6
"""Schema version of comparisons.json."""
SECONDS = 20.0
"""Time between two writes of the file."""
BOLD_NOTE = (
    "bold: the best value of a metric and those that do not differ significantly "
    f"from it (p Holm > {LEVEL:g}), where they compare"
)
"""The rule of :attr:`RankedSystem.leads`, for the note below a table."""


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
        optional = [name for name in ("forced", "slice") if not getattr(self, name)]
        absent = {
            "signature",
            "anytime",
            *optional,
            *(() if self.better else ("p_holm", "p_bh", "better")),
        }
        values = {
            name: value for name, value in vars(self).items() if name not in absent
        }
        sequence = {"anytime": asdict(self.anytime)} if self.anytime else {}
        return {
            **values,
            **({"forced": list(self.forced)} if self.forced else {}),
            **sequence,
        }


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


class Comparisons(list[Comparison]):
    """Rows of :func:`harness.compare`: one per pair of systems and metric.

    ``notes`` are remarks on the logs of scores that were compared.
    """

    def __init__(
        self, rows: Iterable[Comparison] = (), notes: Sequence[str] = ()
    ) -> None:
        super().__init__(rows)
        self.notes = notes

    def __repr__(self) -> str:
        pairs = {(row.system_a, row.system_b) for row in self}
        decided = sum(row.better in ("A", "B") for row in self)
        metrics = len({row.metric for row in self})
        return (
            f"<comparisons of {len(pairs)} pairs by {metrics} metrics: "
            f"{decided} of {len(self)} significant>"
        )

    def _repr_html_(self) -> str:
        return harness.as_html(self)

    def chart(self) -> Any:
        """Return the differences with their intervals as an Altair chart."""
        return harness.as_chart(self)


def metric_comparisons(
    runs: Sequence[Run],
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
) -> list[Comparison]:
    """Return one comparison per pair of metrics of a run of judgments: the tests of the
    headline that the run has made.

    Parameters
    ----------
    runs : sequence of Run
        The run.
    baseline : str, optional
        Label of the metric that the others (A) are compared with (B).
    metrics : sequence of str, optional
        Labels of metrics; default: all.

    Raises
    ------
    HarnessError
        There are two runs, or no metric of a label.
    """
    if len(runs) > 1:
        raise HarnessError(
            "the metrics of one run of judgments are compared, not two runs; "
            "add metrics with harness rescore"
        )
    records = {
        record.metric: record
        for record in runs[0].records
        if (record.details or {}).get("headline")
    }
    for name in [*(metrics or ()), *([baseline] if baseline else [])]:
        if name not in records:
            raise HarnessError(
                f"there is no metric '{name}'{did_you_mean(name, records)}; "
                f"there are {', '.join(records)}"
            )
    names = [
        name
        for name in records
        if metrics is None or name in metrics or name == baseline
    ]
    compared = (
        [(name, baseline) for name in names if name != baseline]
        if baseline
        else itertools.combinations(names, 2)
    )
    rows = [_metric_comparison(records[a], records[b]) for a, b in compared]
    return [with_verdict(row) for row in rows]


def _metric_comparison(a: ResultRecord, b: ResultRecord) -> Comparison:
    """Return the comparison of two metrics by their agreement with people,
    from the tests in their records.
    """
    tests = (a.details or {}).get("against", {}).get(b.metric, {})
    name = exchange_test(tests)
    return Comparison(
        metric=a.agreement,
        system_a=a.metric,
        system_b=b.metric,
        higher_is_better=True,
        a=finite(a.value),
        b=finite(b.value),
        difference=finite(a.value - b.value),
        p_value=tests.get(name),
        p_holm=tests.get(f"{name}_holm"),
        note=f"p by {EXCHANGE_TESTS[name]}, Holm over all metrics of the run",
        n=min(a.n, b.n),
    )


@dataclass(eq=False)
class StoredComparisons:
    """Rows of comparisons by name, valid for the statistics,
    draws and seed under which they were computed.
    """

    file: KeptFile
    rows: dict[str, Comparison] = field(default_factory=dict[str, Comparison])

    @classmethod
    def of(cls, runs: Sequence[Run], draws: int, seed: int) -> StoredComparisons:
        """Return the stored comparisons of a run,
        without rows for two different runs or a run in memory.

        Rows under another key, and a file that is damaged, are left out and replaced by
        :meth:`adding`.
        """
        paths = {run.path for run in runs}
        (path,) = paths if len(paths) == 1 else (None,)
        key = content_digest(
            [__version__, SCHEMA, draws, seed, [_identity(run) for run in runs[:1]]]
        )
        file = KeptFile(None if path is None else path / COMPARISONS, key)
        rows = cast("dict[str, Values]", file.read() or {})
        return cls(file, {name: Comparison(**row) for name, row in rows.items()})

    @contextmanager
    def adding(self) -> Generator[Callable[[str, Comparison], None]]:
        """Yield ``add(name, row)``; rows are written every :data:`SECONDS`, and at the
        end, also of an interrupted computation.
        """
        written = time.monotonic()

        def add(name: str, row: Comparison) -> None:
            nonlocal written
            self.rows[name] = row
            if time.monotonic() - written > SECONDS:
                self._write()
                written = time.monotonic()

        try:
            yield add
        finally:
            self._write()

    def _write(self) -> None:
        self.file.write(
            SCHEMA, {name: row.to_dict() for name, row in self.rows.items()}
        )


def _identity(run: Run) -> object:
    """Return the statistics that the rows depend on."""
    return [
        [
            r.metric,
            r.model,
            dict(r.decoding),
            r.statistics,
            r.higher_is_better,
            r.sizes,
            r.value,
        ]
        for r in run.records
    ]


@dataclass(frozen=True)
class RankedSystem:
    """One system of a metric's ranking."""

    system: str
    value: float
    letters: str
    """Systems of the metric that share a letter are not told apart."""
    wins: int
    """Pairs of this metric in which the system is significantly better."""
    losses: int
    leads: bool = False
    """True for the best system and for all that are not significantly worse:
    the values in bold.
    """


def rankings(rows: Sequence[Comparison]) -> dict[str, list[RankedSystem]]:
    """Return metric -> systems from the best value,
    with significance clusters at p_holm <= 0.05.

    Systems whose numbers do not compare (:attr:`Comparison.sizes_differ`) are ranked in
    separate groups, one after the other. Metrics without a direction, and groups of
    which some pair is not tested, have no ranking: their clusters would be incomplete.
    """
    by_metric: dict[str, list[Comparison]] = {}
    for row in rows:
        by_metric.setdefault(row.metric, []).append(row)
    ranked = {
        metric: [
            system
            for group in _comparable_groups(metric_rows)
            for system in _ranking(group)
        ]
        for metric, metric_rows in by_metric.items()
    }
    return {metric: systems for metric, systems in ranked.items() if systems}


def unranked_notes(rows: Sequence[Comparison], names: Mapping[str, str]) -> list[str]:
    """Return a line per system that some ranked metrics leave out, for its numbers
    compare with those of no other system.

    Parameters
    ----------
    rows : sequence of Comparison
        Comparisons with adjusted p-values.
    names : mapping
        Metric -> its name for people.
    """
    ranked = rankings(rows)
    left_out: dict[str, dict[str, None]] = {}
    for row in rows:
        placed = {item.system for item in ranked.get(row.metric, ())}
        for system in (row.system_a, row.system_b):
            if row.sizes_differ and placed and system not in placed:
                left_out.setdefault(system, {})[names[row.metric]] = None
    return [
        f"no letter for {system} in {', '.join(metrics)}: "
        "no other system has its set size or state, so the numbers do not compare "
        "(harness compare --equalise compares subsets of equal size)"
        for system, metrics in left_out.items()
    ]


def _comparable_groups(rows: Sequence[Comparison]) -> list[list[Comparison]]:
    """Return the rows of each group of systems whose numbers compare; a system that
    compares with no other has no group.
    """
    groups: list[set[str]] = []
    for row in rows:
        if not row.sizes_differ:
            pair = {row.system_a, row.system_b}
            joined = [group for group in groups if group & pair]
            groups = [group for group in groups if not group & pair] + [
                pair.union(*joined)
            ]
    return [
        [row for row in rows if row.system_a in group and row.system_b in group]
        for group in groups
    ]


def _ranking(rows: Sequence[Comparison]) -> list[RankedSystem]:
    direction = rows[0].higher_is_better
    values: dict[str, float] = {}
    for row in rows:
        if (
            row.p_holm is None
            or row.sizes_differ
            or direction is None
            or row.a is None
            or row.b is None
        ):
            return []
        values[row.system_a], values[row.system_b] = row.a, row.b
    if len(rows) != len(values) * (len(values) - 1) // 2:
        return []
    order = sorted(
        values, key=lambda name: -values[name] if direction else values[name]
    )
    rank = {name: index for index, name in enumerate(order)}
    apart = [row for row in rows if row.p_holm is not None and row.p_holm <= LEVEL]
    different = {(rank[row.system_a], rank[row.system_b]) for row in apart}
    worse = {index for pair in different if 0 in pair for index in pair} - {0}
    letters = cluster_letters(len(order), different)
    decided = [
        (row.system_a, row.system_b)
        if row.better == "A"
        else (row.system_b, row.system_a)
        for row in apart
        if row.better in ("A", "B")
    ]
    wins = [winner for winner, _ in decided]
    losses = [loser for _, loser in decided]
    return [
        RankedSystem(
            name,
            values[name],
            letters[index],
            wins.count(name),
            losses.count(name),
            index not in worse,
        )
        for index, name in enumerate(order)
    ]


@dataclass(frozen=True)
class DifferingExample:
    """An example with the captions and scores of two systems."""

    example: str
    score_a: float
    score_b: float
    candidates_a: tuple[str, ...]
    candidates_b: tuple[str, ...]
    references: tuple[str, ...]


def differing_most(pair: Pair, metric: str, count: int) -> list[DifferingExample]:
    """Return the examples with the largest absolute difference of their scores, largest
    first, in the order of the run for ties.
    """
    shared = [example for example in pair.a.examples if example in pair.b.row_of]
    rows = [
        [system.row_of[example] for example in shared] for system in (pair.a, pair.b)
    ]
    if any(metric not in system.table.metrics for system in (pair.a, pair.b)):
        return []
    x, y = (system.scores(metric)[at] for system, at in zip((pair.a, pair.b), rows))
    gap = np.nan_to_num(np.abs(x - y), nan=0.0)
    largest = [int(k) for k in np.argsort(-gap, kind="stable")[:count] if gap[k] > 0]
    # a log of scores has no captions
    if not largest or not any(pair.a.table.lists("candidates")):
        return []
    sets_a = pair.a.caption_sets()
    sets_b = pair.b.caption_sets()
    return [
        DifferingExample(
            shared[k],
            float(x[k]),
            float(y[k]),
            sets_a[rows[0][k]].candidates,
            sets_b[rows[1][k]].candidates,
            sets_a[rows[0][k]].references,
        )
        for k in largest
    ]
