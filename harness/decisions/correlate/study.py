"""A correlation study: coefficients of two groups of columns, as tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from harness.contracts import Values, VerbResult
from harness.decisions.correlate.column_table import ColumnTable
from harness.errors import counted
from harness.reporting.table import Table, p_text
from harness.stats.correlation import CorrelationTable

ALL = "all"
"""Group of all rows."""
SortKey = Literal["r2", "r", "spearman", "kendall", "name"]


@dataclass(frozen=True, eq=False)
class Study(VerbResult):
    """Correlations of every x column with every y column in every group of rows;
    the group ``all`` is last.
    """

    ROWS = "correlations"

    source: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    tables: Mapping[str, CorrelationTable]
    """Group -> coefficients, each of shape (len(x), len(y))."""
    dropped: Mapping[str, str] = field(default_factory=dict[str, str])
    """x column -> reason why it was dropped, such as ``inf in mscoco``."""
    left_out: int = 0
    """Number of rows with an empty cell in a selected column."""
    by: str | None = None
    """Column of the groups."""
    table: ColumnTable | None = None
    """The columns that were correlated."""
    sort: SortKey = "r2"
    """Order of the x columns."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, ``all`` last."""
        return tuple(self.tables)

    @property
    def correlations(self) -> list[Values]:
        """All coefficients, the best x columns of each y first."""
        return self.records()

    def to_dict(self, top: int | None = None) -> Values:
        """Return source, groups and coefficients, of the ``top`` best x columns of each
        y.
        """
        return {
            "source": self.source,
            "by": self.by,
            "groups": self.groups,
            "correlations": self.records(top),
            "dropped": self.dropped,
            "left_out": self.left_out,
        }

    def blocks(
        self, top: int | None = None, baseline: str | None = None
    ) -> Iterator[Table | str]:
        """Yield one table per y: its ``top`` best x columns, and the column
        ``baseline``, with pooled coefficients, then R² within each group.
        """
        inner = [group for group in self.groups if group != ALL]
        sizes = ", ".join(f"{group} {self.tables[group].n}" for group in self.groups)
        yield (
            f"{self.source}: {counted(len(self.x), 'column')} against {len(self.y)}; "
            f"rows: {sizes}"
        )
        if self.left_out:
            yield (
                f"{counted(self.left_out, 'row')} left out: "
                "a selected column is missing there"
            )
        if self.dropped:
            yield (
                f"{counted(len(self.dropped), 'column')} dropped: "
                f"{_count_reasons(list(self.dropped.values()))}"
            )
        for y in self.y:
            names = self.best(y, top)
            if baseline is not None and baseline in self.x and baseline not in names:
                names.append(baseline)
            yield ""
            yield self._table(y, names, inner)
            if not names:
                yield "no column has a defined correlation"

    def _table(self, y: str, names: Sequence[str], inner: Sequence[str]) -> Table:
        """Return the coefficients of some x columns with one y."""
        rows: list[list[str]] = []
        for name in names:
            row = self.record(name, y)
            of_groups = [self.record(name, y, group)["r2"] for group in inner]
            rows.append(
                [
                    name,
                    _four_digits(row["r2"]),
                    _four_digits(row["r"]),
                    p_text(row["p"]),
                    _four_digits(row["spearman"]),
                    _four_digits(row["kendall"]),
                    *map(_four_digits, of_groups),
                ]
            )
        of_inner = [f"R² {group}" for group in inner]
        headers = [y, "R²", "r", "p", "Spearman", "Kendall", *of_inner]
        return Table(headers, rows, "l" + "r" * (len(headers) - 1))

    def record(self, x: str, y: str, group: str = ALL) -> Values:
        """Return all coefficients of one pair of columns in one group;
        None where undefined.
        """
        table = self.tables[group]
        at = (self.x.index(x), self.y.index(y))
        values = {
            "r": table.r,
            "r2": table.r2,
            "p": table.p,
            "spearman": table.spearman,
            "kendall": table.kendall,
        }

        numbers = {
            name: None if np.isnan(array[at]) else float(array[at])
            for name, array in values.items()
        }
        return {"x": x, "y": y, "group": group, "n": table.n, **numbers}

    def best(self, y: str, count: int | None = None, group: str = ALL) -> list[str]:
        """Return the x columns other than ``y``, ordered by :attr:`sort`, without
        undefined ones; ties keep the order of columns.

        Coefficients are ordered by their size, the largest first.
        """
        table = self.tables[group]
        at = self.y.index(y)
        key = table.r2 if self.sort == "name" else getattr(table, self.sort)
        size = np.abs(key[:, at])
        order = np.argsort(np.where(np.isnan(size), np.inf, -size), kind="stable")
        names = [
            self.x[int(k)]
            for k in order
            if not np.isnan(size[k]) and self.x[int(k)] != y
        ]
        return (sorted(names) if self.sort == "name" else names)[:count]

    def records(self, count: int | None = None) -> list[Values]:
        """Return the coefficients of every y with its best ``count`` x columns (None:
        all), in every group.
        """
        return [
            self.record(x, y, group)
            for y in self.y
            for x in self.best(y, count)
            for group in self.groups
        ]


def _four_digits(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 4) + 0.0:.4f}"  # no -0.0000


def _count_reasons(reasons: list[str]) -> str:
    return ", ".join(
        f"{reasons.count(reason)} {reason}" for reason in dict.fromkeys(reasons)
    )
