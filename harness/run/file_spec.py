"""The spec that ``harness score`` runs: files of candidates as models, a file of
references as the data set.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from harness.contracts import Values
from harness.errors import HarnessError, UnknownName
from harness.files.yaml_source import Key, Located
from harness.registry import current, split_spec
from harness.run.file_components import (
    accept_faults,
    candidate_adapter,
    reference_path,
    reference_reader,
    system_params,
)
from harness.run.file_labels import system_labels
from harness.run.file_options import USUAL_OPTIONS, FileOptions
from harness.run.file_pair import resolve_columns
from harness.spec.metric_text import parse_metric, split_metrics


def score_spec(
    files: Sequence[str],
    references: str | Sequence[str],
    metrics: Sequence[str],
    *,
    labels: Sequence[str] = (),
    p_value: str = "none",
    seed: int = 0,
    limit: int | None = None,
    allow: Sequence[str] = (),
    options: FileOptions = USUAL_OPTIONS,
    slices: Sequence[str] = (),
) -> Located:
    """Return the spec of ``harness score``; its places are the command's options,
    for error messages.

    Every file of candidates is a model, or one per system of ``options``, labelled as
    :func:`~harness.run.file_labels.system_labels` does. ``allow`` lists faults of files
    that are accepted: ``missing``, ``unknown``, ``empty`` (parameters ``allow_...`` of
    the adapter, the last of the reader too). ``slices`` are columns of the metadata
    whose values are slices. Raises :class:`~harness.errors.HarnessError` for labels
    that do not fit the files, and for metrics that cannot be parsed.
    """
    if not files:
        raise HarnessError("no file of candidates; expected at least one")
    options = resolve_columns(files, references, options)

    # Every file, or every system of every file, is a model.
    faults: Values = {"allow_missing": False, **accept_faults(allow)}
    pairs = [(file, name) for file in files for name in options.names or ("",)]
    names = system_labels(files, options.names, labels)
    models: list[Values] = []
    for (file, system), label in zip(pairs, names):
        columns = system_params(options, system)
        params = {"path": file, **columns, **faults, "label": label}
        models.append({candidate_adapter(): params})

    empty = accept_faults(["empty"] if "empty" in allow else [])
    texts = _distinct([text for item in metrics for text in split_metrics(item)])
    spec: Values = {
        "task": f"score {', '.join(Path(file).name for file in files)}",
        "dataset": {
            "reader": reference_reader(),
            "path": reference_path(references),
            **empty,
            **options.of_references(),
        },
        "models": models,
        "metrics": [dict([split_spec(parse_metric(text), "metric")]) for text in texts],
        "significance": {"method": p_value},
        "seed": seed,
        "limit": limit,
    }
    if slices:
        spec["dataset"]["meta"] = list(slices)
        spec["slices"] = list(slices)

    # Places of the spec in messages: there is no file that the user could look at.
    option_of_key: dict[Key, str] = {
        (): "harness score",
        ("dataset",): "--references",
        ("models",): "--candidates",
        ("seed",): "--seed",
        ("limit",): "--limit",
    }
    for index, text in enumerate(texts):
        option_of_key["metrics", index] = f"-m {text}"
    for index, (file, _) in enumerate(pairs):
        option_of_key["models", index] = f"--candidates {file}"
    return Located(spec, {key: (option, 0) for key, option in option_of_key.items()})


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return the metrics without those that repeat an earlier one under another name;
    unknown names stay.
    """
    first: dict[str, str] = {}
    for text in texts:
        name, params = split_spec(parse_metric(text), "metric")
        with suppress(UnknownName):
            name = current().get("metrics", name).full_name
        first.setdefault(repr((name, params)), text)
    return list(first.values())
