"""Logs of inspect, in JSON and in its binary form, as records of ids, candidates and
references.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.captions import identity
from harness.files.log_fields import prefix_fields
from harness.files.records import Record, kind
from harness.files.streams import readable
from harness.files.strict_json import decode_json
from harness.files.yaml_source import YamlValue

ZSTANDARD = 93
"""Compression method of a zip archive."""
MAX_SAMPLE_BYTES = 1 << 26
"""Maximum size of one sample in an archive of inspect, unpacked."""


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
    located = [
        (f"{location}: samples: record {k}", item) for k, item in enumerate(samples, 1)
    ]
    yield from _inspect_records(located)


def has_samples(path: Path) -> bool:
    """Return True for a zip archive with samples of inspect or the header of a log."""
    with readable(path, "zip archive"), zipfile.ZipFile(path) as archive:
        return any(
            name.startswith("samples/") or name == "header.json"
            for name in archive.namelist()
        )


def inspect_archive(path: Path) -> Iterator[Record]:
    """Yield the records of a log of inspect in its binary form ``.eval``, a zip archive
    of JSON files.

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
            if item.compress_type == ZSTANDARD:
                data = _read_zstandard(path, item)
            else:
                data = archive.read(item)
            location = f"{path}: {item.filename}"
            yield location, decode_json(data, location, constants=True)


def _read_zstandard(path: Path, item: zipfile.ZipInfo) -> bytes:
    """Return the content of a member that is compressed with Zstandard, which zipfile
    reads since Python 3.14.
    """
    import pyarrow as pa

    # The header has 30 bytes, then a name and a field whose lengths end it.
    with path.open("rb") as file:
        file.seek(item.header_offset)
        header = file.read(30)
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        file.seek(name_length + extra_length, 1)
        data = file.read(item.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return stream.read(MAX_SAMPLE_BYTES)


def _inspect_records(samples: Sequence[tuple[str, YamlValue]]) -> Iterator[Record]:
    """Yield one record per id of samples, each with its place; the epochs of a sample
    are samples of one id.
    """
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
        values |= prefix_fields("metadata", sample.get("metadata"))
        _, first = records.setdefault(key, (location, values))
        first["candidates"] += _completions(sample.get("output"))

    for location, values in records.values():
        yield Record(location, {**values, "candidates": values["candidates"] or None})


def _completions(output: YamlValue) -> list[str]:
    """Return the texts of an output: one per choice, or the completion where it lists
    no choices; none for an error.
    """
    if not isinstance(output, Mapping):
        return []
    choices = output.get("choices")
    texts: list[str] = []
    for choice in choices if isinstance(choices, list) else []:
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if isinstance(message, Mapping):
            texts.append(_content(message.get("content")))
    if texts:
        return texts

    completion = output.get("completion")
    return [completion] if isinstance(completion, str) and completion else []


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
