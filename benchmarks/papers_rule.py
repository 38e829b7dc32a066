"""The rule by which an item of a paper agrees, differs or cannot be told, and standard
errors of averages of p-values.

A cell is one number of ours beside one published number. With d the difference, r the
rounding of the printed number, s the standard error of the difference and t the
tolerance of the item (``tolerance`` in
tasks/harness_tasks/studies/published/index.yaml):

- *differs*: |d| - r > z s;
- *agrees*: |d| - r <= z s and s <= t;
- *cannot tell*: |d| - r <= z s and s > t. The standard error falls with the square root
  of n, so that n (s / t)^2 examples would tell.

An item is its worst cell: it differs where one cell differs, agrees where all agree,
and cannot be told otherwise. Of cells without a true difference about one in 22 is more
than two standard errors away, so that by z = 2 an item of seven cells would differ by
chance in a quarter of the cases. z is therefore 2 for an item of one cell with a
standard error, and for k of them as large as makes the chance of the item the same
(Bonferroni: 2.72 for seven, 3.05 for twenty); the line states how many cells differ.
Numbers that do not depend on a sample have s = 0. Those of a stored
table (``table`` in the index) have no s: they differ where |d| > r + t, and a range of
ours agrees with all numbers within it. Items without printed numbers state a property
that holds or does not. An order of values is claimed only where every seed gives it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import NormalDist
from typing import Literal

import numpy as np

RESULTS = Path(__file__).resolve().parents[1] / "docs/studies/results"
"""Folder of the stored results."""
Verdict = Literal["agrees", "differs", "cannot tell"]
ERRORS = 2.0
"""Number of standard errors within which two numbers agree, for an item of one cell."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
DRAWS = 2000
"""Bootstrap draws of examples, or simulated samples."""


def log_harmonic_mean(p: np.ndarray) -> np.ndarray:
    """Return the logarithms of the harmonic means of p-values (..., n) over the last
    axis.
    """
    return -np.log((1.0 / p).mean(axis=-1))


AGGREGATIONS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "arithmetic mean": lambda p: p.mean(axis=-1),
    "log of the arithmetic mean": lambda p: np.log(p.mean(axis=-1)),
    "mean of logarithms": lambda p: np.log(p).mean(axis=-1),
    "harmonic mean": lambda p: np.exp(log_harmonic_mean(p)),
    "log of the harmonic mean": log_harmonic_mean,
}
"""Name of an aggregation -> function of p-values (..., n) over the last axis."""


@dataclass(frozen=True)
class Cell:
    """One number of ours beside a published one."""

    name: str
    """Row and column."""
    ours: float
    published: float
    error: float
    """Standard error of the difference; 0 for numbers that do not depend on a sample.
    """
    n: int
    """Number of examples of ours."""
    rounding: float = 0.0
    """Half of the last printed digit of the published number."""

    def verdict(self, tolerance: float, errors: float = ERRORS) -> Verdict:
        """Return the verdict under the tolerance of the item and the number of standard
        errors within which its numbers agree.
        """
        if (
            abs(self.ours - self.published) - self.rounding
            > errors * self.error + 1e-12
        ):
            return "differs"
        return "agrees" if self.error <= tolerance else "cannot tell"

    def examples_that_tell(self, tolerance: float) -> int:
        """Return the number of examples whose standard error is the tolerance."""
        return math.ceil(self.n * (self.error / tolerance) ** 2)


def errors_of(cells: Sequence[Cell]) -> float:
    """Return the number of standard errors within which the cells of an item agree.

    >>> [round(errors_of([Cell("a", 0, 0, 1.0, 9)] * k), 2) for k in (0, 1, 7)]
    [2.0, 2.0, 2.72]
    """
    count = max(sum(cell.error > 0 for cell in cells), 1)
    normal = NormalDist()
    chance = 2 * normal.cdf(-ERRORS)
    return -normal.inv_cdf(chance / count / 2)


def judge(cells: Sequence[Cell], tolerance: float) -> tuple[Verdict, Cell]:
    """Return the verdict of an item and the cell that decides it.

    This is the cell furthest from agreement in standard errors, or the one with the
    largest standard error where it cannot be told.

    Raises
    ------
    ValueError
        Without cells.

    Examples
    --------
    >>> judge(
    ...     [Cell("a", 0.50, 0.52, 0.01, 400), Cell("b", 0.50, 0.54, 0.03, 400)],
    ...     tolerance=0.02,
    ... )[0]
    'cannot tell'
    >>> judge(
    ...     [Cell("a", 0.50, 0.52, 0.01, 400), Cell("b", 0.50, 0.60, 0.03, 400)],
    ...     tolerance=0.02,
    ... )[1].name
    'b'
    """
    if not cells:
        raise ValueError("an item has at least one cell")
    errors = errors_of(cells)
    verdicts = [cell.verdict(tolerance, errors) for cell in cells]
    if "differs" in verdicts:
        return "differs", max(
            (cell for cell, found in zip(cells, verdicts) if found == "differs"),
            key=_distance,
        )
    if "cannot tell" in verdicts:
        return "cannot tell", max(cells, key=lambda cell: cell.error)
    return "agrees", max(cells, key=_distance)


def _distance(cell: Cell) -> float:
    return abs(cell.ours - cell.published) / max(cell.error, 1e-9)


def bootstrap_error(p: np.ndarray, aggregation: str, seed: int = 0) -> float:
    """Return the standard error of an aggregation of p-values (n,) under a bootstrap
    over examples.
    """
    draws = np.random.default_rng(seed).integers(0, len(p), (DRAWS, len(p)))
    return float(AGGREGATIONS[aggregation](p[draws]).std(ddof=1))


def exchangeable_moments(
    relabelings: int, n: int, aggregation: str, seed: int = 0
) -> tuple[float, float]:
    """Return the mean and the standard deviation of an aggregation over samples of n
    p-values of people against people without ties.

    Each p-value is k / relabelings with k uniform on 1 to ``relabelings``. Harmonic
    means are heavy-tailed, so that they are simulated at the size of the item and have
    no formula here: their limit for a large n is 1 / (1 + 1/2 + ... + 1/relabelings).
    """
    rng = np.random.default_rng(seed)
    values = [
        AGGREGATIONS[aggregation](rng.integers(1, relabelings + 1, n) / relabelings)
        for _ in range(DRAWS)
    ]
    return float(np.mean(values)), float(np.std(values, ddof=1))


def join_errors(error: float, n: int, published_n: int | None) -> float:
    """Return the standard error of the difference from a published number of
    ``published_n`` examples; None: one without an error.
    """
    return error if published_n is None else error * math.sqrt(1.0 + n / published_n)


def same_order(values_by_seed: Sequence[Mapping[str, float]]) -> tuple[str, ...] | None:
    """Return the names in ascending order of their values where every seed gives this
    order, else None.
    """
    orders = {
        tuple(sorted(values, key=values.__getitem__)) for values in values_by_seed
    }
    return orders.pop() if len(orders) == 1 else None


def read_cells(name: str, item: str, folder: Path = RESULTS) -> list[Cell]:
    """Return the cells of an item in the file of results ``name``, without variants;
    empty where there is no file.
    """
    file = folder / f"{name}.json"
    stored = (
        json.loads(file.read_text(encoding="utf-8"))["cells"] if file.is_file() else []
    )
    rows = [
        row
        for row in stored
        if row.get("item", item) == item and not row.get("variant")
    ]
    # A printed number loses its last zeros when it is read, so that the number of
    # digits is the largest of the item.
    rounding = min((printed_rounding(row["published"]) for row in rows), default=0.0)
    return [
        Cell(
            f"{row['row']}, {row['metric']}",
            row["ours"],
            row["published"],
            row["error"],
            row["n"],
            rounding,
        )
        for row in rows
    ]


def read_table(
    table: str, cells: str = "", tolerance: float = 0.0, folder: Path = RESULTS
) -> list[Cell]:
    """Return the cells of a stored table (``FILE/TABLE``),
    without standard errors and numbers of examples.

    The published number stands in the cell (``ours / published``), in the column
    *published*, or in the next row of this name. Of a range ``a … b`` of ours the
    nearest number counts. The tolerance is added to the rounding. ``cells`` is a
    regular expression of the names ``row, column``.
    """
    file, _, name = table.partition("/")
    stored = json.loads((folder / f"{file}.json").read_text(encoding="utf-8"))[
        "tables"
    ][name]

    heads: list[str] = stored["headers"][1:]
    found: list[tuple[str, str, str]] = []
    above: list[tuple[str, Sequence[str]]] = []
    block = ""

    for label, *texts in stored["rows"]:
        if label.startswith("**"):
            block = f"; {label.strip('*')}"
        elif label.startswith("published"):
            found += [
                (f"{row}, {head}", ours, theirs)
                for row, numbers in above
                for head, ours, theirs in zip(heads, numbers, texts)
            ]
            above = []
        else:
            above.append((label, texts))
            column = texts[heads.index("published")] if "published" in heads else ""
            for head, text in zip(heads, texts):
                ours, _, theirs = text.partition(" / ")
                found.append((f"{label}, {head}{block}", ours, theirs or column))

    out: list[Cell] = []
    for cell, ours, theirs in found:
        if (
            re.search(cells, cell)
            and _NUMBER.fullmatch(theirs)
            and (numbers := [float(number) for number in _NUMBER.findall(ours)])
        ):
            published = float(theirs)
            out.append(
                Cell(
                    cell,
                    min(max(published, min(numbers)), max(numbers)),
                    published,
                    0.0,
                    0,
                    tolerance + printed_rounding(published),
                )
            )

    return out


def printed_rounding(printed: float) -> float:
    """Return half of the last digit of a printed number.

    >>> printed_rounding(0.55), printed_rounding(7.5e-07)
    (0.005, 5e-09)
    """
    return 0.5 * 10.0 ** int(Decimal(repr(printed)).as_tuple().exponent)
