"""Logs of neighbouring programs: samples of lm-eval and logs of inspect, as records of ids, candidates and references."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.captions import identity
from harness.files.readable import readable
from harness.files.records import Record, kind, parse_json
from harness.files.yaml_source import YamlValue

ZIP_MAGIC = b"PK\x03\x04"
MAX_SAMPLE_BYTES = 1 << 26
"""Maximum size of one sample in an archive of inspect, unpacked."""


# --------------------------------------------------------------------------- lm-eval
def is_lm_eval_record(record: Parameters) -> bool:
    """Return True for a line of a file ``samples_TASK_DATE.jsonl`` of lm-eval."""
    return "doc_id" in record and ("filtered_resps" in record or "resps" in record)


def lm_eval_rows(rows: Iterable[Record]) -> Iterator[Record]:
    """Yield one record per document: ``id``, ``candidates`` and ``references`` (the target).

    A file with several filters has an object of them in ``candidates``: filter -> texts.

    Raises :class:`InputError` for responses that are not texts (log-likelihoods of a multiple-choice task).
    """
    documents: dict[str, tuple[Record, dict[str, list[str]]]] = {}
    for row in rows:
        key = identity(row.fields.get("doc_id"), row.where, "doc_id")
        name = str(row.fields.get("filter", "none"))
        _, filters = documents.setdefault(key, (row, {}))
        if name in filters:
            raise InputError(f"the document '{key}' occurs twice with the filter '{name}'", row.where)
        responses = row.fields.get("filtered_resps", row.fields.get("resps"))
        filters[name] = list(_texts(responses, row.where))
    for key, (row, filters) in documents.items():
        (first, *others) = filters.values()
        target = row.fields.get("target")
        yield Record(row.where, {"id": key, "candidates": filters if others else first, "references": target})


def _texts(value: YamlValue, where: str) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, where)
    else:
        raise InputError(
            f"a response is {kind(value)}; expected text (tasks of lm-eval that score choices generate no texts)", where
        )


# --------------------------------------------------------------------------- inspect
def is_inspect_log(value: YamlValue) -> bool:
    """Return True for the object of a log of inspect in JSON."""
    return isinstance(value, Mapping) and "eval" in value and "samples" in value


def inspect_rows(log: Parameters, where: str) -> Iterator[Record]:
    """Yield one record per sample id of a log: ``id``, ``candidates`` (of all epochs and choices), ``references`` (the target), ``source``.

    Raises :class:`InputError` for a log without samples.
    """
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise InputError(f"the log has no samples (status {log.get('status', 'unknown')})", where)
    yield from _inspect_records([(f"{where}: samples: record {k}", item) for k, item in enumerate(samples, 1)])


def is_archive(path: Path) -> bool:
    """Return True for a file that begins as a zip archive does."""
    with path.open("rb") as file:
        return file.read(4) == ZIP_MAGIC


def inspect_archive(path: Path) -> Iterator[Record]:
    """Yield the records of a log of inspect in its binary form ``.eval``, a zip archive of JSON files.

    Raises :class:`InputError` for an archive of another kind, and for one whose compression this Python cannot read.
    """
    samples: list[tuple[str, YamlValue]] = []
    with readable(path, "log of inspect"), zipfile.ZipFile(path) as archive:
        members = [item for item in archive.infolist() if item.filename.startswith("samples/")]
        if not members:
            raise InputError("is a zip archive without samples of inspect; expected a file of captions", str(path))
        for item in sorted(members, key=lambda member: member.filename):
            if item.file_size > MAX_SAMPLE_BYTES:
                raise InputError(
                    f"{item.filename} has {item.file_size:,} bytes; at most {MAX_SAMPLE_BYTES:,}", str(path)
                )
            try:
                data = archive.read(item)
            except NotImplementedError as error:
                raise InputError(
                    f"{error}; convert the log: inspect log convert --to json --output-dir FOLDER {path.name}",
                    str(path),
                ) from error
            samples.append((f"{path}: {item.filename}", parse_json(data, f"{path}: {item.filename}")))
    yield from _inspect_records(samples)


def _inspect_records(samples: Sequence[tuple[str, YamlValue]]) -> Iterator[Record]:
    records: dict[str, tuple[str, Values]] = {}
    for where, sample in samples:
        if not isinstance(sample, Mapping):
            raise InputError(f"found {kind(sample)}; expected a sample of inspect", where)
        key = identity(sample.get("id"), where, "id")
        source = sample.get("input")
        values = {"id": key, "candidates": [], "references": sample.get("target")}
        values |= {"source": source} if isinstance(source, str) else {}
        records.setdefault(key, (where, values))[1]["candidates"].extend(_completions(sample.get("output")))
    for where, values in records.values():
        yield Record(where, {**values, "candidates": values["candidates"] or None})


def _completions(output: YamlValue) -> list[str]:
    """Return the texts of an output: one per choice, or the completion where it lists no choices; none for an error."""
    if not isinstance(output, Mapping):
        return []
    choices = output.get("choices") or []
    texts = [_content(choice.get("message", {}).get("content")) for choice in choices if isinstance(choice, Mapping)]
    completion = output.get("completion")
    return texts or ([completion] if isinstance(completion, str) and completion else [])


def _content(content: YamlValue) -> str:
    """Return the text of a message: a text, or the parts of type ``text`` of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(part.get("text", "")) for part in parts if isinstance(part, Mapping) and part.get("type") == "text"
    )
