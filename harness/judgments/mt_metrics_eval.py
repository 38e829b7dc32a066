"""Test sets in the folders of mt-metrics-eval."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.errors import InputError
from harness.files.forms import read_lines
from harness.files.record_files import read_records
from harness.files.records import Record
from harness.files.user_path import user_path

SEGMENT_SCORES = ".seg.score"
"""End of the name of a file with human scores of segments."""


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

    # All files have a line for each segment.
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
            output_count = (
                "no outputs" if outputs is None else f"{len(outputs)} outputs"
            )
            raise InputError(
                f"the system '{system}' has {output_count} in system-outputs, "
                f"and a score of segment {number + 1}",
                record.where,
            )
        domain, document = documents[number][:2]
        fields = {
            **record.fields,
            "caption": outputs[number],
            "source": sources[number],
            "domain": domain,
            "document": document,
            "references": {name: lines[number] for name, lines in references.items()},
        }
        yield Record(record.where, fields)


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a file of a test set."""
    if not path.exists():
        raise InputError(
            "no such file of a test set in the folders of mt-metrics-eval", str(path)
        )
    return [line.rstrip() for _, line in read_lines(path)]
