"""The page: manifest, results with interval bars, views, examples, sections from plugins."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import require
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.reporting.captions import Samples, read_samples, texts_table
from harness.reporting.console import ARROWS, decoding_text, number, rows, size_text
from harness.reporting.plots import draw
from harness.reporting.verdicts import HOW, verdict_table
from harness.reporting.views import view_table, view_title
from harness.rundir.store import read_run, write_atomically

EXAMPLES = 12


def build(paths: Sequence[str | Path], title: str = "") -> str:
    """The HTML text of a report over finished runs. Raises :class:`InputError` for a run that is not whole."""
    require("jinja2", extra="plots", needed_by="harness report")
    import jinja2

    runs = [_run(Path(path)) for path in paths]
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = number
    template = environment.from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    name = title or ", ".join(run["manifest"]["task"] for run in runs)
    return template.render(title=name, runs=runs, style=style)


def write(paths: Sequence[str | Path], output: Path | None = None, title: str = "") -> Path:
    """Write the report (into the first run's folder unless told otherwise) and return its path."""
    target = output or Path(paths[0]) / "report.html"
    write_atomically(target, build(paths, title).encode("utf-8"))
    return target


def _run(path: Path) -> dict[str, Any]:
    manifest, file = read_run(path)
    results = file["results"]
    views = manifest["spec"].get("views") or _default_views(results)
    samples = read_samples(path)
    plugins = Plugins().load(current())
    sections = [
        item for part in plugins.call("harness_report_sections", manifest=manifest, results=results) for item in part
    ]
    return {
        "path": str(path),
        "manifest": manifest,
        "failed": file.get("failed", {}),
        "groups": [_group(group) for group in rows(results)],
        "has_decoding": len({decoding_text(record["decoding"]) for record in results}) > 1,
        "has_p": any(record.get("p_value") is not None for record in results),
        "views": [_view(view, results, samples) for view in views],
        "examples": _examples(samples, results),
        "sections": sections,
        "json": json.dumps(manifest, indent=1, ensure_ascii=False),
    }


def _group(group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The rows of one metric with the ends of their interval bars in percent."""
    ends = [x for record in group for x in (*(record["ci95"] or ()), record["value"]) if isinstance(x, (int, float))]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    span = (high - low) or 1.0

    def at(value: Any) -> float:
        return round(100 * (value - low) / span, 2) if isinstance(value, (int, float)) else 0.0

    shown = []
    for record in group:
        ci = record["ci95"]
        bar = {"low": at(ci[0]), "width": round(at(ci[1]) - at(ci[0]), 2)} if ci else None
        shown.append(
            {
                **record,
                "shown_decoding": decoding_text(record["decoding"]),
                "set": size_text(record),
                "bar": bar,
                "dot": at(record["value"]),
            }
        )
    first = group[0]
    direction = {True: "higher is better", False: "lower is better", None: ""}[first["higher_is_better"]]
    return {
        "metric": first["metric"],
        "arrow": ARROWS[first["higher_is_better"]],
        "direction": direction,
        "rows": shown,
        "first": first,
    }


def _default_views(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A line over each decoding axis that varies, for every metric, when the spec names no views."""
    views = []
    for axis in ("temperature", "top_p", "candidates", "references"):
        values = {record["decoding"].get(axis) for record in results}
        if len(values - {None}) > 1:
            metrics = list(dict.fromkeys(record["metric"] for record in results))
            views += [
                {"plot": "line", "x": f"decoding.{axis}", "y": name, "by": "model", "title": name} for name in metrics
            ]
    return views


def _view(view: Mapping[str, Any], results: Sequence[Mapping[str, Any]], samples: Samples) -> dict[str, Any]:
    made: dict[str, Any] = {
        "title": view_title(view),
        "note": view.get("note", ""),
        "svg": "",
        "table": None,
        "texts": None,
    }
    if view["plot"] == "table":
        made["table"] = view_table(view, results)
    elif view["plot"] == "verdicts":
        made["table"] = verdict_table(view, results, samples)
        made["note"] = f"{made['note']} ({HOW})".strip()
    elif view["plot"] == "texts":
        made["texts"] = texts_table(view, samples)
    else:
        made["svg"] = draw(view, results)
    return made


def _examples(samples: Samples, results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The first examples with every model's candidates and scores."""
    metrics = [name for name in dict.fromkeys(record["metric"] for record in results) if name in samples]
    rows: dict[str, list[int]] = {}
    for at, name in enumerate(samples["example"]):
        rows.setdefault(name, []).append(at)
    examples = []
    for name, places in list(rows.items())[:EXAMPLES]:
        models = []
        for at in places:
            scores = [(metric, samples[metric][at]) for metric in metrics if samples[metric][at] is not None]
            decoding = decoding_text(json.loads(samples["decoding"][at]))
            made = {"model": samples["model"][at], "decoding": decoding, "candidates": samples["candidates"][at]}
            models.append({**made, "scores": scores})
        examples.append({"id": name, "references": samples["references"][places[0]], "models": models})
    return examples
