"""Tables of paired comparisons: a table per pair, a ranking per metric, and all rows in one table for files."""

from __future__ import annotations

from collections.abc import Sequence

from harness.analysis.clusters import BOLD_NOTE, RankedSystem
from harness.analysis.comparisons import Comparison
from harness.reporting.metric_labels import shown_name
from harness.reporting.table import Table, heading, interval_text, number, p_text

HEADERS = ("metric", "A", "B", "A - B", "95 % interval", "p", "p Holm", "p BH", "sign p", "A>B/=/A<B", "better")
_FULL = (
    "metric", "system_a", "system_b", "a", "b", "difference", "low", "high", "p_value", "p_holm", "p_bh", "p_bootstrap",
    "sign_p_value", "a_larger", "ties", "b_larger", "n", "left_out", "better", "note",
)  # fmt: skip


def pair_tables(rows: Sequence[Comparison]) -> list[Table]:
    """Return a table per pair of systems, a row per metric."""
    grouped: dict[tuple[str, str], list[Comparison]] = {}
    for row in rows:
        grouped.setdefault((row.system_a, row.system_b), []).append(row)
    return [
        Table(HEADERS, [_cells(row) for row in pair_rows], "lrrrrrrrrrl", f"A = {a}   B = {b}", _notes(pair_rows))
        for (a, b), pair_rows in grouped.items()
    ]


def comparison_table(rows: Sequence[Comparison]) -> Table:
    """Return all comparisons as one table for Markdown, LaTeX and CSV (numbers in full), a row per pair and metric."""
    systems = len({(row.system_a, row.system_b) for row in rows}) > 1
    title = "" if systems or not rows else f"A = {rows[0].system_a}, B = {rows[0].system_b}"
    cells = [[*((row.system_a, row.system_b) if systems else ()), *_cells(row)] for row in rows]
    headers = [*(("system A", "system B") if systems else ()), *HEADERS]
    alignment = ("ll" if systems else "") + "lrrrrrrrrrl"
    data = [list(_FULL), *([_full(row, name) for name in _FULL] for row in rows)]
    return Table(headers, cells, alignment, title, _notes(rows), data=data)


def cluster_table(name: str, systems: Sequence[RankedSystem], higher_is_better: bool | None) -> Table:
    """Return the ranking of a metric; systems that share a letter are not told apart."""
    return Table(
        ("system", "value", "cluster", "better than", "worse than"),
        [(item.system, number(item.value), item.letters, str(item.wins), str(item.losses)) for item in systems],
        "lrlrr",
        heading(name, higher_is_better),
        ("systems that share a letter do not differ significantly (p Holm > 0.05)", BOLD_NOTE),
        frozenset((index, 1) for index, item in enumerate(systems) if item.leads),
    )


def _cells(row: Comparison) -> list[str]:
    tested = row.sign_p_value is not None
    return [
        heading(row.metric, row.higher_is_better, row.signature),
        *map(number, (row.a, row.b, row.difference)),
        interval_text(row.ci95),
        *map(p_text, (row.p_value, row.p_holm, row.p_bh, row.sign_p_value)),
        f"{row.a_larger}/{row.ties}/{row.b_larger}" if tested else "–",
        str({"A": row.system_a, "B": row.system_b}.get(row.better, row.better)),
    ]


def _full(row: Comparison, name: str) -> object:
    if name in ("low", "high"):
        return (row.ci95 or (None, None))[name == "high"]
    return getattr(row, name)


def _notes(rows: Sequence[Comparison]) -> list[str]:
    """Return notes on metrics that are not tested, and the number of examples and draws."""
    notes = [
        f"{', '.join(dict.fromkeys(shown_name(row) for row in rows if row.note == note))}: {note}"
        for note in dict.fromkeys(row.note for row in rows if row.note)
    ]
    draws = dict.fromkeys(f"{row.draws:,}{' (all patterns)' if row.exact else ''}" for row in rows if row.draws)
    sizes = sorted({row.n for row in rows})
    examples = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    tests = f"; p: approximate randomisation, {' or '.join(draws)} draws" if draws else ""
    largest_count = max((row.left_out for row in rows), default=0)
    missing = [f"up to {largest_count} examples are missing or undefined for one system and are left out"] if largest_count else []
    return [*notes, *missing, f"{examples} examples{tests}"]
