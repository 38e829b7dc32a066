"""Rankings, comparisons, and the examples on which two systems differ most, as
``harness compare`` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.analysis.comparisons import Comparisons
from harness.analysis.differing_examples import DifferingExample
from harness.analysis.rankings import rankings, unranked_notes
from harness.errors import one_line
from harness.registry.display_names import is_percent
from harness.reporting.comparison_tables import cluster_table, pair_tables
from harness.reporting.percent import percent_comparisons, percent_note
from harness.reporting.table import Percent, Table, number, shown_name

MAX_PAIRS = 10
"""Number of pairs that are printed unless all are asked for."""


def comparison_blocks(
    rows: Comparisons,
    *,
    full: bool = False,
    all_pairs: bool = False,
    percent: bool = False,
) -> Iterator[Table | str]:
    """Yield rankings, comparisons, notes and examples.

    Parameters
    ----------
    rows : Comparisons
        The comparisons.
    full : bool
        All columns.
    all_pairs : bool
        All pairs of systems, where there are more than :data:`MAX_PAIRS` too.
    percent : bool
        Values times 100 of the metrics that are reported so.
    """
    if percent:
        rows = _times_100(rows)
    pairs = pair_tables(rows, full=full)
    few = len(pairs) <= MAX_PAIRS or all_pairs
    headings = {row.metric: (shown_name(row), row.higher_is_better) for row in rows}
    ranked: list[Table] = []
    if len(pairs) > 1:  # the ranking of two systems is their comparison
        ranked = [
            cluster_table(*headings[metric], systems)
            for metric, systems in rows.clusters.items()
        ]
    for tables in (ranked, pairs if few else []):
        for table, following in zip(tables, [*tables[1:], None]):
            # Notes that the next table has too stand below the last one alone.
            if following and following.notes == table.notes:
                table = replace(table, notes=())
            yield table
            yield ""

    if ranked:
        yield from unranked_notes(
            rows, {name: text for name, (text, _) in headings.items()}
        )
    if not few:
        yield (
            f"{len(pairs)} pairs of systems; --pairs prints each of them, "
            "--json has all numbers"
        )
    differences = [row.difference for row in rows if row.difference is not None]
    if differences and not any(differences):
        yield "All differences are 0: the systems have the same numbers."
    if percent:
        yield percent_note(rows)
    yield from rows.notes
    for sentence in rows[0].forced:
        yield f"--force: {sentence}"
    if rows.examples:
        yield from _example_lines(rows)


def _times_100(rows: Comparisons) -> Comparisons:
    """Return comparisons with the numbers of ``--percent``, those of the examples
    too.
    """
    examples: Sequence[DifferingExample] = rows.examples
    if is_percent(rows[0].metric):
        examples = [
            replace(
                item,
                score_a=Percent.of(item.score_a),
                score_b=Percent.of(item.score_b),
            )
            for item in examples
        ]
    scaled = percent_comparisons(rows)
    clusters = rankings(scaled) if rows.clusters else None
    return Comparisons(scaled, rows.notes, clusters, examples)


def _example_lines(rows: Comparisons) -> Iterator[str]:
    """Yield captions and scores of the examples on which the systems differ most."""
    row = rows[0]
    yield f"Largest differences of {shown_name(row)}:"
    for item in rows.examples:
        yield one_line(item.example)
        for name, score, texts in (
            (row.system_a, item.score_a, item.candidates_a),
            (row.system_b, item.score_b, item.candidates_b),
        ):
            captions = " | ".join(map(one_line, texts[:3]))
            yield f"  {one_line(name)}  {number(score)}  {captions}"
        references = " | ".join(map(one_line, item.references[:3]))
        yield f"  references  {references}"
