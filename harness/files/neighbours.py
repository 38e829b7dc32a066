"""Logs of neighbouring programs: samples of lm-eval and logs of inspect, as records of
ids, candidates and references.
"""

from __future__ import annotations

import ast
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.captions import identity
from harness.files.records import Record, decode_json, kind
from harness.files.streams import readable
from harness.files.yaml_source import YamlValue

ZIP_MAGIC = b"PK\x03\x04"
ZSTANDARD = 93
"""Compression method of a zip archive."""
MAX_SAMPLE_BYTES = 1 << 26
"""Maximum size of one sample in an archive of inspect, unpacked."""


# --------------------------------------------------------------------------- lm-eval
LM_EVAL_RESPONSES = frozenset(("filtered_resps", "resps"))
"""Fields of a line of a file ``samples_TASK_DATE.jsonl`` of lm-eval,
at least one of them beside ``doc_id``.
"""

RESPONSES = "resps"
"""Column of all responses to a document, where a file has more of them than filtered
ones.
"""


def lm_eval_rows(rows: Iterable[Record]) -> Iterator[Record]:
    """Yield one record per document: ``id``, ``candidates``, ``references`` (the
    target), and the texts, numbers and lists of texts of the document as ``doc.NAME``.

    A file with several filters has an object of them in ``candidates``: filter ->
    texts. Where a document has more responses than filtered ones (``repeats`` of
    lm-eval), all of them are in the column :data:`RESPONSES`.

    Raises :class:`InputError` for responses that are not texts (log-likelihoods of a
    multiple-choice task).
    """
    documents: dict[str, tuple[Record, dict[str, list[str]]]] = {}
    for row in rows:
        key = identity(row.fields.get("doc_id"), row.where, "doc_id")
        name = str(row.fields.get("filter", "none"))
        _, filters = documents.setdefault(key, (row, {}))
        if name in filters:
            raise InputError(
                f"the document '{key}' occurs twice with the filter '{name}'", row.where
            )
        responses = row.fields.get("filtered_resps", row.fields.get("resps"))
        filters[name] = list(_texts(responses, row.where))
    responses = {key: _responses(row) for key, (row, _) in documents.items()}
    has_more = any(
        len(responses[key]) > len(next(iter(filters.values())))
        for key, (_, filters) in documents.items()
    )
    for key, (row, filters) in documents.items():
        (first, *others) = filters.values()
        values = {
            "id": key,
            "candidates": filters if others else first,
            "references": _target(row.fields.get("target")),
        }
        values |= {RESPONSES: responses[key]} if has_more else {}
        yield Record(row.where, values | _name_neighbour("doc", row.fields.get("doc")))


def _responses(row: Record) -> list[str]:
    """Return all responses to a document; empty where they are no texts."""
    try:
        return list(_texts(row.fields.get("resps"), row.where))
    except InputError:
        return []


def _target(value: YamlValue) -> YamlValue:
    """Return a target; a list that was written as the text of a Python list is a list
    again.

    >>> _target("['a dog', 'the dog']"), _target("a dog")
    (['a dog', 'the dog'], 'a dog')
    """
    if isinstance(value, str) and value[:2] in ("['", '["') and value.endswith("]"):
        try:
            texts = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
        return (
            texts
            if isinstance(texts, list) and all(isinstance(text, str) for text in texts)
            else value
        )
    return value


def _name_neighbour(prefix: str, values: YamlValue) -> Values:
    """Return the texts, numbers and lists of texts of an object as ``PREFIX.NAME``."""
    if not isinstance(values, Mapping):
        return {}
    return {
        f"{prefix}.{name}": value for name, value in values.items() if _is_plain(value)
    }


def _is_plain(value: YamlValue) -> bool:
    return isinstance(value, (str, int, float)) or (
        isinstance(value, list) and all(isinstance(x, str) for x in value)
    )


def _texts(value: YamlValue, location: str) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and not _is_likelihood(value):
        for item in value:
            yield from _texts(item, location)
    else:
        raise InputError(
            f"a response is {kind(value)}; expected text (tasks of lm-eval that "
            "score choices generate no texts)",
            location,
        )


def _is_likelihood(value: list[YamlValue]) -> bool:
    """Return True for a log-likelihood and its flag, as numbers or,
    as lm-eval writes them, as texts.
    """
    return (
        len(value) == 2
        and str(value[1]) in ("True", "False")
        and str(value[0]).replace(".", "").lstrip("-").isdigit()
    )


# --------------------------------------------------------------------------- inspect
def is_inspect_log(value: YamlValue) -> bool:
    """Return True for the object of a log of inspect in JSON."""
    return isinstance(value, Mapping) and "eval" in value and "samples" in value


def inspect_rows(log: Parameters, location: str) -> Iterator[Record]:
    """Yield one record per sample id of a log: ``id``, ``candidates`` (of all epochs
    and choices), ``references`` (the target), ``source``.

    Raises :class:`InputError` for a log without samples.
    """
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise InputError(
            f"the log has no samples (status {log.get('status', 'unknown')})", location
        )
    yield from _inspect_records(
        [
            (f"{location}: samples: record {k}", item)
            for k, item in enumerate(samples, 1)
        ]
    )


def is_archive(path: Path) -> bool:
    """Return True for a file that begins as a zip archive does."""
    with path.open("rb") as file:
        return file.read(4) == ZIP_MAGIC


def has_samples(path: Path) -> bool:
    """Return True for a zip archive with samples of inspect or the header of a log."""
    with readable(path, "zip archive"), zipfile.ZipFile(path) as archive:
        return any(
            name.startswith("samples/") or name == "header.json"
            for name in archive.namelist()
        )


def inspect_archive(path: Path) -> Iterator[Record]:
    """Yield the records of a log of inspect in its binary form ``.eval``,
    a zip archive of JSON files.

    Raises :class:`InputError` for an archive of another kind, and for a damaged one.
    """
    samples = list(archive_members(path, "samples/"))
    if not samples:
        raise InputError(
            "is a zip archive without samples of inspect; expected a file of captions",
            str(path),
        )
    yield from _inspect_records(samples)


def archive_members(path: Path, beginning: str) -> Iterator[tuple[str, YamlValue]]:
    """Yield place and content of the JSON files of a log ``.eval`` whose names have a
    beginning, in the order of their names.

    Inspect writes NaN for a sample that a scorer left unscored, so that the constants
    of Python's JSON are read.

    Raises :class:`InputError` for a damaged archive.
    """
    with readable(path, "log of inspect"), zipfile.ZipFile(path) as archive:
        members = [
            item for item in archive.infolist() if item.filename.startswith(beginning)
        ]
        for item in sorted(members, key=lambda member: member.filename):
            if item.file_size > MAX_SAMPLE_BYTES:
                raise InputError(
                    f"{item.filename} has {item.file_size:,} bytes; "
                    f"at most {MAX_SAMPLE_BYTES:,}",
                    str(path),
                )
            data = (
                archive.read(item)
                if item.compress_type != ZSTANDARD
                else _zstandard(path, item)
            )
            location = f"{path}: {item.filename}"
            yield location, decode_json(data, location, constants=True)


def _zstandard(path: Path, item: zipfile.ZipInfo) -> bytes:
    """Return the content of a member that is compressed with Zstandard,
    which zipfile reads since Python 3.14.
    """
    import pyarrow as pa

    with path.open("rb") as file:
        file.seek(item.header_offset)
        header = file.read(30)
        file.seek(sum(struct.unpack("<HH", header[26:30])), 1)
        data = file.read(item.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return stream.read(MAX_SAMPLE_BYTES)


def _inspect_records(samples: Sequence[tuple[str, YamlValue]]) -> Iterator[Record]:
    records: dict[str, tuple[str, Values]] = {}
    for location, sample in samples:
        if not isinstance(sample, Mapping):
            raise InputError(
                f"found {kind(sample)}; expected a sample of inspect", location
            )
        key = identity(sample.get("id"), location, "id")
        source = sample.get("input")
        values = {"id": key, "candidates": [], "references": sample.get("target")}
        values |= {"source": source} if isinstance(source, str) else {}
        values |= _name_neighbour("metadata", sample.get("metadata"))
        records.setdefault(key, (location, values))[1]["candidates"].extend(
            _completions(sample.get("output"))
        )
    for location, values in records.values():
        yield Record(location, {**values, "candidates": values["candidates"] or None})


def _completions(output: YamlValue) -> list[str]:
    """Return the texts of an output: one per choice, or the completion where it lists
    no choices; none for an error.
    """
    if not isinstance(output, Mapping):
        return []
    choices = output.get("choices")
    messages = (
        [choice.get("message") for choice in choices if isinstance(choice, Mapping)]
        if isinstance(choices, list)
        else []
    )
    texts = [
        _content(message.get("content"))
        for message in messages
        if isinstance(message, Mapping)
    ]
    completion = output.get("completion")
    return texts or ([completion] if isinstance(completion, str) and completion else [])


def _content(content: YamlValue) -> str:
    """Return the text of a message: a text, or the parts of type ``text`` of a list."""
    if isinstance(content, str):
        return content
    entries = content if isinstance(content, list) else []
    return "\n".join(
        str(entry.get("text", ""))
        for entry in entries
        if isinstance(entry, Mapping) and entry.get("type") == "text"
    )
