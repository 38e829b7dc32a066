"""Card of a data set of runs: tables of results,
and the metadata of the Hugging Face hub.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import yaml

from harness import __version__
from harness.contracts.parameters import Values
from harness.errors import InputError, counted
from harness.reporting.console import results_table
from harness.reporting.formats.markdown import escape_markdown, to_markdown
from harness.reporting.table import shown_name
from harness.run.finished import Run
from harness.rundir.records import ResultRecord, decoding_text

MARK = "caption-harness"
"""Tag of the cards, by which a folder is known as one that ``harness push`` wrote."""
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10**7, "1M<n<10M"),
)


@dataclass(frozen=True)
class CardOptions:
    """Content of a card beside the content of its runs."""

    title: str = ""
    """Title; default: the tasks."""
    license: str | None = None
    """Identifier of the licence of the captions, as the hub lists them (``cc-by-4.0``).
    """
    language: str | None = None
    """Language code (``en``)."""
    task_type: str = "image-to-text"
    """Type of the task, as the hub lists them."""
    repo: str | None = None
    """Name of the data set on the hub, for the example of how to load it."""


def card(
    runs: Mapping[str, Run], files: Mapping[str, str], rows: int, options: CardOptions
) -> str:
    """Return the content of README.md.

    Parameters
    ----------
    runs : mapping
        Name -> finished run.
    files : mapping
        Name of a configuration (``samples``, ``results``) -> its Parquet file.
    rows : int
        Number of rows of all samples.
    options : CardOptions
        Title, licence, language, type of the task.
    """
    front = yaml.safe_dump(
        front_matter(runs, files, rows, options),
        sort_keys=False,
        allow_unicode=True,
        width=120,
    )
    paragraphs = [
        f"---\n{front}---",
        f"# {escape_markdown(_title(runs, options))}",
        _introduction(files, options),
    ]
    paragraphs += [
        _section(name, run, alone=len(runs) == 1) for name, run in runs.items()
    ]
    return "\n\n".join(paragraphs) + "\n"


def front_matter(
    runs: Mapping[str, Run], files: Mapping[str, str], rows: int, options: CardOptions
) -> Values:
    """Return the YAML metadata of the card; arguments as for :func:`card`."""
    size = next((text for limit, text in _SIZES if rows < limit), "10M<n<100M")
    optional = {
        "license": options.license,
        "language": [options.language] if options.language else None,
    }

    configurations: list[Values] = []
    for name, file in files.items():
        configurations.append({"config_name": name, "data_files": file})
    if configurations:
        configurations[0]["default"] = True
    return {
        "pretty_name": _title(runs, options),
        **{name: value for name, value in optional.items() if value is not None},
        "task_categories": [options.task_type],
        "tags": [MARK, "evaluation"],
        "size_categories": [size],
        "configs": configurations,
        "model-index": model_index(list(runs.values()), options.task_type),
    }


def model_index(runs: Sequence[Run], task_type: str = "image-to-text") -> list[Values]:
    """Return the results of runs as the ``model-index`` of the hub: one entry per
    model, one result per task and decoding.

    Undefined values are left out. The arguments of a metric (``args``) hold its
    signature, number of examples, interval and p-value.
    """
    models: dict[str, dict[tuple[int, str], Values]] = {}
    for index, run in enumerate(runs):
        for record in run.records:
            if not math.isfinite(record.value):
                continue

            results = models.setdefault(record.model, {})
            result = results.setdefault(
                (index, record.decoding_key), _result(run, record, task_type)
            )
            result["metrics"].append(_metric(record))
    return [
        {"name": name, "results": list(results.values())}
        for name, results in models.items()
    ]


def _result(run: Run, record: ResultRecord, task_type: str) -> Values:
    decoding = decoding_text(record.decoding)
    source = run.provenance.data.get("source")
    hub = source if isinstance(source, Mapping) and source.get("commit") else {}

    task = run.provenance.task
    dataset = {"type": hub.get("path") or task, "name": task}
    names = {"config": "config", "split": "split", "revision": "commit"}
    dataset.update(
        {key: str(hub[name]) for key, name in names.items() if hub.get(name)}
    )
    return {
        "task": {"type": task_type, "name": f"{task} {decoding}".strip()},
        "dataset": dataset,
        "metrics": [],
    }


def _metric(record: ResultRecord) -> Values:
    arguments: Values = {"signature": record.signature, "examples": record.n}
    if record.decoding:
        arguments["decoding"] = dict(record.decoding)
    if record.ci95:
        arguments["ci95"] = list(record.ci95)
    if record.p_value is not None:
        arguments["p_value"] = record.p_value

    return {
        "type": record.metric,
        "value": record.value,
        "name": shown_name(record),
        "args": arguments,
    }


def _title(runs: Mapping[str, Run], options: CardOptions) -> str:
    return options.title or f"Captions and scores: {', '.join(runs)}"


def _introduction(files: Mapping[str, str], options: CardOptions) -> str:
    first = next(iter(files))
    repository = options.repo or "FOLDER"
    return (
        "Captions, scores per example and results of an evaluation with "
        f"caption-harness {__version__}. `samples` has one row per "
        "model, decoding and example; `results` has one row per model, "
        "decoding and metric.\n\n"
        "```python\nimport datasets\n\nsamples = "
        f'datasets.load_dataset("{repository}", "{first}")["train"]\n```'
    )


def _section(name: str, run: Run, *, alone: bool) -> str:
    """Return the text on one run: data, table of results, notes,
    and how to repeat it.
    """
    provenance = run.provenance
    paragraphs = [] if alone else [f"## {escape_markdown(name)}"]

    paragraphs.append(_data_line(run))
    paragraphs.append(to_markdown(replace(results_table(run), title="")).rstrip())
    if run.failed:
        paragraphs.append(
            f"{counted(len(run.failed), 'example')} could not be processed by their "
            "model."
        )
    paragraphs += [f"- {escape_markdown(note)}" for note in run.notes]

    versions = provenance.content.get("versions") or {}
    if isinstance(versions, Mapping):
        packages = [f"{escape_markdown(str(k))} {v}" for k, v in versions.items()]
        paragraphs.append(f"Versions: {', '.join(packages)}.")
    paragraphs.append(
        f"Signature: `{provenance.signature}`; digest `{provenance.digest[:16]}`."
    )
    return "\n\n".join(paragraphs)


def _data_line(run: Run) -> str:
    data = run.provenance.data
    source = data.get("source")
    origin = str(data.get("reader", ""))
    details = ""
    if isinstance(source, Mapping):
        # a data set of the hub is known by its name, any other by its reader
        if source.get("commit"):
            origin = str(source.get("path"))
        text = ", ".join(f"{k} {v}" for k, v in source.items() if k != "path")
        details = f" ({escape_markdown(text)})" if text else ""
    return (
        f"Data: {escape_markdown(origin)}{details}, "
        f"{data.get('examples', '?')} examples."
    )


def check_text(options: CardOptions) -> None:
    """Raise :class:`InputError` for options that would break the card's metadata."""
    for name in ("title", "license", "language", "task_type"):
        value = getattr(options, name)
        if value is not None and (not isinstance(value, str) or "\n" in value):
            raise InputError(
                f"{name} is one line of text; found {value!r:.60}", parameter=name
            )
