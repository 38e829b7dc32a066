"""Stored results, settings of the specs and printed numbers, as the statements of
papers read them; what a statement finds.

A statement of a paper is a list of *clauses*, each a comparison of numbers. It agrees
where all of its clauses hold and differs where one does not. A clause about an order
holds where the difference has the stated sign and the p of its paired test is below
:data:`LEVEL`, or where the order has no error: exact values and orders that every one
of several repetitions gives. With the stated sign and a larger p it is *not shown*: the
item differs from the paper, which states the order, but more examples could show it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from benchmarks.papers_rule import RESULTS, Verdict

TASKS = Path(__file__).resolve().parents[1] / "tasks/harness_tasks"
PUBLISHED = TASKS / "studies/published"
LEVEL = 0.05
"""Largest p of a paired test with which an order holds."""
NOT_SHOWN = "not shown"
"""Name of the clauses about orders that their tests do not show."""
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


class MissingResult(LookupError):
    """A statement needs a number that is not stored."""


@dataclass(frozen=True)
class Finding:
    """State of an item with the numbers that decide it."""

    state: Verdict
    numbers: str


@dataclass(frozen=True)
class Clause:
    """One comparison of a statement."""

    text: str
    """What is compared, with its numbers."""
    holds: bool
    open: bool = False
    """True for an order in the stated direction that its test does not show."""


@dataclass(frozen=True)
class Test:
    """Difference of two systems with the p of its paired test."""

    difference: float
    p: float


def numbers_of(text: str) -> list[float]:
    """Return the numbers of a cell in their order.

    >>> numbers_of("**-0.053**, 1e-05"), numbers_of("0.2 (0.1 … 0.3)")
    ([-0.053, 1e-05], [0.2, 0.1, 0.3])
    """
    plain = text.replace("−", "-").replace(",", " , ")
    return [float(number) for number in _NUMBER.findall(plain)]


@dataclass(frozen=True)
class StoredTable:
    """A table of stored results by row and column."""

    name: str
    headers: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]
    """Name of a row -> texts; rows below a line in bold have its name before theirs."""

    def text(self, row: str, column: str) -> str:
        """Return the text of a cell; raise :class:`MissingResult` for none."""
        if row not in self.rows or column not in self.headers:
            raise MissingResult(f"{self.name} has no '{row}', '{column}'")
        return self.rows[row][self.headers.index(column)].strip("*")

    def numbers(self, row: str, column: str) -> list[float]:
        """Return the numbers of a cell; raise :class:`MissingResult` for none."""
        found = numbers_of(self.text(row, column))
        if not found:
            raise MissingResult(f"{self.name}: '{row}', '{column}' holds no number")
        return found

    def number(self, row: str, column: str) -> float:
        """Return the first number of a cell."""
        return self.numbers(row, column)[0]

    def row(self, row: str) -> list[float]:
        """Return the first numbers of the cells of a row, without empty ones."""
        if row not in self.rows:
            raise MissingResult(f"{self.name} has no '{row}'")
        return [found[0] for text in self.rows[row] if (found := numbers_of(text))]

    def test(self, row: str, column: str) -> Test:
        """Return a cell of the form ``difference, p``."""
        difference, p = self.numbers(row, column)
        return Test(difference, p)


@dataclass(frozen=True)
class Stored:
    """A folder of stored results."""

    folder: Path = RESULTS

    @cached_property
    def _files(self) -> dict[str, Any]:
        return {}

    def file(self, name: str) -> dict[str, Any]:
        """Return the content of a file; raise :class:`MissingResult` without one."""
        path = self.folder / f"{name}.json"
        if name not in self._files:
            if not path.is_file():
                raise MissingResult(f"no results are stored: {name}.json")
            self._files[name] = json.loads(path.read_text(encoding="utf-8"))
        return self._files[name]

    def table(self, path: str) -> StoredTable:
        """Return a table, as FILE/TABLE."""
        file, _, name = path.partition("/")
        tables = self.file(file)["tables"]
        if name not in tables:
            raise MissingResult(f"{file}.json has no table {name}")
        rows: dict[str, tuple[str, ...]] = {}
        block = ""
        for label, *texts in tables[name]["rows"]:
            if label.startswith("**") and not any(texts):
                block = label.strip("*")
            else:
                key = label.strip("*")
                rows[f"{block}: {key}" if block else key] = tuple(texts)
        return StoredTable(path, tuple(tables[name]["headers"][1:]), rows)

    def cells(self, name: str) -> list[dict[str, Any]]:
        """Return the cells of a file, without variants."""
        return [cell for cell in self.file(name)["cells"] if not cell.get("variant")]


Statement = Callable[[Stored], Finding]
STATEMENTS: dict[tuple[str, str], Statement] = {}
"""(paper, id of the item) -> its statement."""


def statement(paper: str, *items: str) -> Callable[[Statement], Statement]:
    """Register a function as the statement of items of a paper."""

    def register(function: Statement) -> Statement:
        for item in items:
            if (paper, item) in STATEMENTS:
                raise ValueError(f"{paper}, {item} has two statements")
            STATEMENTS[paper, item] = function
        return function

    return register


def decide(*clauses: Clause) -> Finding:
    """Return the finding of clauses: those that do not hold stand first, then those
    that are not shown.

    >>> decide(Clause("1 < 2", True), Clause("3 < 2", False))
    Finding(state='differs', numbers='does not hold: 3 < 2; holds: 1 < 2')
    """
    groups = {
        "does not hold": [c.text for c in clauses if not c.holds and not c.open],
        NOT_SHOWN: [c.text for c in clauses if not c.holds and c.open],
        "holds": [c.text for c in clauses if c.holds],
    }
    state: Verdict = "agrees" if all(c.holds for c in clauses) else "differs"
    texts = [f"{name}: {'; '.join(group)}" for name, group in groups.items() if group]
    return Finding(state, "; ".join(texts))


def cannot_tell(missing: str, *clauses: Clause) -> Finding:
    """Return the finding of an item for which a number is missing, with the clauses
    that can be decided.
    """
    decided = "".join(
        f"; {'holds' if each.holds else 'does not hold'}: {each.text}"
        for each in clauses
    )
    return Finding("cannot tell", f"missing: {missing}{decided}")


def same(name: str, ours: Any, theirs: Any) -> Clause:
    """Return the clause that a setting is the published one."""
    return Clause(f"{name} {ours} (published {theirs})", ours == theirs)


def near(name: str, ours: float, theirs: float, tolerance: float) -> Clause:
    """Return the clause that a number is within a tolerance of another."""
    return Clause(
        f"{name} {ours:.4g}, expected {theirs:.4g}", abs(ours - theirs) <= tolerance
    )


def less(name: str, ours: float, other: str, theirs: float) -> Clause:
    """Return the clause that a number without an error is below another."""
    return Clause(f"{name} {ours:.4g} < {other} {theirs:.4g}", ours < theirs)


def shown(name: str, test: Test, sign: int) -> Clause:
    """Return the clause that a difference has a sign, with a paired test."""
    return Clause(
        f"{name} {'above' if sign > 0 else 'below'} 0: {test.difference:+.3f}, "
        f"p {test.p:.2g}",
        test.difference * sign > 0 and test.p < LEVEL,
        open=test.difference * sign > 0,
    )


def monotone(name: str, values: list[float], sign: int) -> Clause:
    """Return the clause that values rise (1) or fall (-1) along a row."""
    steps = [sign * (b - a) for a, b in itertools.pairwise(values)]
    return Clause(
        f"{name} {'rises' if sign > 0 else 'falls'} at {sum(s > 0 for s in steps)} of "
        f"{len(steps)} steps",
        all(step > 0 for step in steps),
    )


@cache
def settings(path: str) -> dict[str, Any]:
    """Return the content of a spec or recipe below the folder of tasks, as written."""
    return yaml.safe_load((TASKS / path).read_text(encoding="utf-8"))


@cache
def printed_items(paper: str) -> dict[str, dict[str, Any]]:
    """Return the items of the file of a paper."""
    text = (PUBLISHED / f"{paper}.yaml").read_text(encoding="utf-8")
    return {str(item["id"]): item for item in yaml.safe_load(text)["items"]}


def printed(paper: str, item: str, column: str = "value", **labels: str) -> Any:
    """Return a printed value; raise KeyError unless one row has the labels.

    >>> printed("tanti2018", "text-1", quantity="beam width")
    1
    """
    rows = [
        row
        for row in printed_items(paper)[item]["rows"]
        if all(row[name] == value for name, value in labels.items())
    ]
    if len(rows) != 1:
        raise KeyError(f"{paper}, {item}: {len(rows)} rows have {labels}")
    value = rows[0][column]
    return value["value"] if isinstance(value, dict) and "value" in value else value
