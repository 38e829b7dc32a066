"""Provenance of the runs as tables: data, models, metrics, versions, times, and the
command that runs them again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import cast

from harness.reporting.table import Table, number, shown_name
from harness.results import Run

DELIMITER = "SPEC"
"""Word that ends the spec in the command."""
VARIABLES = ("HARNESS_DATA", "HOME")
"""Environment variables whose folders a page does not name."""
READING_HEADERS = (
    "file",
    "role",
    "form",
    "ids",
    "captions",
    "items",
    "texts",
    "remarks",
)


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
    limited = f"the first {limit} examples of the data, or all of fewer"
    facts = {
        "task": run.provenance.task,
        "signature": run.provenance.signature,
        "digest": run.provenance.digest,
        "variant": run.provenance.variant,
        "reader": data.get("reader"),
        "data fingerprint": data.get("fingerprint"),
        "source": data.get("source"),
        "examples": data.get("examples"),
        "limit": "" if limit is None else limited,
        "references per example": ", ".join(map(str, data.get("references") or ())),
        "seed": content.get("seed"),
        "schema of the manifest": content.get("schema"),
        "directory": run.path,
    }
    known = [(k, portable(str(v))) for k, v in facts.items() if v not in (None, "")]
    models = [
        (m.label, m.adapter, _json(m.params), m.fingerprint)
        for m in run.provenance.models
    ]
    metrics = [
        (m.label, m.name, _json(m.params), m.signature) for m in run.provenance.metrics
    ]
    versions = cast("Mapping[str, object]", content.get("versions") or {})
    local_rows = [
        (str(x.get("registry")), str(x.get("provider")), _json(x.get("modules")))
        for x in run.provenance.local_code
    ]

    tables: list[tuple[str, Sequence[str], Sequence[Sequence[str]]]] = [
        ("Run", ("", "value"), known),
        ("Files as they were read", READING_HEADERS, _readings(run)),
        ("Models", ("model", "adapter", "parameters", "fingerprint"), models),
        ("Metrics", ("metric", "component", "parameters", "signature"), metrics),
        ("Time per stage", ("stage", "seconds"), _times(run)),
        (
            "Versions",
            ("package", "version"),
            [(k, str(v)) for k, v in versions.items()],
        ),
        ("Local code", ("registry", "provider", "modules"), local_rows),
        ("Failures", ("model and example", "reason"), list(run.failed.items())),
    ]
    return [
        Table(list(headers), rows, "l" * len(headers), title)
        for title, headers, rows in tables
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
            *(f"left out: {texts} ({count:,})" for texts, count in left_out.items()),
        ]
        captions = ", ".join(columns.get("columns") or ())
        file = [str(reading.get(name, "")) for name in ("path", "role", "form")]
        rows.append(
            (
                *file,
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
    # a spec may contain the word that ends it
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
    events = run.log_events
    captions: dict[str, float] = {}
    for event in events:
        seconds = event.get("seconds")
        if event.get("event") == "captions" and isinstance(seconds, (int, float)):
            model = str(event.get("model"))
            captions[model] = captions.get(model, 0.0) + float(seconds)
    rows = [
        (f"captions of {model}", number(value)) for model, value in captions.items()
    ]

    # The statistics of a judged metric are records of their own, each with the time of
    # the metric.
    distinct = {
        (record.metric, record.model, record.decoding_key): record
        for record in run.records
    }
    scores: dict[str, float] = {}
    for record in distinct.values():
        name = shown_name(record)
        scores[name] = scores.get(name, 0.0) + record.seconds
    rows += [(f"scores of {metric}", number(value)) for metric, value in scores.items()]

    # a run that was continued has several starts, with pauses between them
    started = [event["time"] for event in events if event.get("event") == "started"]
    finished = [event["time"] for event in events if event.get("event") == "finished"]
    if len(started) == 1 and finished:
        rows.append(("whole run", number(float(finished[-1] - started[0]))))
    return rows


def _json(value: object) -> str:
    return portable(json.dumps(value, ensure_ascii=False)) if value else ""
