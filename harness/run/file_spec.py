"""The spec that ``harness score`` runs: files of candidates as models, a file of
references as the data set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.contracts import Parameters, Values
from harness.contracts.parameters import parameters
from harness.errors import HarnessError, UnknownName
from harness.files.yaml_source import Key, Located
from harness.registry import current, split_spec
from harness.run.event_metrics import options_for
from harness.run.file_components import (
    accept_faults,
    candidate_adapter,
    image_examples,
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
    references: str | Sequence[str] | None,
    metrics: Sequence[str | Parameters],
    *,
    images: str | None = None,
    labels: Sequence[str] = (),
    p_value: str = "none",
    seed: int = 0,
    bootstrap: int | None = None,
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
    whose values are slices. ``images`` is the folder of the images, which metrics of
    images read; without ``references`` the ids of the candidates are the examples.

    Raises :class:`~harness.errors.HarnessError` for labels that do not fit the files,
    and for metrics that cannot be parsed.
    """
    if not files:
        raise HarnessError("no file of candidates; expected at least one")
    entries = _distinct_metrics(metrics)
    options = options_for([name for _, name, _ in entries], options)
    if references is None:
        _refuse_references(entries)
    else:
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

    spec: Values = {
        "task": f"score {', '.join(Path(file).name for file in files)}",
        "dataset": _dataset(files, references, images, allow, options),
        "models": models,
        "metrics": [
            {name: {**_image_params(name, images), **params}}
            for _, name, params in entries
        ],
        "significance": {"method": p_value},
        "seed": seed,
        "limit": limit,
    }
    if bootstrap is not None:
        spec["bootstrap"] = {"samples": bootstrap}
    if slices:
        spec["dataset"]["meta"] = list(slices)
        spec["slices"] = list(slices)

    options_of_keys = {
        **_options_of_keys(references),
        **{("metrics", k): f"-m {text}" for k, (text, *_) in enumerate(entries)},
        **{("models", k): f"--candidates {file}" for k, (file, _) in enumerate(pairs)},
    }
    return Located(spec, {key: (name, 0) for key, name in options_of_keys.items()})


def _dataset(
    files: Sequence[str],
    references: str | Sequence[str] | None,
    images: str | None,
    allow: Sequence[str],
    options: FileOptions,
) -> Values:
    """Return the data set: files of references, or without them the images that the
    candidates are about.
    """
    if references is None:
        return image_examples(files, str(images), options)
    return {
        "reader": reference_reader(),
        "path": reference_path(references),
        **accept_faults(["empty"] if "empty" in allow else []),
        **options.of_references(),
    }


def _options_of_keys(references: str | Sequence[str] | None) -> dict[Key, str]:
    """Return key of the spec -> option of the command: there is no file whose places a
    message could name.
    """
    return {
        (): "harness score",
        ("dataset",): "--references" if references is not None else "--images",
        ("models",): "--candidates",
        ("seed",): "--seed",
        ("limit",): "--limit",
    }


def _image_params(metric: str, images: str | None) -> Values:
    """Return the parameter of a metric that looks up images in a folder; nothing for
    others, such as those whose judge gets the images of the examples.
    """
    if not images or "images" not in _needs(metric):
        return {}
    names = parameters(current().load("metrics", metric))
    return {"images": images} if "images" in names else {}


def _needs(metric: str) -> Sequence[str]:
    """Return what a metric needs by its declaration; nothing for an unknown name."""
    with suppress(UnknownName):
        return current().get("metrics", metric).needs
    return ()


def _refuse_references(chosen: Sequence[tuple[str, str, Parameters]]) -> None:
    """Raise :class:`HarnessError` for a metric that needs references."""
    for text, name, _ in chosen:
        if "references" in _needs(name):
            of_images = [
                entry.name
                for entry in current().entries("metrics")
                if "images" in entry.needs and "references" not in entry.needs
            ]
            raise HarnessError(
                f"metric '{text}' needs references; metrics that read images alone are "
                f"{', '.join(of_images)}",
                parameter="references",
            )


def _distinct_metrics(
    metrics: Sequence[object],
) -> list[tuple[str, str, Parameters]]:
    """Return text, name and parameters of the metrics without those that repeat an
    earlier one under another name; unknown names stay.
    """
    distinct: dict[str, tuple[str, str, Parameters]] = {}
    for item in metrics:
        if not isinstance(item, (str, Mapping)):
            raise HarnessError(
                f"the metric {item!r} has no name; a run of files takes registered "
                "metrics: 'NAME' or {'NAME': PARAMETERS}"
            )
        texts = split_metrics(item) if isinstance(item, str) else ()
        metrics_of_text: list[tuple[str, Any]] = [
            (text, parse_metric(text)) for text in texts
        ]
        for text, metric in metrics_of_text or [("", item)]:
            name, params = split_spec(metric, "metric")
            full_name = name
            with suppress(UnknownName):
                full_name = current().get("metrics", name).full_name
            key = repr((full_name, params))
            distinct.setdefault(key, (text or name, name, params))
    return list(distinct.values())
