"""Page of ``harness same``, in the design of the report page; it needs no network and no script."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from harness.analysis.same import Settings, SourceComparison
from harness.reporting.formats.web import to_html
from harness.reporting.page import assets
from harness.reporting.same_tables import feature_table, matrix_table, prompt_table, report_lines
from harness.rundir.format import write_atomically


def write_page(results: Sequence[SourceComparison], settings: Settings, path: Path) -> None:
    """Write the page of some comparisons."""
    write_atomically(path, page(results, settings).encode("utf-8", "replace"))


def page(results: Sequence[SourceComparison], settings: Settings) -> str:
    """Return the HTML of some comparisons; the same results give the same text."""
    labels = list(dict.fromkeys(label for result in results for label in result.labels))
    sections = [f"<h2>All pairs</h2>{to_html(matrix_table(results))}"]
    for result in results:
        lines = "".join(f"<p>{html.escape(line.strip())}</p>" for line in report_lines(result, settings, 0))
        tables = to_html(feature_table(result, settings)), to_html(prompt_table(result))
        heading = html.escape(" and ".join(result.labels))
        sections.append(
            f"<section><h2>{heading}</h2>{lines}<h3>Words</h3>{tables[0]}<h3>Prompts that differ most</h3>{tables[1]}</section>"
        )
    return assets.plain_page(f"Same distribution? {', '.join(labels)}", "".join(sections))
