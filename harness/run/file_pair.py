"""Caption sets and specs from files of candidates and a file of references."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from harness.contracts import Adapter, CaptionSet, Decoding, Reader, TaskView, Values
from harness.errors import HarnessError, UnknownName
from harness.files.yaml_source import Key, Located
from harness.registry import current, split_spec
from harness.run.file_labels import file_labels
from harness.run.generate import prepare, results_of, sets_of_results
from harness.run.plan import ModelPlan
from harness.spec.metric_text import parse_metric, split_metrics


def reference_reader() -> str:
    """Return the name of the reader that recognises the format of a reference file."""
    return current().with_role("readers", "reference-files").name


def candidate_adapter() -> str:
    """Return the name of the adapter that reads candidates from files."""
    return current().with_role("adapters", "candidate-files").name


def read_file_pair(candidates: str | Path, references: str | Path, *, allow_missing: bool = False) -> list[CaptionSet]:
    """Return the caption sets of two files (docs/data-formats.md lists the formats).

    Raises :class:`~harness.errors.InputError` for files that cannot be read and ids that do not match.
    """
    registry = current()
    reader = cast(Reader, registry.create("readers", reference_reader(), {"path": str(references)}))
    params = {"path": str(candidates), "allow_missing": allow_missing}
    adapter = cast(Adapter, registry.create("adapters", candidate_adapter(), params))
    task = TaskView(list(reader), Decoding())
    prepare(ModelPlan("candidates", candidate_adapter(), params, adapter), task)
    items = results_of(adapter, "candidates", task.examples, task.decoding, [0] * len(task.examples))
    return sets_of_results(task.examples, items)


def score_spec(
    files: Sequence[str],
    references: str,
    metrics: Sequence[str],
    *,
    labels: Sequence[str] = (),
    p_value: str = "none",
    seed: int = 0,
    limit: int | None = None,
    allow: Sequence[str] = (),
) -> Located:
    """Return the spec of ``harness score``; its places are the command's options, for error messages.

    Every file of candidates is a model, labelled as :func:`~harness.run.file_labels.file_labels` does. ``allow`` lists faults
    of files that are accepted: ``missing``, ``unknown``, ``empty`` (parameters ``allow_...`` of the adapter). Raises
    :class:`~harness.errors.HarnessError` for labels that do not fit the files, and for metrics that cannot be parsed.
    """
    if not files:
        raise HarnessError("no file of candidates; expected at least one")
    params: Values = {"allow_missing": False} | {f"allow_{fault}": True for fault in allow}
    models = [
        {candidate_adapter(): {"path": file, **params, "label": label}}
        for file, label in zip(files, file_labels(files, labels))
    ]
    texts = _distinct([text for item in metrics for text in split_metrics(item)])
    spec: Values = {
        "task": f"score {', '.join(Path(file).name for file in files)}",
        "dataset": {"reader": reference_reader(), "path": references},
        "models": models,
        "metrics": [dict([split_spec(parse_metric(text), "metric")]) for text in texts],
        "significance": {"method": p_value},
        "seed": seed,
        "limit": limit,
    }
    options: dict[Key, str] = {("metrics", index): f"-m {text}" for index, text in enumerate(texts)}
    options |= {("models", index): f"--candidates {file}" for index, file in enumerate(files)}
    options |= {(): "harness score", ("dataset",): "--references", ("models",): "--candidates"}
    options |= {("seed",): "--seed", ("limit",): "--limit"}
    return Located(spec, {key: (option, 0) for key, option in options.items()})


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return the metrics without those that repeat an earlier one under another name; unknown names stay."""
    first: dict[str, str] = {}
    for text in texts:
        name, params = split_spec(parse_metric(text), "metric")
        with suppress(UnknownName):
            name = current().get("metrics", name).full_name
        first.setdefault(repr((name, params)), text)
    return list(first.values())
