"""The result table that a person reads: metric by metric, best model first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.run.execute import Run

WIDE = 110
"""Columns of characters beyond which a view's table is turned on its side."""
ARROWS = {True: "↑", False: "↓", None: " "}


def number(value: Any) -> str:
    """Four significant digits, at least three decimals below 10."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if not isinstance(value, (int, float)):
        return str(value)
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e6):
        return f"{value:.3g}"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}"


def decoding_text(decoding: Mapping[str, Any]) -> str:
    """``nucleus T=0.7 n=10`` from the fields that differ from the defaults."""
    short = {
        "temperature": "T",
        "candidates": "n",
        "references": "m",
        "top_p": "p",
        "top_k": "k",
        "strategy": "",
        "beams": "beams",
    }
    parts = []
    for name, value in decoding.items():
        label = short.get(name, name)
        parts.append(
            f"{label}={value:g}" if label and isinstance(value, float) else f"{label}={value}" if label else str(value)
        )
    return " ".join(parts)


def size_text(record: Mapping[str, Any]) -> str:
    """``12 + 4``: candidates and references of the sets (``1-3 + 5`` where they differ)."""
    parts = []
    for name in ("candidates", "references"):
        sizes = (record.get("sizes") or {}).get(name)
        if sizes:
            parts.append(str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}-{sizes[-1]}")
    return " + ".join(parts)


def sort_key(record: Mapping[str, Any]) -> float:
    """Best first by the metric's direction; undefined last."""
    value = record["value"]
    if not isinstance(value, (int, float)) or math.isnan(value):
        return math.inf
    return -value if record["higher_is_better"] else value


def rows(results: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Records grouped by metric, in the order of their first appearance, best first within a metric."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in results:
        groups.setdefault(record["metric"], []).append(record)
    return [
        sorted(group, key=sort_key) if group[0]["higher_is_better"] is not None else group for group in groups.values()
    ]


def print_table(run: Run) -> None:
    """Print a run's results, what was skipped, what failed, and where the run lies."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    console.print(_results(run))
    for name, reason in list(run.failed.items())[:5]:
        console.print(f"[red]failed[/red] {escape(name)}: {escape(reason)}")
    if len(run.failed) > 5:
        console.print(f"[red]... and {len(run.failed) - 5} more failed[/red]")
    for view in (run.manifest.get("spec") or {}).get("views", ()):
        if view["plot"] in ("table", "verdicts"):
            _print_view(console, view, run)
    for note in run.notes:
        console.print(f"[yellow]note[/yellow] {escape(note)}", soft_wrap=True)
    data = run.manifest.get("data", {})
    if run.manifest.get("variant"):
        console.print(f"data: [bold]{run.manifest['variant']}[/bold], {data.get('examples')} examples")
    if run.path:
        console.print(f"run: {run.path}  (harness report {run.path} makes a page of it)", soft_wrap=True)


def _results(run: Run) -> Any:
    """All records as one table: columns that say nothing in this run are left out."""
    from rich.markup import escape
    from rich.table import Table

    shown = {decoding_text(record["decoding"]) for record in run.results}
    same = f"  {escape(next(iter(shown)))}" if len(shown) == 1 else ""
    title = f"{run.manifest.get('task', 'suite')}  [dim]{run.manifest.get('signature', '')}[/dim]{same}"
    table = Table(title=title, title_justify="left", header_style="bold", show_edge=False, pad_edge=False)
    decodings = ["decoding"] if len(shown) > 1 else []
    tested = ["p"] if any(record.get("p_value") is not None for record in run.results) else []
    words = ["metric", "model", "set", *decodings]
    for header in (*words, "value", "95 % interval", *tested, "n", "skipped"):
        table.add_column(header, justify="left" if header in words else "right", no_wrap=True)
    for group in rows(run.results):
        for index, record in enumerate(group):
            ci = record["ci95"]
            cells = [
                escape(f"{record['metric']} {ARROWS[record['higher_is_better']]}") if index == 0 else "",
                escape(record["model"]),
                size_text(record),
                *(escape(decoding_text(record["decoding"])) for _ in decodings),
                number(record["value"]),
                f"{number(ci[0])} … {number(ci[1])}" if ci else "–",
                *(number(record.get("p_value")) for _ in tested),
                str(record["n"]),
                str(record["skipped"] or ""),
            ]
            best = "bold" if index == 0 and len(group) > 1 else None
            table.add_row(*cells, style=best, end_section=index == len(group) - 1)
    return table


def _print_view(console: Any, view: Mapping[str, Any], run: Run) -> None:
    """A table view of the spec, published values beneath ours; or its verdicts. A line where there is nothing to show."""
    from rich.markup import escape
    from rich.table import Table

    from harness.reporting.verdicts import HOW, verdict_table
    from harness.reporting.views import view_table, view_title

    told = view["plot"] == "verdicts"
    made = verdict_table(view, run.results, run.samples) if told else view_table(view, run.results)
    if not made.heads:
        console.print(f"{escape(view_title(view))}: no values in this run")
        return
    caption = escape(" ".join([*view.get("note", "").split(), *([f"({HOW})"] if told else [])]))
    table = Table(
        title=escape(view_title(view)),
        title_justify="left",
        caption=caption,
        caption_justify="left",
        show_edge=False,
    )
    columns: list[tuple[str, tuple[Any, ...]]] = [(label, values) for label, values in made.rows]
    if made.published:
        columns.append(("published", tuple("" if value is None else value for value in made.published)))
    if sum(max(len(head), 8) + 3 for head in made.heads) > WIDE:  # long heads stand better as rows
        table.add_column(escape(made.x), no_wrap=True)
        for label, _ in columns:
            table.add_column(escape(label), justify="right")
        for row, head in enumerate(made.heads):
            table.add_row(escape(head), *(number(values[row]) for _, values in columns))
        console.print(table)
        return
    table.add_column(escape(made.x), no_wrap=True)
    for head in made.heads:
        table.add_column(escape(head), justify="right")
    for label, values in columns:
        table.add_row(escape(label), *map(number, values), style="bold" if label == "published" else None)
    console.print(table)
