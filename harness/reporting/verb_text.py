"""Results of verbs as text and as HTML."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable
from functools import singledispatch

from harness.contracts import VerbResult
from harness.reporting.blocks import print_blocks
from harness.reporting.formats.terminal import console_for_tables
from harness.reporting.formats.web import to_html
from harness.reporting.table import Table
from harness.results import Comparisons, Run
from harness.run.text_scores import Scores

MAX_ROWS = 200
"""Largest number of rows of a table in a notebook."""


@singledispatch
def blocks_of(result: VerbResult) -> Iterable[object]:
    """Return what a verb prints of a result: tables and lines of text."""
    return result.blocks()


@blocks_of.register
def _(result: Comparisons) -> Iterable[object]:
    from harness.reporting.comparison_blocks import comparison_blocks

    return comparison_blocks(result)


@blocks_of.register
def _(result: Scores) -> Iterable[object]:
    from harness.reporting.score_table import score_table

    return [score_table([*result.values()])]


def as_text(result: VerbResult) -> str:
    """Return a result as its verb prints it into a pipe."""
    text = io.StringIO()
    console = console_for_tables(file=text)
    if isinstance(result, Run):
        from harness.reporting.console import print_run

        print_run(result, console=console)
    else:
        print_blocks(blocks_of(result), console)
    return text.getvalue().rstrip("\n")


def blocks_as_html(result: VerbResult) -> str:
    """Return a result as HTML: its tables, and its lines as paragraphs; all texts are
    escaped.
    """
    parts: list[str] = []
    for block in blocks_of(result):
        if isinstance(block, Table):
            parts.append(to_html(block, MAX_ROWS))
        elif block:
            parts.append(f"<div>{html.escape(str(block))}</div>")
    return "".join(parts)
