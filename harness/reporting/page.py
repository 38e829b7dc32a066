"""The HTML page: provenance, results with interval bars, views, examples, sections of plugins."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from harness.errors import require
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.reporting.captions import texts_table
from harness.reporting.console import SIZE_NOTE, divided_metrics, grouped
from harness.reporting.interval_notes import interval_notes
from harness.reporting.numbers import ARROWS, number, p_text, size_text
from harness.reporting.plots import draw
from harness.reporting.verdicts import METHOD_NOTE, verdict_table
from harness.reporting.views import view_table
from harness.run.finished import Run
from harness.rundir.format import write_atomically
from harness.rundir.records import ResultRecord, decoding_text
from harness.rundir.samples import SampleTable
from harness.spec.models import ViewSpec

EXAMPLES = 12
"""Number of examples on the page."""


def build(paths: Sequence[str | Path], title: str = "") -> str:
    """Return the HTML of a report on finished runs; raise :class:`InputError` for a run that is not finished."""
    require("jinja2", extra="plots", needed_by="harness report")
    import jinja2

    runs = [_run(path) for path in paths]
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"], environment.filters["p_text"] = number, p_text
    template = environment.from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    name = title or ", ".join(str(run["task"]) for run in runs)
    return template.render(title=name, runs=runs, style=style)


def write(paths: Sequence[str | Path], output: Path | None = None, title: str = "") -> Path:
    """Write the report (default: ``report.html`` in the first run) and return its path."""
    target = output or Path(paths[0]) / "report.html"
    write_atomically(target, build(paths, title).encode("utf-8"))
    return target


def _run(path: str | Path) -> dict[str, object]:
    """Return the template's values of one run."""
    run = Run.open(path)
    records, samples = run.records, run.samples
    content, results = run.provenance.content, [record.to_dict() for record in records]
    plugins = Plugins().load(current())
    sections = plugins.call("harness_report_sections", manifest=content, results=results)
    groups = grouped(records)
    divided = divided_metrics(groups)
    return {
        "path": str(path),
        "task": run.provenance.task,
        "manifest": content,
        "failed": run.failed,
        "groups": [_group(group, divided=group[0].metric in divided) for group in groups],
        "has_decoding": len({decoding_text(record.decoding) for record in records}) > 1,
        "has_p": any(record.p_value is not None or record.p_note is not None for record in records),
        "views": [_view(view, run) for view in run.provenance.views or _default_views(records)],
        "interval_notes": interval_notes(records),
        "examples": _examples(samples, records),
        "sections": [item for part in sections for item in part],
        "json": json.dumps(content, indent=1, ensure_ascii=False),
    }


def _group(group: Sequence[ResultRecord], *, divided: bool) -> dict[str, object]:
    """Return the rows of one metric, or of one set size of a divided metric, with the ends of their interval bars in per cent."""
    ends = [x for record in group for x in (*(record.ci95 or ()), record.value) if math.isfinite(x)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    span = (high - low) or 1.0

    def position(value: float) -> float:
        return round(100 * (value - low) / span, 2) if math.isfinite(value) else 0.0

    rows: list[dict[str, object]] = []
    for record in group:
        bar = None
        if record.ci95:
            left, right = map(position, record.ci95)
            bar = {"low": left, "width": round(right - left, 2)}
        rows.append(
            {
                **record.to_dict(),
                "harmonic_p": record.harmonic_p,
                "shown_decoding": decoding_text(record.decoding),
                "set": size_text(record.sizes),
                "bar": bar,
                "dot": position(record.value),
            }
        )
    first = group[0]
    return {
        "metric": first.metric,
        "size": size_text(first.sizes) if divided else "",
        "notes": [
            *([SIZE_NOTE] if divided else []),
            *dict.fromkeys(f"no p-value: the metric {r.p_note}" for r in group if r.p_note is not None),
        ],
        "arrow": ARROWS[first.higher_is_better],
        "direction": {True: "higher is better", False: "lower is better", None: ""}[first.higher_is_better],
        "rows": rows,
        "first": first.to_dict(),
    }


def _default_views(records: Sequence[ResultRecord]) -> list[ViewSpec]:
    """Return a line over each decoding axis that varies, for every metric, for a spec without views."""
    views: list[ViewSpec] = []
    for axis in ("temperature", "top_p", "candidates", "references"):
        values = {record.decoding.get(axis) for record in records}
        if len(values - {None}) > 1:
            metrics = dict.fromkeys(record.metric for record in records)
            views += [ViewSpec(plot="line", x=f"decoding.{axis}", y=name, by="model", title=name) for name in metrics]
    return views


def _view(view: ViewSpec, run: Run) -> dict[str, object]:
    records = run.records
    values: dict[str, object] = {"title": view.heading, "note": view.remark, "svg": "", "table": None, "texts": None}
    if view.plot == "table":
        values["table"] = view_table(view, records)
    elif view.plot == "verdicts":
        values["table"] = verdict_table(view, run)
        values["note"] = f"{view.note} ({METHOD_NOTE})".strip()
    elif view.plot == "texts":
        values["texts"] = texts_table(view, run.samples)
    else:
        values["svg"] = draw(view, records)
    return values


def _examples(samples: SampleTable, records: Sequence[ResultRecord]) -> list[dict[str, object]]:
    """Return the first examples with every model's candidates and scores."""
    names = set(samples.metrics)
    metrics = [name for name in dict.fromkeys(record.metric for record in records) if name in names]
    examples: list[dict[str, object]] = []
    for example in list(dict.fromkeys(samples.texts("example")))[:EXAMPLES]:
        systems = [system for system in samples.systems if example in system.row_of]
        rows = [int(system.rows[system.row_of[example]]) for system in systems]
        models = [
            {
                "model": system.model,
                "decoding": decoding_text(system.decoding),
                "candidates": samples.lists("candidates")[row],
                "scores": [
                    (metric, float(samples.numbers(metric)[row]))
                    for metric in metrics
                    if not math.isnan(samples.numbers(metric)[row])
                ],
            }
            for system, row in zip(systems, rows)
        ]
        examples.append({"id": example, "references": samples.lists("references")[rows[0]], "models": models})
    return examples
