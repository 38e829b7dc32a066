"""The components that read files of candidates and of references, by their roles, and
the parameters that they are created with.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from harness.contracts import Reader, Values
from harness.registry import current
from harness.run.file_options import FileOptions


def reference_reader() -> str:
    """Return the name of the reader that recognises the format of a reference file."""
    return current().with_role("readers", "reference-files").name


def candidate_adapter() -> str:
    """Return the name of the adapter that reads candidates from files."""
    return current().with_role("adapters", "candidate-files").name


def create_reader(
    references: str | Path | Sequence[str | Path],
    allow: Sequence[str],
    options: FileOptions,
) -> Reader:
    # A reader knows one fault: the others are about the ids of candidates.
    faults = ["empty"] if "empty" in allow else []
    values = {
        "path": reference_path(references),
        **accept_faults(faults),
        **options.of_references(),
    }
    return cast(Reader, current().create("readers", reference_reader(), values))


def image_examples(files: Sequence[str], images: str, options: FileOptions) -> Values:
    """Return the data set of the images of a folder that files of candidates are
    about.
    """
    reader = current().with_role("readers", "image-folders").name
    values: Values = {"reader": reader, "path": images, "captions": list(files)}
    if options.id != "":
        values["columns"] = {"id": options.id}
    return values


def system_params(options: FileOptions, name: str) -> Values:
    """Return the parameters of the adapter for a system of records,
    or for one of several columns.
    """
    if len(options.columns) > 1:
        return options.of_candidates(column=name)
    return options.of_candidates(name, options.column)


def list_paths(references: str | Path | Sequence[str | Path]) -> list[str]:
    """Return the paths of one file or of several as texts."""
    if isinstance(references, (str, Path)):
        return [str(references)]
    return [str(path) for path in references]


def reference_path(references: str | Path | Sequence[str | Path]) -> str | list[str]:
    """Return one path as a text, several as a list."""
    paths = list_paths(references)
    return paths[0] if len(paths) == 1 else paths


def accept_faults(allow: Sequence[str]) -> Values:
    """Return the parameters of a component that accepts faults of files: ``missing``,
    ``unknown``, ``empty``.
    """
    return {f"allow_{fault}": True for fault in allow}
