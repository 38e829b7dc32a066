"""Page of ``harness same``, in the design of the report page; it needs no network, and
a script for its colours alone.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from harness.decisions.same.same import SourceComparison
from harness.decisions.same.statistics import Settings
from harness.decisions.same.tables import (
    ASSUMPTION,
    contrast_text,
    facts_table,
    feature_table,
    matrix_table,
    prompt_table,
    statistic_table,
    verdict_text,
)
from harness.errors import counted
from harness.files.outputs import write_output
from harness.page import assets
from harness.reporting.formats.web import to_html
from harness.reporting.table import Table


def write_page(
    results: Sequence[SourceComparison],
    settings: Settings,
    path: Path,
    *,
    overwrite: bool = False,
) -> None:
    """Write the page of some comparisons; ``overwrite`` as for
    :func:`harness.files.outputs.write_output`.
    """
    content = page(results, settings).encode("utf-8", "replace")
    write_output(path, content, overwrite=overwrite)


def page(results: Sequence[SourceComparison], settings: Settings) -> str:
    """Return the HTML of some comparisons; the same results give the same text."""
    labels = list(dict.fromkeys(label for result in results for label in result.labels))
    return assets.plain_page(
        f"Same distribution? {', '.join(labels)}", sections(results, settings, 2)
    )


def sections(
    results: Sequence[SourceComparison], settings: Settings, level: int
) -> str:
    """Return the HTML of some comparisons below headings of a level,
    without that of a page.
    """
    out: list[str] = []
    if len(results) > 1:
        matrix = _scroll("All pairs", matrix_table(results))
        out.append(f"<h{level}>All pairs</h{level}>{matrix}")

    for result in results:
        names = " and ".join(result.labels)
        tables = {
            "The test": facts_table(result, settings),
            "Each statistic alone": statistic_table(result),
            "Words": feature_table(result, settings),
            "Prompts that differ most": prompt_table(result),
        }
        below = "".join(
            f"<h{level + 1}>{title}</h{level + 1}>{_scroll(f'{title}, {names}', table)}"
            for title, table in tables.items()
        )
        title = f"<h{level}>{html.escape(names)}</h{level}>"
        summary = _summary(result, settings)
        out.append(f"<section>{title}{summary}{below}</section>")

    assumption = html.escape(_sentence(f"The test {ASSUMPTION}"))
    return "".join([*out, f'<p class="soft">{assumption}</p>'])


def _summary(result: SourceComparison, settings: Settings) -> str:
    """Return the verdict in words, the sizes, and the remarks as a list."""
    verdict = _sentence(verdict_text(result, settings))
    counts = [
        sum(len(getattr(prompt, side)) for prompt in result.prompts) for side in "ab"
    ]
    sizes = (
        f"{counted(len(result.prompts), 'prompt')}, "
        f"with {counts[0]:,} and {counts[1]:,} answers."
    )
    contrast = contrast_text(result, settings)
    lines = [_sentence(contrast), sizes] if contrast else [sizes]
    texts = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    summary = f'<p class="verdict">{html.escape(verdict)}</p>{texts}'

    notes = "".join(f"<li>{html.escape(_sentence(note))}</li>" for note in result.notes)
    if notes:
        summary += f'<ul class="remarks">{notes}</ul>'
    return summary


def _sentence(text: str) -> str:
    """Return a line of the terminal as a sentence."""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")


def _scroll(name: str, table: Table) -> str:
    """Return a table that scrolls within itself where the window is narrower."""
    return (
        '<div class="scroll" tabindex="0" role="region" '
        f'aria-label="{html.escape(name)}">{to_html(table)}</div>'
    )
