"""Scores per sample in the logs of other harnesses, as runs that ``compare`` and ``gate`` test.

lm-eval and lmms-eval write a line per document, with the metrics as keys beside ``doc_id``; inspect a log (``.json``, or ``.eval``, a zip
archive) whose samples have ``scores``; every-eval-ever a line per instance with an ``evaluation``. Accuracy and the like are larger the
better; epochs of a sample are averaged.
"""

from __future__ import annotations

import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from harness.contracts import MeanMetric, MetricSpec, Values
from harness.errors import InputError
from harness.files.records import decode_json, existing, first_byte, load_json, records
from harness.files.streams import check_expansion
from harness.run.finished import Run
from harness.run.score import Scored
from harness.rundir.artifacts import ArtifactKey, MemoryArtifacts
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

NO_SCORES = ("doc_id", "idx", "target")
"""Numbers in a line of lm-eval and lmms-eval that are no scores."""
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Values of inspect's scorers: correct, partially correct, incorrect, no answer."""
SCORED_SAMPLE = tuple[str, str, Mapping[str, float]]
"""Model (empty where the log does not name it), id of the sample, metric -> score."""


class LoggedScore(MeanMetric):
    """The mean of scores that another program computed. They are in its log, which does not declare their range; nothing is scored."""

    def __init__(self, label: str, bounds: tuple[float, float] | None = None) -> None:
        self.spec = MetricSpec(label, True, needs=frozenset(), bounds=bounds)


def read_score_log(path: Path) -> Run:
    """Return the scores of a log as a run in memory.

    Raises :class:`InputError` for a file without scores per sample that one of the forms has.
    """
    form, samples = _read_samples(existing(path))
    scores: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for model, name, values in samples:
        for metric, value in values.items():
            scores[model or path.stem, name][metric].append(value)
    metrics = sorted({metric for values in scores.values() for metric in values})
    if not metrics:
        raise InputError("no score per sample; expected samples of lm-eval, lmms-eval, inspect or every-eval-ever", str(path))
    models = list(dict.fromkeys(model for model, _ in scores))
    artifacts, rows = MemoryArtifacts(), list[ResultRecord]()
    columns: dict[str, list[Any]] = {"model": [model for model, _ in scores], "example": [name for _, name in scores]}
    empty: list[Any] = [() for _ in scores]
    columns |= {"decoding": ["{}"] * len(scores), "candidates": empty, "references": empty}
    for metric in metrics:
        column = np.array([np.mean(values[metric]) if metric in values else np.nan for values in scores.values()])
        columns[metric] = column.tolist()
        for model in models:
            of_model = column[[name == model for name in columns["model"]]]
            n = int(np.sum(~np.isnan(of_model)))
            if not n:
                continue
            key, value = ArtifactKey.of(f"{model} {metric}", model, metric), float(np.nanmean(of_model))
            artifacts.write_arrays(key, Scored(of_model[:, None], None, None, "", 0.0).to_arrays())
            rows.append(ResultRecord(model=model, metric=metric, higher_is_better=True, value=value, n=n, statistics=key.stem))
    entries: list[Values] = [{"label": metric, "name": "", "params": {}, "signature": f"scores|{metric}"} for metric in metrics]
    content: Values = {"task": path.stem, "data": {"reader": form, "fingerprint": form, "examples": len(scores)}, "metrics": entries}
    return Run(Provenance(cast(Any, content)), tuple(rows), SampleTable(columns), artifacts=artifacts)


def _read_samples(path: Path) -> tuple[str, Iterable[SCORED_SAMPLE]]:
    """Return the form of a log, with the task where the log names it, and its samples."""
    if zipfile.is_zipfile(path):
        return _inspect_archive(path)
    if path.suffix != ".jsonl" and first_byte(path) == b"{":
        content = load_json(path)
        log = cast("Mapping[str, Any]", content if isinstance(content, dict) else {})
        if isinstance(items := log.get("samples"), list):
            return _inspect_samples(log.get("eval"), cast("list[Mapping[str, Any]]", items))
    rows = [record.fields for record in records(path)]
    for form, key, read in FORMS:
        if rows and key in rows[0]:
            return form, map(read, rows)
    raise InputError("no log of lm-eval, lmms-eval, inspect or every-eval-ever: a line has no 'doc_id' or 'evaluation'", str(path))


def _lm_eval_sample(row: Mapping[str, Any]) -> SCORED_SAMPLE:
    names = row.get("metrics") or [name for name in row if name not in NO_SCORES]
    scores = {f"{name}": score for name in names if (score := _number(row.get(name))) is not None}
    filter_name = row.get("filter")
    by_name = {f"{name},{filter_name}" if filter_name not in (None, "none") else name: value for name, value in scores.items()}
    # Documents of other data have another hash: equal numbers do not pair them.
    return "", f"{row['doc_id']}:{str(row.get('doc_hash', ''))[:12]}", by_name


def _instance(row: Mapping[str, Any]) -> SCORED_SAMPLE:
    evaluation = cast("Mapping[str, Any]", row["evaluation"])
    score = _number(evaluation.get("score", evaluation.get("is_correct")))
    scores = {} if score is None else {str(row.get("evaluation_name", "score")): score}
    return str(row.get("model_id", "")), str(row.get("sample_id", "")), scores


FORMS: tuple[tuple[str, str, Callable[[Mapping[str, Any]], SCORED_SAMPLE]], ...] = (
    ("lm-eval", "doc_id", _lm_eval_sample), ("every-eval-ever", "evaluation", _instance),
)  # fmt: skip
"""Name of a form of lines, the key that tells it, and its reader."""


def _inspect_archive(path: Path) -> tuple[str, list[SCORED_SAMPLE]]:
    """Return the form and the samples of an ``.eval`` archive."""
    with zipfile.ZipFile(path) as archive:
        check_expansion(archive)
        names = archive.namelist()
        header: Any = decode_json(archive.read("header.json"), f"{path}/header.json") if "header.json" in names else {}
        samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
        contents = (cast("Mapping[str, Any]", decode_json(archive.read(name), f"{path}/{name}")) for name in samples)
        return _inspect_samples(header.get("eval"), contents)


def _inspect_samples(task: Any, items: Iterable[Mapping[str, Any]]) -> tuple[str, list[SCORED_SAMPLE]]:
    """Return the form of a log of inspect, with its task, and its samples."""
    fields = cast("Mapping[str, Any]", task or {})
    return f"inspect {fields.get('task', '')}".strip(), [_inspect_sample(item, str(fields.get("model", ""))) for item in items]


def _inspect_sample(item: Mapping[str, Any], model: str) -> SCORED_SAMPLE:
    scores: dict[str, float] = {}
    for name, score in cast("Mapping[str, Mapping[str, Any]]", item.get("scores") or {}).items():
        value = score.get("value")
        parts = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {"": value}
        numbers = {f"{name}/{part}".rstrip("/"): _number(LETTERS.get(str(raw), raw)) for part, raw in parts.items()}
        scores |= {label: number for label, number in numbers.items() if number is not None}
    return model, str(item.get("id", "")), scores


def _number(value: object) -> float | None:
    """Return a score as a number; None for anything that is no score."""
    return float(value) if isinstance(value, (bool, int, float)) and np.isfinite(value) else None
