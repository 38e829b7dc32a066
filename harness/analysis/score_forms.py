"""Forms of the logs of other harnesses: the scores of each sample as they are written,
and the directions that a log declares.

lm-eval and lmms-eval write a line per document, with the metrics as keys beside
``doc_id``; inspect a log (``.json``, or ``.eval``, a zip archive) whose samples have
``scores``; every-eval-ever a line per instance with an ``evaluation``. Python's JSON
writes NaN for a sample without a score, so that the constant is read.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from harness.errors import InputError
from harness.files.inspect_logs import archive_members
from harness.files.records import Record, kind, records
from harness.files.strict_json import load_json
from harness.files.user_files import existing, first_byte
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
EVERY_EVAL_EVER_FILE = re.compile(r"(?P<name>.+)_samples\.jsonl(\.gz)?")
"""Name of a file of instances of every-eval-ever; ``NAME.json`` beside it has the
configurations of the metrics.
"""


@dataclass(frozen=True, slots=True)
class LoggedSample:
    """One record of a log: its values by metric, as they are written."""

    where: str
    """File and line or record."""
    model: str
    """Empty where the log does not name it."""
    name: str
    """Id by which samples of two logs are paired."""
    title: str
    """The sample in messages, such as ``doc 3``."""
    values: Mapping[str, YamlValue]
    """Label of a metric -> value."""
    epoch: str = ""
    """Repetition of the sample, whose values are averaged; empty without repetitions.
    """
    record: Mapping[str, YamlValue] | None = None
    """The whole record, where equal records of one sample are one that was written
    twice; None where they are a mistake.
    """

    def repeats(self, other: LoggedSample) -> bool:
        """Return True where this record repeats another one word for word."""
        texts = [
            None
            if item.record is None
            else json.dumps(item.record, sort_keys=True, default=str)
            for item in (self, other)
        ]
        return texts[0] is not None and texts[0] == texts[1]


@dataclass(frozen=True)
class ScoreForm:
    """Samples of a log."""

    name: str
    """Name of the form, with the task where the log names it:
    logs of two names are not compared.
    """
    samples: Iterable[LoggedSample]
    advice: str
    """What to do about a sample that occurs twice."""
    higher_is_better: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Label of a metric -> direction, for those that the log declares."""
    declared_in: str = ""
    """Name of the file that declares them."""
    has_captions: bool = False
    """True where the samples have outputs beside targets,
    which ``harness score`` reads.
    """


def read_score_form(path: Path) -> ScoreForm:
    """Return the samples of a log; raise :class:`InputError` for a file that is no log
    of one of the forms.
    """
    if zipfile.is_zipfile(existing(path)):
        headers = [header for _, header in archive_members(path, "header.json")]
        return _inspect(
            _mapping(headers[0] if headers else None).get("eval"),
            archive_members(path, "samples/"),
        )
    if path.suffix != ".jsonl" and first_byte(path) == b"{":
        log = _mapping(load_json(path, constants=True))
        if isinstance(log.get("samples"), list):
            items = cast("list[YamlValue]", log["samples"])
            return _inspect(
                log.get("eval"),
                (
                    (f"{path}: samples: record {k}", item)
                    for k, item in enumerate(items, 1)
                ),
            )
    rows = list(records(path, constants=True))
    if rows and "doc_id" in rows[0].fields:
        return _lm_eval(path, rows)
    if rows and "evaluation" in rows[0].fields:
        return _every_eval_ever(path, rows)
    raise InputError(
        "no log of lm-eval, lmms-eval, inspect or every-eval-ever: "
        "a line has no 'doc_id' or 'evaluation'",
        str(path),
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


# --------------------------------------------------------------------------- lm-eval and lmms-eval
def _lm_eval(path: Path, rows: Sequence[Record]) -> ScoreForm:
    """Return the lines of lm-eval or lmms-eval; a filter is part of the metric's label,
    as in ``exact_match/strict-match``.
    """
    declared_in, directions = _lm_eval_directions(path)
    samples: list[LoggedSample] = []
    declared: dict[str, bool] = {}
    for row in rows:
        fields = row.fields
        if "doc_id" not in fields:
            raise InputError("the line has no 'doc_id'", row.where)
        filter_name = fields.get("filter")
        suffix = "" if filter_name in (None, "none") else f"/{filter_name}"
        values = _lm_eval_values(fields)
        in_line = _mapping(fields.get("higher_is_better"))
        for name in values:
            if isinstance(direction := in_line.get(name, directions.get(name)), bool):
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


def _lm_eval_values(fields: Mapping[str, YamlValue]) -> dict[str, YamlValue]:
    """Return metric -> value of a line: those that ``metrics`` lists or holds, else all
    fields that lm-eval does not write itself.
    """
    metrics = fields.get("metrics")
    if isinstance(metrics, list):
        names = map(str, cast("list[object]", metrics))
        values: Mapping[str, YamlValue] = {name: fields.get(name) for name in names}
    else:
        values = _mapping(metrics) or {
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


def _lm_eval_directions(path: Path) -> tuple[str, Mapping[str, Any]]:
    """Return the name of the file of results beside a file of samples, and metric ->
    direction in it; empty where there is none.
    """
    for pattern, results in (
        (LM_EVAL_FILE, "results_{}.json"),
        (LMMS_EVAL_FILE, "{}_results.json"),
    ):
        match = pattern.fullmatch(path.name)
        file = path.with_name(results.format(match["date"])) if match else None
        if match and file and file.is_file():
            return file.name, _mapping(
                _mapping(
                    _mapping(load_json(file, constants=True)).get("higher_is_better")
                ).get(match["task"])
            )
    return "", {}


# --------------------------------------------------------------------------- every-eval-ever
def _every_eval_ever(path: Path, rows: Sequence[Record]) -> ScoreForm:
    """Return the instances of every-eval-ever; several results of a model by one
    evaluation are metrics ``EVALUATION/RESULT``.
    """
    results: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        results[_instance_key(row.fields)].add(
            str(row.fields.get("evaluation_result_id") or "")
        )

    declared_in, directions = _every_eval_ever_directions(path)
    samples: list[LoggedSample] = []
    declared: dict[str, bool] = {}
    for row in rows:
        fields = row.fields
        model, evaluation = _instance_key(fields)
        result = str(fields.get("evaluation_result_id") or "")
        label = (
            f"{evaluation}/{result}"
            if result and len(results[model, evaluation]) > 1
            else evaluation
        )
        scores = _mapping(fields.get("evaluation"))
        direction = _direction(_mapping(fields.get("metric_config")))
        direction = (
            directions.get(result or evaluation, directions.get(evaluation))
            if direction is None
            else direction
        )
        if direction is not None:
            declared[label] = direction
        sample = str(fields.get("sample_id", ""))
        samples.append(
            LoggedSample(
                row.where,
                model,
                sample,
                f"sample {sample} of {evaluation}",
                {label: scores.get("score", scores.get("is_correct"))},
                epoch=str(_mapping(fields.get("metadata")).get("epoch", "")),
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


def _every_eval_ever_directions(path: Path) -> tuple[str, dict[str, bool | None]]:
    """Return the name of the aggregate beside a file of instances, and the directions
    in it by result and by evaluation.

    An evaluation whose results have two directions has None.
    """
    match = EVERY_EVAL_EVER_FILE.fullmatch(path.name)
    file = path.with_name(f"{match['name']}.json") if match else path
    if match is None or not file.is_file():
        return "", {}
    directions: dict[str, bool | None] = {}
    results = _mapping(load_json(file, constants=True)).get("evaluation_results")
    for result in map(
        _mapping, cast("list[object]", results) if isinstance(results, list) else ()
    ):
        direction = _direction(_mapping(result.get("metric_config")))
        names = {
            str(result[name])
            for name in ("evaluation_result_id", "evaluation_name")
            if result.get(name)
        }
        directions |= {
            name: direction if directions.get(name, direction) == direction else None
            for name in names
        }
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
    higher = configuration.get("higher_is_better")
    return (
        not lower
        if isinstance(lower, bool)
        else higher
        if isinstance(higher, bool)
        else None
    )


# --------------------------------------------------------------------------- inspect
def _inspect(task: object, items: Iterable[tuple[str, YamlValue]]) -> ScoreForm:
    """Return the samples of a log of inspect;
    a scorer with several values has metrics ``SCORER/VALUE``.
    """
    fields = _mapping(task)
    advice = (
        "two runs in one log? keep one of them, or number the repetitions in 'epoch'"
    )
    return ScoreForm(
        f"inspect {fields.get('task', '')}".strip(),
        _inspect_samples(items, str(fields.get("model", ""))),
        advice,
    )


def _inspect_samples(
    items: Iterable[tuple[str, YamlValue]], model: str
) -> Iterator[LoggedSample]:
    for where, item in items:
        fields = _mapping(item)
        if not fields:
            raise InputError(f"found {kind(item)}; expected a sample of inspect", where)
        values: dict[str, YamlValue] = {}
        for scorer, score in _mapping(fields.get("scores")).items():
            value = _mapping(score).get("value", score)
            parts = _mapping(value)
            values |= (
                {f"{scorer}/{part}": number for part, number in parts.items()}
                if parts
                else {scorer: value}
            )
        name = str(fields.get("id", ""))
        epoch = str(fields.get("epoch") or "")
        title = f"sample {name}" + (f" in epoch {epoch}" if epoch else "")
        yield LoggedSample(where, model, name, title, values, epoch)
