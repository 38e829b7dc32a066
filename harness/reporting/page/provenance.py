"""Provenance of the runs as tables: data, models, metrics, versions, times, and the
command that runs them again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from harness.contracts.parameters import Values
from harness.files.json_text import parse_json
from harness.reporting.table import Table, number, shown_name
from harness.run.finished import Run
from harness.rundir.file_names import LOG
from harness.rundir.format import open_run_file

DELIMITER = "SPEC"
"""Word that ends the spec in the command."""
VARIABLES = ("HARNESS_DATA", "HOME")
"""Environment variables whose folders a page does not name."""


def portable(text: str) -> str:
    """Return a text with ``${HARNESS_DATA}`` and ``${HOME}``, which specs read, in
    place of the folders of these variables.
    """
    for name in VARIABLES:
        folder = os.environ.get(name, "").rstrip("/")
        if folder.startswith("/"):
            text = re.sub(rf"(?<![\w.-]){re.escape(folder)}(?=/)", f"${{{name}}}", text)
    return text


def listings(run: Run) -> list[Table]:
    """Return the tables of a run; those without rows are left out."""
    content = run.provenance.content
    data = run.provenance.data
    limit = run.provenance.spec.get("limit")
    facts = {
        "task": run.provenance.task,
        "signature": run.provenance.signature,
        "digest": run.provenance.digest,
        "variant": run.provenance.variant,
        "reader": data.get("reader"),
        "data fingerprint": data.get("fingerprint"),
        "source": data.get("source"),
        "examples": data.get("examples"),
        "limit": ""
        if limit is None
        else f"the first {limit} examples of the data, or all of fewer",
        "references per example": ", ".join(map(str, data.get("references") or ())),
        "seed": content.get("seed"),
        "schema of the manifest": content.get("schema"),
        "directory": run.path,
    }
    models = [
        (m.label, m.adapter, _json(m.params), m.fingerprint)
        for m in run.provenance.models
    ]
    metrics = [
        (m.label, m.name, _json(m.params), m.signature) for m in run.provenance.metrics
    ]
    versions = cast("Mapping[str, object]", content.get("versions") or {})
    local = cast("Sequence[Mapping[str, object]]", content.get("local_code") or ())
    tables = {
        ("Run", "", "value"): [
            (k, portable(str(v))) for k, v in facts.items() if v not in (None, "")
        ],
        (
            "Files as they were read",
            "file",
            "role",
            "form",
            "ids",
            "captions",
            "items",
            "texts",
            "remarks",
        ): _readings(run),
        ("Models", "model", "adapter", "parameters", "fingerprint"): models,
        ("Metrics", "metric", "component", "parameters", "signature"): metrics,
        ("Time per stage", "stage", "seconds"): _times(run),
        ("Versions", "package", "version"): [(k, str(v)) for k, v in versions.items()],
        ("Local code", "registry", "provider", "modules"): [
            (str(x.get("registry")), str(x.get("provider")), _json(x.get("modules")))
            for x in local
        ],
        ("Failures", "model and example", "reason"): list(run.failed.items()),
    }
    return [
        Table(headers, rows, "l" * len(headers), title)
        for (title, *headers), rows in tables.items()
        if rows
    ]


def _readings(run: Run) -> list[tuple[str, ...]]:
    """Return one row for each file: how it was read,
    and what was not taken or left out.
    """
    rows: list[tuple[str, ...]] = []
    for reading in run.provenance.readings:
        columns = cast("Mapping[str, Sequence[str]]", reading)
        left_out = cast("Mapping[str, int]", reading.get("left_out") or {})
        remarks = [
            *(f"not ids: {name}" for name in columns.get("other_ids") or ()),
            *(f"not captions: {name}" for name in columns.get("other_columns") or ()),
            *(columns.get("remarks") or ()),
            *(f"left out: {what} ({count:,})" for what, count in left_out.items()),
        ]
        captions = ", ".join(columns.get("columns") or ())
        texts = [str(reading.get(name, "")) for name in ("path", "role", "form")]
        rows.append(
            (
                *texts,
                str(reading.get("id") or "position"),
                captions,
                str(reading["items"]),
                str(reading["texts"]),
                "; ".join(remarks),
            )
        )
    return rows


def command(run: Run) -> str:
    """Return a shell command that runs the resolved spec again;
    empty for a run without one.
    """
    spec = run.provenance.spec
    if not spec:
        return ""
    text = portable(json.dumps(spec, indent=1, ensure_ascii=False))
    word = DELIMITER
    while word in text:
        word += "_"
    return (
        f"cat > again.yaml <<'{word}'\n{text}\n{word}\n"
        "harness run again.yaml --output again"
    )


def _times(run: Run) -> list[tuple[str, str]]:
    """Return the seconds of captions per model and of scores per metric, and of the
    whole run where its log has them.
    """
    events = _events(run.path)
    captions: dict[str, float] = {}
    for event in events:
        if event.get("event") == "captions" and isinstance(
            event.get("seconds"), (int, float)
        ):
            model = str(event.get("model"))
            captions[model] = captions.get(model, 0.0) + float(event["seconds"])
    rows = [
        (f"captions of {model}", number(value)) for model, value in captions.items()
    ]
    seconds: dict[str, float] = {}
    # The statistics of a judged metric are records of their own, each with the time of
    # the metric.
    for record in {
        (record.metric, record.model, record.decoding_key): record
        for record in run.records
    }.values():
        seconds[shown_name(record)] = (
            seconds.get(shown_name(record), 0.0) + record.seconds
        )
    rows += [
        (f"scores of {metric}", number(value)) for metric, value in seconds.items()
    ]
    started = [event["time"] for event in events if event.get("event") == "started"]
    finished = [event["time"] for event in events if event.get("event") == "finished"]
    if len(started) == 1 and finished:
        rows.append(("whole run", number(float(finished[-1] - started[0]))))
    return rows


def _events(path: Path | None) -> list[Values]:
    """Return the events of a run's log; torn or foreign lines are left out."""
    if path is None or not (path / LOG).is_file():
        return []
    events: list[Values] = []
    with open_run_file(path / LOG) as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
    for line in lines:
        try:
            event = parse_json(line)
        except ValueError:
            continue
        if isinstance(event, dict) and isinstance(event.get("time"), (int, float)):
            events.append(event)
    return events


def _json(value: object) -> str:
    return portable(json.dumps(value, ensure_ascii=False)) if value else ""
