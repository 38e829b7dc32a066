"""Logs of every-eval-ever: a line per instance with an ``evaluation``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from harness.analysis.logged_samples import LoggedSample, ScoreForm, mapping_of
from harness.files.records import Record
from harness.files.strict_json import load_json
from harness.files.yaml_source import YamlValue

EVERY_EVAL_EVER_FILE = re.compile(r"(?P<name>.+)_samples\.jsonl(\.gz)?")
"""Name of a file of instances of every-eval-ever; ``NAME.json`` beside it has the
configurations of the metrics.
"""


def read_every_eval_ever(path: Path, rows: Sequence[Record]) -> ScoreForm:
    """Return the instances of every-eval-ever; several results of a model by one
    evaluation are metrics ``EVALUATION/RESULT``.
    """
    results: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        result = str(row.fields.get("evaluation_result_id") or "")
        results[_instance_key(row.fields)].add(result)

    declared_in, directions = _read_directions(path)
    samples: list[LoggedSample] = []
    declared: dict[str, bool] = {}
    for row in rows:
        fields = row.fields
        model, evaluation = _instance_key(fields)
        result = str(fields.get("evaluation_result_id") or "")
        label = evaluation
        if result and len(results[model, evaluation]) > 1:
            label = f"{evaluation}/{result}"

        # The line itself decides, then the aggregate: by result, and by evaluation.
        direction = _direction(mapping_of(fields.get("metric_config")))
        if direction is None:
            of_evaluation = directions.get(evaluation)
            direction = directions.get(result or evaluation, of_evaluation)
        if direction is not None:
            declared[label] = direction

        scores = mapping_of(fields.get("evaluation"))
        sample = str(fields.get("sample_id", ""))
        samples.append(
            LoggedSample(
                row.where,
                model,
                sample,
                f"sample {sample} of {evaluation}",
                {label: scores.get("score", scores.get("is_correct"))},
                epoch=str(mapping_of(fields.get("metadata")).get("epoch", "")),
                record=fields,
            )
        )

    advice = (
        "two metrics or two runs in one log? keep one of them, "
        "or name the metric of each line in 'evaluation_result_id'"
    )
    return ScoreForm(
        "every-eval-ever", samples, advice, declared, declared_in or path.name
    )


def _instance_key(fields: Mapping[str, YamlValue]) -> tuple[str, str]:
    """Return model and evaluation of an instance."""
    return str(fields.get("model_id", "")), str(fields.get("evaluation_name", "score"))


def _read_directions(path: Path) -> tuple[str, dict[str, bool | None]]:
    """Return the name of the aggregate beside a file of instances, and the directions
    in it by result and by evaluation.

    An evaluation whose results have two directions has None.
    """
    match = EVERY_EVAL_EVER_FILE.fullmatch(path.name)
    file = path.with_name(f"{match['name']}.json") if match else path
    if match is None or not file.is_file():
        return "", {}

    results = mapping_of(load_json(file, constants=True)).get("evaluation_results")
    if not isinstance(results, list):
        return file.name, {}
    directions: dict[str, bool | None] = {}
    for item in cast("list[object]", results):
        result = mapping_of(item)
        direction = _direction(mapping_of(result.get("metric_config")))
        names = {
            str(result[name])
            for name in ("evaluation_result_id", "evaluation_name")
            if result.get(name)
        }
        for name in names:
            agrees = directions.get(name, direction) == direction
            directions[name] = direction if agrees else None
    return file.name, directions


def _direction(configuration: Mapping[str, Any]) -> bool | None:
    """Return the direction of the configuration of a metric; None where it has none.

    >>> (
    ...     _direction({"lower_is_better": True}),
    ...     _direction({"higher_is_better": True}),
    ...     _direction({}),
    ... )
    (False, True, None)
    """
    lower = configuration.get("lower_is_better")
    if isinstance(lower, bool):
        return not lower
    higher = configuration.get("higher_is_better")
    return higher if isinstance(higher, bool) else None
