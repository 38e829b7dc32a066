"""Records of judgment files in any of the usual formats, and values in them by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from harness.contracts import Parameters
from harness.errors import InputError, did_you_mean, nearest_name
from harness.files.dataset_source import DatasetSource
from harness.files.delimited import delimited_rows, is_table_file
from harness.files.records import Record, existing, is_parquet, records
from harness.files.yaml_source import YamlValue
from harness.spec.judgment_models import HuggingFaceSource

WHAT = "file of judgments"


def rows(paths: Sequence[str | Path], hf: HuggingFaceSource | None = None) -> Iterator[Record]:
    """Yield the records of files, one file after the other, or of a Hugging Face data set.

    CSV and TSV are recognised by their name, JSON, JSON Lines and Parquet by their content. Raises :class:`InputError` with the
    place of a mistake.
    """
    if hf is not None:
        source = DatasetSource(hf.name, hf.config, hf.split, hf.revision)
        for number, row in enumerate(source.rows(source.load()), 1):
            yield Record(f"{hf.name}: record {number}", row)
    for path in paths:
        file = existing(path, WHAT)
        if file.suffix.lower() == ".parquet" and not is_parquet(file):
            raise InputError("not readable as Parquet: it does not begin with PAR1", str(path))
        yield from delimited_rows(file) if is_table_file(file) else records(file)


def lookup(fields: Parameters, path: str) -> YamlValue:
    """Return the value at a path such as ``a.b.*.c``; None where a step is missing. ``*`` collects from every item of a list.

    >>> lookup({"votes": [{"grade": 1}, {"grade": 3}]}, "votes.*.grade")
    [1, 3]
    """
    if path in fields:
        return fields[path]
    here: YamlValue = fields
    steps = path.split(".")
    for depth, step in enumerate(steps):
        if step == "*":
            if not isinstance(here, (list, tuple)):
                return None
            tail = ".".join(steps[depth + 1 :])
            items = cast("Sequence[YamlValue]", here)
            return [
                lookup(cast("Parameters", item), tail) if tail and isinstance(item, Mapping) else item for item in items
            ]
        if isinstance(here, Mapping):
            here = cast("Mapping[str, YamlValue]", here).get(step)
        elif isinstance(here, (list, tuple)) and step.isdigit() and int(step) < len(cast("Sequence[YamlValue]", here)):
            here = cast("Sequence[YamlValue]", here)[int(step)]
        else:
            return None
    return here


def column(path: str | None, usual: Sequence[str], first: Record, role: str, *, needed: bool = True) -> str | None:
    """Return the column of a role: the given one, else the first usual name that the first record has.

    Raises :class:`InputError` with the nearest column when the given one is missing, or when none is found and one is needed.
    """
    present = list(first.fields)
    if path is not None:
        if path not in present and path.split(".")[0] not in present:
            raise InputError(
                f"no column '{path}'{did_you_mean(path, present)}; the record has {', '.join(present)}",
                first.where, value=path, expected=present, nearest=nearest_name(path, present),
            )  # fmt: skip
        return path
    name = next((name for name in usual if name in present), None)
    if name is None and needed:
        raise InputError(
            f"no column for the {role}; the record has {', '.join(present)} (name it with judgments.columns)",
            first.where, expected=present,
        )  # fmt: skip
    return name
