"""Tables of paired comparisons: a table per pair, a ranking per metric,
and all rows in one table for files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from harness.analysis.comparisons import Comparison
from harness.analysis.rankings import BOLD_NOTE, RankedSystem
from harness.analysis.slices import ADJUSTED
from harness.errors import counted
from harness.reporting.score_columns import SLICE_NOTE
from harness.reporting.table import (
    Table,
    heading,
    interval_text,
    number,
    p_text,
    shown_name,
)

HEADERS = (
    "metric",
    "A",
    "B",
    "A - B",
    "95 % interval",
    "p",
    "p Holm",
    "p BH",
    "sign p",
    "A>B/=/A<B",
    "better",
)
SHORT = ("metric", "A - B", "95 % interval", "p Holm", "verdict")
"""Columns of the terminal without ``--all``."""
ANYTIME = ("95 % sequence", "p anytime", "p signs")
"""Columns of ``--anytime``, before the verdict."""
LONGEST_VERDICT = 30
"""Longest label, in characters, that stands in the column of verdicts; of longer ones
the letter does, which the title explains.
"""
_FULL = (
    "metric",
    "system_a",
    "system_b",
    "a",
    "b",
    "difference",
    "low",
    "high",
    "p_value",
    "p_holm",
    "p_bh",
    "p_bootstrap",
    "sign_p_value",
    "a_larger",
    "ties",
    "b_larger",
    "n",
    "left_out",
    "better",
    "note",
)


def pair_tables(rows: Sequence[Comparison], *, full: bool = True) -> list[Table]:
    """Return a table per pair of systems, a row per metric (and slice); ``full`` False:
    no numbers of both systems.
    """
    grouped: dict[tuple[str, str], list[Comparison]] = {}
    for row in rows:
        grouped.setdefault((row.system_a, row.system_b), []).append(row)

    headers, cells, alignment = (
        (HEADERS, _cells, "lrrrrrrrrrl") if full else (SHORT, _short_cells, "lrrrl")
    )
    if len(grouped) == 1 and not full:  # of one pair there is nothing to adjust for
        headers = tuple("p" if header == "p Holm" else header for header in headers)
    if any(row.anytime for row in rows):
        headers = (*headers[:-1], *ANYTIME, headers[-1])
        alignment = f"{alignment[:-1]}rrr{alignment[-1]}"

    tables: list[Table] = []
    for (a, b), pair_rows in grouped.items():
        lines = [_with_sequence(cells(row), row) for row in pair_rows]
        title = f"A = {a}   B = {b}"
        table = Table(headers, lines, alignment, title, _notes(pair_rows))
        tables.append(_with_slices(table, pair_rows))
    return tables


def _with_slices(table: Table, rows: Sequence[Comparison]) -> Table:
    """Return a table of comparisons with a column of slices in front where there are
    some, and in its CSV.
    """
    if not any(row.slice for row in rows):
        return table

    names = [row.slice for row in rows]
    return replace(
        table,
        headers=["slice", *table.headers],
        rows=[[name, *cells] for name, cells in zip(names, table.rows)],
        alignment=f"l{table.alignment}",
        notes=[SLICE_NOTE, ADJUSTED, *table.notes],
        data=[[name, *values] for name, values in zip(["slice", *names], table.data)],
    )


def _with_sequence(cells: Sequence[str], row: Comparison) -> list[str]:
    """Return the cells of a row, with those of its confidence sequence before the last
    where there is one.
    """
    if row.anytime is None:
        return list(cells)

    look = row.anytime.last
    ends = (look.low, look.high) if look and isfinite(look.high) else None
    sequence = "not yet" if look and look.waits else interval_text(ends)
    p_values = (look.p_value if look else None, row.anytime.p_exchangeable)
    return [*cells[:-1], sequence, *map(p_text, p_values), cells[-1]]


def comparison_table(rows: Sequence[Comparison]) -> Table:
    """Return all comparisons as one table for Markdown, LaTeX and CSV (numbers in
    full), a row per pair and metric.
    """
    headers = list(HEADERS)
    cells = [_cells(row) for row in rows]
    alignment = "lrrrrrrrrrl"
    title = ""
    # one pair is named in the title, several in columns of their own
    if len({(row.system_a, row.system_b) for row in rows}) > 1:
        headers = ["system A", "system B", *headers]
        cells = [[row.system_a, row.system_b, *line] for row, line in zip(rows, cells)]
        alignment = f"ll{alignment}"
    elif rows:
        title = f"A = {rows[0].system_a}, B = {rows[0].system_b}"

    data = [list(_FULL), *([_full(row, name) for name in _FULL] for row in rows)]
    table = Table(headers, cells, alignment, title, _notes(rows), data=data)
    return _with_slices(table, rows)


def cluster_table(
    name: str, higher_is_better: bool | None, systems: Sequence[RankedSystem]
) -> Table:
    """Return the ranking of a metric; systems that share a letter are not told
    apart.
    """
    rows = [
        (
            item.system,
            number(item.value),
            item.letters,
            str(item.wins),
            str(item.losses),
        )
        for item in systems
    ]
    note = "systems that share a letter do not differ significantly (p Holm > 0.05)"
    return Table(
        ("system", "value", "cluster", "better than", "worse than"),
        rows,
        "lrlrr",
        heading(name, higher_is_better),
        (note, BOLD_NOTE),
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
        _better(row),
    ]


def _better(row: Comparison) -> str:
    """Return the better system by its label, by its letter where a label is too long
    for a column; or why there is none.
    """
    labels = {"A": row.system_a, "B": row.system_b}
    short = all(len(label) <= LONGEST_VERDICT for label in labels.values())
    return labels.get(row.better, row.better) if short else row.better


def _short_cells(row: Comparison) -> list[str]:
    cells = dict(zip(HEADERS, _cells(row)))
    word = " better" if row.better in ("A", "B") else ""
    return [*map(cells.__getitem__, SHORT[:-1]), cells["better"] + word]


def _full(row: Comparison, name: str) -> object:
    if name in ("low", "high"):
        return (row.ci95 or (None, None))[name == "high"]
    return getattr(row, name)


def _notes(rows: Sequence[Comparison]) -> list[str]:
    """Return notes on metrics that are not tested,
    and the number of examples and draws.
    """
    names: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.note:
            names.setdefault(row.note, {})[shown_name(row)] = None
    notes = [f"{', '.join(metrics)}: {note}" for note, metrics in names.items()]

    largest_count = max((row.left_out for row in rows), default=0)
    if largest_count:
        notes.append(
            f"up to {counted(largest_count, 'example', 'is/are')} missing or "
            "undefined for one system and left out"
        )

    sequences = dict.fromkeys(
        f"{shown_name(row)}: {row.anytime.note}" for row in rows if row.anytime
    )
    if sequences:
        notes.append(
            f"sequence: {'; '.join(sequences)}; "
            "p signs: exchangeable systems, not equal means"
        )

    sizes = sorted({row.n for row in rows})
    smallest = "" if len(sizes) == 1 else f"{sizes[0]:,} to "
    sentence = smallest + counted(sizes[-1], "example")
    draws = dict.fromkeys(
        f"{row.draws:,}{' (all patterns)' if row.exact else ''}"
        for row in rows
        if row.draws
    )
    if draws:
        sentence += f"; p: approximate randomisation, {' or '.join(draws)} draws"
    return [*notes, sentence]
