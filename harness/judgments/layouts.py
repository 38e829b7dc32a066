"""Layouts of judgment files that are brought into the usual one: systems as columns,
and the folders of mt-metrics-eval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from harness.errors import InputError
from harness.files.forms import read_lines
from harness.files.record_files import read_records
from harness.files.records import Record, kind
from harness.files.strict_json import decode_json
from harness.files.user_path import user_path
from harness.files.yaml_source import YamlValue
from harness.judgments.fields import column, lookup
from harness.spec.judgment_models import JudgmentColumns

SEGMENT_SCORES = ".seg.score"


# --------------------------------------------------------------------------- systems as columns
def gather_columns(record: Record, columns: JudgmentColumns) -> Record:
    """Return a record with the texts of ``reference_columns`` as ``references`` and
    those of ``caption_columns`` as ``candidates``.
    """
    names = [*columns.reference_columns, *columns.caption_columns]
    if not names:
        return record
    values = {
        name: lookup(record.fields, str(column(name, (), record, "text")))
        for name in names
    }
    fields: dict[str, YamlValue] = {
        name: value for name, value in record.fields.items() if name not in values
    }
    if columns.reference_columns:
        fields["references"] = [
            values[name] for name in columns.reference_columns if values[name]
        ]
    if columns.caption_columns:
        name = str(columns.score or "score")
        scores = fields.pop(name, None)
        if isinstance(scores, str):
            scores = decode_json(scores.encode(), record.where, complete=True)
        if not isinstance(scores, Mapping):
            raise InputError(
                f"'{name}' is {kind(scores)}; expected an object with the score of "
                "each system",
                record.where,
            )
        of_system = cast("Mapping[str, YamlValue]", scores)
        fields["candidates"] = {
            system: {"caption": values[system], name: of_system.get(system)}
            for system in columns.caption_columns
        }
    return Record(record.where, fields)


# --------------------------------------------------------------------------- mt-metrics-eval
def is_segment_file(path: str) -> bool:
    """Return True for the human scores of segments in a folder of mt-metrics-eval:
    ``human-scores/LP.NAME.seg.score``.
    """
    return path.endswith(SEGMENT_SCORES)


def list_text_files(path: str) -> dict[str, Path]:
    """Return the texts that belong to a file of human scores: ``source``,
    ``documents``, ``reference NAME`` and ``system NAME`` -> file.
    """
    scores = user_path(path)
    pair = scores.name.split(".")[0]
    folder = scores.parent.parent
    files = {
        "source": folder / "sources" / f"{pair}.txt",
        "documents": folder / "documents" / f"{pair}.docs",
    }
    for file in sorted((folder / "references").glob(f"{pair}.*.txt")):
        files[f"reference {file.name.split('.')[1]}"] = file
    for file in sorted((folder / "system-outputs" / pair).glob("*.txt")):
        files[f"system {file.stem}"] = file
    return files


def read_segments(path: str) -> Iterator[Record]:
    """Yield the human scores of a test set with the texts of their segments.

    A record has ``id`` (the number of the segment), ``system``, ``score``, ``caption``,
    ``source``, ``domain``, ``document``, and ``references``, an object by their names,
    such as ``refA``.
    """
    texts = {name: _read_lines(file) for name, file in list_text_files(path).items()}
    sources = texts["source"]
    references = {
        name.split()[1]: lines
        for name, lines in texts.items()
        if name.startswith("reference ")
    }
    documents = [line.split() for line in texts["documents"]]
    uneven = next(
        (name for name, lines in texts.items() if len(lines) != len(sources)), None
    )
    if uneven is not None:
        raise InputError(
            f"{uneven} has {len(texts[uneven])} lines; expected {len(sources)}, "
            "as many as the source",
            path,
        )
    if any(len(words) < 2 for words in documents):
        raise InputError("a line of documents is not DOMAIN DOCUMENT", path)
    for record in read_records(path, "file of human scores"):
        system = str(record.fields["system"])
        number = int(str(record.fields["id"])) - 1
        outputs = texts.get(f"system {system}")
        if outputs is None or number >= len(outputs):
            what = "no outputs" if outputs is None else f"{len(outputs)} outputs"
            raise InputError(
                f"the system '{system}' has {what} in system-outputs, "
                f"and a score of segment {number + 1}",
                record.where,
            )
        domain, document = documents[number][:2]
        fields = {
            "caption": outputs[number],
            "source": sources[number],
            "domain": domain,
            "document": document,
        }
        yield Record(
            record.where,
            {
                **record.fields,
                **fields,
                "references": {
                    name: lines[number] for name, lines in references.items()
                },
            },
        )


def _read_lines(path: Path) -> list[str]:
    if not path.exists():
        raise InputError(
            "no such file of a test set in the folders of mt-metrics-eval", str(path)
        )
    return [line.rstrip() for _, line in read_lines(path)]
