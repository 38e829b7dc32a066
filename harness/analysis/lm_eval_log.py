"""Logs of lm-eval and lmms-eval: a line per document, with the metrics as keys beside
``doc_id``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from harness.analysis.logged_samples import LoggedSample, ScoreForm, mapping_of
from harness.errors import InputError
from harness.files.records import Record
from harness.files.strict_json import load_json
from harness.files.yaml_source import YamlValue

NO_SCORES = frozenset(
    (
        "arguments",
        "doc",
        "doc_hash",
        "doc_id",
        "filter",
        "filtered_resps",
        "higher_is_better",
        "idx",
        "input",
        "metrics",
        "prompt_hash",
        "resps",
        "target",
        "target_hash",
        "token_counts",
    )
)
"""Fields of a line of lm-eval and lmms-eval that are no metrics."""
LM_EVAL_FILE = re.compile(
    r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(\.gz)?"
)
"""Name of a file of samples of lm-eval; ``results_DATE.json`` beside it has the
directions of the metrics.
"""
LMMS_EVAL_FILE = re.compile(r"(?P<date>.+)_samples_(?P<task>.+)\.jsonl(\.gz)?")
"""Name of a file of samples of lmms-eval; ``DATE_results.json`` beside it has the
directions of the metrics.
"""


def read_lm_eval(path: Path, rows: Sequence[Record]) -> ScoreForm:
    """Return the lines of lm-eval or lmms-eval; a filter is part of the metric's label,
    as in ``exact_match/strict-match``.
    """
    declared_in, directions = _read_directions(path)
    samples: list[LoggedSample] = []
    declared: dict[str, bool] = {}
    for row in rows:
        fields = row.fields
        if "doc_id" not in fields:
            raise InputError("the line has no 'doc_id'", row.where)
        filter_name = fields.get("filter")
        suffix = "" if filter_name in (None, "none") else f"/{filter_name}"
        values = _read_values(fields)

        # lmms-eval writes the directions into each line, lm-eval into a file beside it.
        in_line = mapping_of(fields.get("higher_is_better"))
        for name in values:
            direction = in_line.get(name, directions.get(name))
            if isinstance(direction, bool):
                declared[f"{name}{suffix}"] = direction

        samples.append(
            LoggedSample(
                row.where,
                "",
                # Documents of other data have another hash: equal numbers do not pair
                # them.
                name=f"{fields['doc_id']}:{str(fields.get('doc_hash', ''))[:12]}",
                title=f"doc {fields['doc_id']}",
                values={f"{name}{suffix}": value for name, value in values.items()},
                record=fields,
            )
        )

    advice = (
        "two filters or two runs in one log? keep one of them, "
        "or name the filter of each line in 'filter'"
    )
    has_captions = all(
        "target" in row.fields
        and _is_text(row.fields.get("filtered_resps", row.fields.get("resps")))
        for row in rows
    )
    return ScoreForm(
        "lm-eval", samples, advice, declared, declared_in or path.name, has_captions
    )


def _is_text(responses: YamlValue) -> bool:
    """Return True for a text, or lists of texts at any depth;
    log-likelihoods are none.
    """
    if not isinstance(responses, list):
        return isinstance(responses, str)
    items = cast("list[YamlValue]", responses)
    return len(items) > 0 and all(map(_is_text, items))


def _read_values(fields: Mapping[str, YamlValue]) -> dict[str, YamlValue]:
    """Return metric -> value of a line: those that ``metrics`` lists or holds, else all
    fields that lm-eval does not write itself.
    """
    metrics = fields.get("metrics")
    if isinstance(metrics, list):
        names = map(str, cast("list[object]", metrics))
        values: Mapping[str, YamlValue] = {name: fields.get(name) for name in names}
    else:
        values = mapping_of(metrics) or {
            name: value for name, value in fields.items() if name not in NO_SCORES
        }
    return {name: _inner_score(value) for name, value in values.items()}


def _inner_score(value: YamlValue) -> YamlValue:
    """Return the score of an object, as metrics of lmms-eval that are aggregated by
    category have it; other values as they are.

    >>> (
    ...     _inner_score({"question_id": "3", "category": "OCR", "score": 1.0}),
    ...     _inner_score({"pred": "a"}),
    ... )
    (1.0, {'pred': 'a'})
    """
    if not isinstance(value, dict):
        return value
    fields = cast("Mapping[str, YamlValue]", value)
    return fields["score"] if isinstance(fields.get("score"), (int, float)) else fields


def _read_directions(path: Path) -> tuple[str, Mapping[str, Any]]:
    """Return the name of the file of results beside a file of samples, and metric ->
    direction in it; empty where there is none.
    """
    for pattern, results in (
        (LM_EVAL_FILE, "results_{}.json"),
        (LMMS_EVAL_FILE, "{}_results.json"),
    ):
        match = pattern.fullmatch(path.name)
        if match is None:
            continue
        file = path.with_name(results.format(match["date"]))
        if file.is_file():
            content = mapping_of(load_json(file, constants=True))
            by_task = mapping_of(content.get("higher_is_better"))
            return file.name, mapping_of(by_task.get(match["task"]))
    return "", {}
