"""Labels of files of candidates and of the systems in them, from their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.errors import HarnessError, counted
from harness.files.user_path import user_path
from harness.run.metric_plan import unique

SUFFIXES = {
    ".json",
    ".jsonl",
    ".ndjson",
    ".parquet",
    ".gz",
    ".zst",
    ".csv",
    ".tsv",
    ".txt",
    ".eval",
    ".xlsx",
    ".ods",
    ".srt",
    ".vtt",
}
"""Endings that a label leaves out."""


def file_labels(files: Sequence[str], labels: Sequence[str] = ()) -> list[str]:
    """Return one label per file: ``labels``, or the file names without ending.

    Equal names are preceded by as many folders as tell them apart; files that differ in
    the ending alone keep it, and a file that occurs twice is numbered.

    Raises
    ------
    HarnessError
        Another number of labels than files, an empty label, or a label that occurs
        twice.

    Examples
    --------
    >>> file_labels(["a/pred.json", "b/pred.json", "human.jsonl.gz"])
    ['a/pred', 'b/pred', 'human']
    """
    if not labels:
        return _from_names(files)
    if len(labels) != len(files):
        raise HarnessError(
            f"{counted(len(labels), 'label')} for "
            f"{counted(len(files), 'file')} of candidates; "
            "expected one label per file, in their order"
        )
    if not all(label.strip() for label in labels):
        raise HarnessError("a label is empty; expected a name for the table")
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise HarnessError(
            f"the label '{twice[0]}' occurs {labels.count(twice[0])} times; "
            "expected different labels"
        )
    return list(labels)


def system_labels(
    files: Sequence[str], systems: Sequence[str], labels: Sequence[str] = ()
) -> list[str]:
    """Return one label per file and system: ``labels``, or the system after the label
    of its file where there are several files.

    Without systems, the same as :func:`file_labels`; raises as that function.

    >>> system_labels(["a.jsonl"], ["beam", "nucleus"])
    ['beam', 'nucleus']
    """
    if not systems:
        return file_labels(files, labels)
    if labels:
        return file_labels(
            [f"{file}/{system}" for file in files for system in systems], labels
        )
    if len(files) == 1:
        return unique(systems)
    names = file_labels(files)
    return unique([f"{name}/{system}" for name in names for system in systems])


def _from_names(files: Sequence[str]) -> list[str]:
    paths = [user_path(file).absolute() for file in files]
    labels = [_name(path, 0) for path in paths]

    # Labels that stand for files of several folders get one folder more, until none
    # does.
    for folders in range(1, max(len(path.parts) for path in paths)):
        parents: dict[str, set[Path]] = {}
        for path, label in zip(paths, labels):
            parents.setdefault(label, set()).add(path.parent)
        labels = [
            _name(path, folders) if len(parents[label]) > 1 else label
            for path, label in zip(paths, labels)
        ]

    # Files of one folder that are still equal differ in their endings.
    names: dict[str, set[str]] = {}
    for path, label in zip(paths, labels):
        names.setdefault(label, set()).add(path.name)
    labels = [
        path.name if len(names[label]) > 1 else label
        for path, label in zip(paths, labels)
    ]
    return unique(labels)


def _name(path: Path, folders: int) -> str:
    """Return the last folders and the name of a path without its endings."""
    name = path.name
    while Path(name).suffix.lower() in SUFFIXES and Path(name).stem:
        name = Path(name).stem
    return "/".join([*path.parts[max(1, len(path.parts) - 1 - folders) : -1], name])
