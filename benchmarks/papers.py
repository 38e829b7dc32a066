"""Every published item of the four papers, one line each: the spec that makes it, how
it compares, and the largest difference.

    python -m benchmarks.papers [--quick] [--runs FOLDER] [--page FILE]

An item *agrees*, *differs* (with the command that shows the cause) or *cannot be told*
(with the number that is missing). States are computed: those of items with printed
numbers from cells of stored results (docs/studies/results) by the rule of
:mod:`benchmarks.papers_rule`, those of statements by a function of stored results,
specs and printed numbers (:mod:`benchmarks.papers_stored`; ``papers_chan``,
``papers_tanti``, ``papers_li``, ``papers_a3ds``). What a person judged is marked
``judged`` in the index and counted apart. Items, specs and reasons are in
tasks/harness_tasks/studies/published/index.yaml, the published numbers beside it.

``--runs`` takes the numbers of finished runs, all run directories below a folder, in
place of the stored ones, ``--quick`` those of small runs made now: both can change a
state (:mod:`benchmarks.papers_fresh`).

The largest difference is that between a number of a study and the published one, in
absolute value. It is computed now where that takes seconds (the published table of
Tanti et al. needs HARNESS_DATA), measured in the runs, else it is that of the stored
results. ``--page`` writes the lines of the stored results and of the index as a
Markdown page, and measures nothing.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from benchmarks import papers_a3ds, papers_chan, papers_li, papers_tanti
from benchmarks.papers_rule import (
    RESULTS,
    Cell,
    errors_of,
    judge,
    read_cells,
    read_table,
)
from benchmarks.papers_stored import NOT_SHOWN, STATEMENTS, MissingResult, Stored
from harness import api
from harness.errors import HarnessError
from harness.reporting.table import number
from harness.reporting.views import view_table
from harness.run.finished import Run
from harness.spec.loading import load_specs
from harness.spec.published import EVERY, PublishedTable, authors_text, item_text

MODULES = (papers_a3ds, papers_chan, papers_li, papers_tanti)
"""Modules whose import registers the statements."""
FOLDER = Path(__file__).resolve().parents[1] / "tasks/harness_tasks/studies/published"
PENDING = "pending"
NO_DATA = (
    "HARNESS_DATA is not set: studies of real captions run on the shipped sample and "
    "are not compared with the papers; "
    "give the folder of the data sets, such as HARNESS_DATA=data"
)
KINDS = ("drawn", "definition", "property")
"""Items without printed numbers."""
HEAD = """\
# The four papers, item by item

Output of `python -m benchmarks.papers --page docs/studies/papers.md`: stored results
and the index, nothing is measured (`make docs` compares). The published numbers are
those of `tasks/harness_tasks/studies/published/`. `drawn`: the paper prints no numbers
for the figure. `definition`: the item defines or describes a setting. `property`: a
statement holds or does not. The study pages of this folder have the tables.

A number *agrees* where it is within two standard errors of the published one and its
standard error is at most the tolerance of the item; it *differs* beyond two standard
errors; *cannot tell*: within two standard errors, but the standard error is above the
tolerance. An item is its worst number, and the more numbers it has, the more standard
errors count as agreement, so that its chance of differing without a true difference is
that of one number (Bonferroni: 2.72 for seven). Numbers of stored tables have no
standard error: they differ beyond the rounding of the published one and the tolerance
of the item, which is 0 but for A3DS, whose games are drawn, and ranges where it is
outside. A statement is a list of comparisons of stored results, settings of specs and
printed numbers: it *agrees* where all of them hold and *differs* where one does not. An
order holds where the p of its paired test is below 0.05, or where it has no error; *not
shown* is one in the stated direction with a larger p, which more examples could show.
The last column is the command that shows the cause of a difference, or the experiments
that found none.
"""
STATES = ("agrees", "differs", "cannot tell")


@dataclass(frozen=True)
class Item:
    """One published table, figure or passage."""

    paper: str
    """Name of the file of the paper."""
    id: str
    """Id in that file."""
    source: str
    """Name in views: authors, year and number."""
    spec: str
    """Task that makes it."""
    because: str
    """Reason, or the property in which they agree."""
    kind: str = ""
    """drawn, definition or property, of an item without printed numbers (``HEAD``)."""
    table: str = ""
    """Stored table with published numbers beside ours, as FILE/TABLE, whose cells
    decide; without standard errors.
    """
    cells: str = ""
    """Regular expression of the names of those cells of the table that belong to the
    item.
    """
    judged: str = ""
    """agrees, differs or cannot tell, where a person judged; empty where cells or a
    statement decide.
    """
    shows: str = ""
    """Command that shows the cause of a difference."""
    results: str = ""
    """File of stored results with the cells of the item."""
    tolerance: float = 0.0
    """Largest standard error with which the item agrees; of a stored table, the largest
    difference (:mod:`benchmarks.papers_rule`).
    """
    published_n: int | None = None
    """Number of examples of the published numbers, where the paper prints it."""

    @property
    def has_numbers(self) -> bool:
        """True where cells beside printed numbers decide."""
        return bool(self.results or self.table)


def largest_difference(
    rows: Sequence[tuple[str, Sequence[float]]],
    heads: Sequence[str],
    table: PublishedTable,
    task: str,
) -> tuple[float, str, str]:
    """Return the largest absolute difference between ours and theirs, with its row and
    column; NaN where nothing can be compared.
    """
    differences = [
        (abs(value - published_value), label, head)
        for label, values in rows
        for row in table.rows
        if row.label in (label, EVERY) and row.task in (None, task)
        for value, head in zip(values, heads)
        if isinstance(published_value := row.values.get(head), float)
        and not math.isnan(value)
    ]
    return max(differences, default=(math.nan, "", ""))


def items() -> list[Item]:
    """Return all items of the papers; raise SystemExit where the index and the papers'
    files differ.
    """
    index = yaml.safe_load((FOLDER / "index.yaml").read_text(encoding="utf-8"))["items"]
    out: list[Item] = []
    for paper, entries in index.items():
        data = yaml.safe_load((FOLDER / f"{paper}.yaml").read_text(encoding="utf-8"))
        published = {str(item["id"]): item for item in data["items"]}
        if list(published) != list(entries):
            missing = sorted(set(published) ^ set(entries)) or ["another order"]
            raise SystemExit(
                f"index.yaml and {paper}.yaml differ: {', '.join(missing)}"
            )
        who = authors_text(data["paper"])
        out += [
            Item(paper, name, f"{who}, {item_text(published[name])}", **entry)
            for name, entry in entries.items()
        ]
    return out


def quick_runs(folder: Path) -> Iterable[Run]:
    """Yield the runs of the specs that the index lists for --quick; a spec that cannot
    be run is reported on standard error.
    """
    sizes = yaml.safe_load((FOLDER / "index.yaml").read_text(encoding="utf-8"))["quick"]
    for spec, limit in sizes.items():
        print(f"running {spec}, {limit or 'all'} examples", file=sys.stderr, flush=True)
        overrides = ["bootstrap.samples=0"]
        try:
            yield from api.evaluate_all(
                spec,
                output=folder / spec.replace("/", "-"),
                overrides=overrides,
                limit=limit,
            )
        except HarnessError as error:
            print(error, file=sys.stderr, flush=True)


def finished_runs(folder: Path) -> Iterable[Run]:
    """Yield the finished runs below a folder."""
    for results in sorted(folder.rglob("results.json")):
        yield Run.open(results.parent)


def differences(runs: Iterable[Run]) -> dict[str, str]:
    """Return source -> largest difference of the runs' views, with its row,
    column and number of examples.
    """
    best: dict[str, tuple[float, str]] = {}
    for run in runs:
        for view in run.provenance.views:
            table = view.reference
            if (
                view.plot != "table"
                or not isinstance(table, PublishedTable)
                or not run.records
            ):
                continue
            bare = view_table(view.model_copy(update={"reference": {}}), run.records)
            rows = [
                (str(label), [float(str(value) or "nan") for value in values])
                for label, *values in bare.data[1:]
            ]
            value, row, column = largest_difference(
                rows, list(map(str, bare.data[0][1:])), table, run.provenance.task
            )
            if math.isnan(value) or value <= best.get(table.source, (-1.0, ""))[0]:
                continue
            count = max(record.n for record in run.records)
            best[table.source] = (
                value,
                f"{number(value)} ({row}, {column}; {count:,} examples)",
            )
    return {source: text for source, (_, text) in best.items()}


def computed(entries: list[Item]) -> dict[str, str]:
    """Return source -> difference of the items that are computed without a study."""
    from benchmarks.papers_checks import all_checks

    data = os.environ.get("HARNESS_DATA")
    checks = all_checks(FOLDER, Path(data) if data else None)
    return {
        item.source: checks[item.paper, item.id]
        for item in entries
        if (item.paper, item.id) in checks
    }


def cells_of(item: Item, stored: Stored) -> list[Cell]:
    """Return the numbers of an item beside the published ones; none for a statement."""
    if item.table:
        return read_table(item.table, item.cells, item.tolerance, stored.folder)
    return read_cells(item.results, item.id, stored.folder) if item.results else []


def compare(item: Item, stored: Stored | None = None) -> tuple[str, str]:
    """Return the state of an item and the numbers that decide it; those are empty for
    an item that a person judged.
    """
    stored = stored or Stored()
    if item.judged:
        return item.judged, ""
    if not item.has_numbers:
        try:
            found = STATEMENTS[item.paper, item.id](stored)
        except MissingResult as error:
            return "cannot tell", f"missing: {error}"
        return found.state, found.numbers

    cells = cells_of(item, stored)
    if not cells:
        return "cannot tell", f"no results are stored; {item.shows} measures them"
    return compare_numbers(item, cells)


def compare_numbers(item: Item, cells: Sequence[Cell]) -> tuple[str, str]:
    """Return the state of an item with cells, and the number furthest away."""
    state, cell = judge(cells, item.tolerance)
    numbers = (
        f"{cell.name}: {cell.ours:.4g}"
        + (f" ± {cell.error:.2g}" if cell.error else "")
        + f", published {cell.published:g}"
    )
    if state == "differs":
        errors = errors_of(cells)
        count = sum(each.verdict(item.tolerance, errors) == "differs" for each in cells)
        return state, f"{count} of {len(cells)} numbers differ, the furthest {numbers}"
    if state == "cannot tell":
        examples = cell.examples_that_tell(item.tolerance)
        return state, f"{numbers}; {examples:,} examples would tell"
    if len(cells) > 1:
        return state, f"{len(cells)} numbers agree, the furthest {numbers}"
    return state, numbers


def largest_stored(item: Item, stored: Stored) -> str:
    """Return the largest difference of the stored results of an item, with its row; its
    kind where no number is printed.
    """
    if item.kind:
        return item.kind
    if not (cells := cells_of(item, stored)):
        return PENDING
    cell = max(cells, key=lambda cell: abs(cell.ours - cell.published))
    return f"{number(abs(cell.ours - cell.published))} ({cell.name}" + (
        f"; {cell.n:,} examples)" if cell.n else ")"
    )


@dataclass(frozen=True)
class Line:
    """One item with its state."""

    item: Item
    state: str
    comparison: str
    """Numbers and reason."""
    largest: str
    """Largest difference."""

    def texts(self) -> list[str]:
        """Return paper, id, spec, comparison, largest difference and command."""
        command = f"`{self.item.shows}`" if self.state == "differs" else ""
        comparison = f"{self.state}: {self.comparison}"
        return [
            self.item.paper,
            self.item.id,
            self.item.spec,
            comparison.replace("|", "\\|"),
            self.largest.replace("|", "\\|"),
            command,
        ]


def lines(
    entries: list[Item], measured: dict[str, str], stored: Stored | None = None
) -> list[Line]:
    """Return the line of every item, from stored results."""
    stored = stored or Stored()
    out: list[Line] = []
    for item in entries:
        load_specs(item.spec)
        state, numbers = compare(item, stored)
        text = "; ".join(filter(None, [numbers, item.because]))
        largest = measured.get(item.source) or largest_stored(item, stored)
        out.append(Line(item, state, text, largest))
    return out


def page(rows: list[Line]) -> str:
    """Return the lines as a Markdown page."""
    heads = ["paper", "item", "spec", "comparison", "largest difference", "shown by"]
    body = [
        "| " + " | ".join(row) + " |"
        for row in [heads, ["---"] * len(heads), *(line.texts() for line in rows)]
    ]
    return f"{HEAD}\n{summary(rows)}\n\n" + "\n".join(body) + "\n"


def summary(rows: list[Line]) -> str:
    """Return how many items agree, those that numbers decide, statements and those
    that a person judged apart.
    """
    numbers = [line for line in rows if line.item.has_numbers]
    judged = [line for line in rows if line.item.judged]
    statements = [
        line for line in rows if not line.item.has_numbers and not line.item.judged
    ]

    def count(group: list[Line], state: str) -> int:
        return sum(line.state == state for line in group)

    # orders in the stated direction that the stored results do not show
    unshown = sum(
        line.state == "differs" and line.comparison.startswith(NOT_SHOWN)
        for line in rows
    )
    return (
        f"{count(numbers, 'agrees')} of {len(numbers)} items decided by printed "
        f"numbers agree; {count(statements, 'agrees')} of {len(statements)} "
        f"statements; {len(judged)} by judgment. Of all {len(rows)} items "
        f"{count(rows, 'differs')} differ, {unshown} of them by orders that are not "
        f"shown alone, and {count(rows, 'cannot tell')} cannot be told."
    )


def main() -> None:
    """Print one line per item."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run the studies that have printed numbers on few examples",
    )
    parser.add_argument(
        "--runs",
        type=Path,
        metavar="FOLDER",
        help="folder with finished runs to measure",
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="Markdown page to write"
    )
    args = parser.parse_args()

    entries = items()
    if args.page:
        args.page.write_text(page(lines(entries, {})), encoding="utf-8")
        return
    if args.quick and not os.environ.get("HARNESS_DATA"):
        print(NO_DATA, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = [*finished_runs(args.runs)] if args.runs else []
        if args.quick:
            runs += quick_runs(folder / "runs")
        stored = Stored(fresh_folder(runs, folder / "results") if runs else RESULTS)
        rows = lines(entries, computed(entries) | differences(runs), stored)

    texts = [line.texts() for line in rows]
    width = [max(len(row[k]) for row in texts) for k in range(3)]
    for row in texts:
        start = "  ".join(text.ljust(size) for text, size in zip(row, width))
        print(
            f"{start}  {row[3]}  [largest difference: {row[4]}]"
            + (f"  [shown by {row[5]}]" if row[5] else "")
        )
    print(summary(rows))


def fresh_folder(runs: Sequence[Run], folder: Path) -> Path:
    """Return a folder with the results of runs in place of the stored ones, and name
    them on standard error.
    """
    from benchmarks.papers_fresh import fresh_results

    replaced = fresh_results(runs, folder)
    names = ", ".join(replaced) or "none: no run is that of a study with stored results"
    print(f"results of runs: {names}", file=sys.stderr, flush=True)
    return folder


if __name__ == "__main__":
    main()
