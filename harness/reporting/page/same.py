"""Page of ``harness same``, in the design of the report page; it needs no network and no script."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from harness.analysis.same import Settings, SourceComparison
from harness.analysis.same_run import check_run, settings_of_run
from harness.files.outputs import write_output
from harness.reporting.formats.web import to_html
from harness.reporting.page import assets
from harness.reporting.same_tables import feature_table, matrix_table, prompt_table, report_lines
from harness.run.finished import Run


def write_page(results: Sequence[SourceComparison], settings: Settings, path: Path, *, overwrite: bool = False) -> None:
    """Write the page of some comparisons; ``overwrite`` as for :func:`harness.files.outputs.write_output`."""
    write_output(path, page(results, settings).encode("utf-8", "replace"), overwrite=overwrite)


def page(results: Sequence[SourceComparison], settings: Settings) -> str:
    """Return the HTML of some comparisons; the same results give the same text."""
    labels = list(dict.fromkeys(label for result in results for label in result.labels))
    return assets.plain_page(f"Same distribution? {', '.join(labels)}", sections(results, settings, 2))


def sections_of_run(run: Run) -> list[dict[str, str]]:
    """Return the section of a report on the tests of sources that the spec of a run asks for, with ``title`` and ``html``."""
    results = check_run(run)
    return [{"title": "Same distribution?", "html": sections(results, settings_of_run(run), 4)}] if results else []


def sections(results: Sequence[SourceComparison], settings: Settings, level: int) -> str:
    """Return the HTML of some comparisons below headings of a level, without that of a page."""
    out = [f"<h{level}>All pairs</h{level}>{to_html(matrix_table(results))}"]
    for result in results:
        lines = "".join(f"<p>{html.escape(line.strip())}</p>" for line in report_lines(result, settings, 0))
        tables = to_html(feature_table(result, settings)), to_html(prompt_table(result))
        heading = html.escape(" and ".join(result.labels))
        parts = (("Words", tables[0]), ("Prompts that differ most", tables[1]))
        below = "".join(f"<h{level + 1}>{title}</h{level + 1}>{table}" for title, table in parts)
        out.append(f"<section><h{level}>{heading}</h{level}>{lines}{below}</section>")
    return "".join(out)
