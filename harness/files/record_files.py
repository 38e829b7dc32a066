"""Records of files with columns in any usual form: tables, Parquet, JSON Lines, JSON
lists, and JSON objects that hold records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from harness.contracts import Parameters
from harness.errors import InputError
from harness.files.columns import FILE_ID_COLUMNS
from harness.files.delimited_tables import delimited_rows, is_table_file
from harness.files.forms import WRAPPERS, read_lines, single_object
from harness.files.records import Record, list_items, records
from harness.files.user_files import existing, first_byte, is_parquet
from harness.files.yaml_source import YamlValue

KEY = "key"
"""Column with the key of a record in an object of records."""
GROUP = "group"
"""Column with the key of a record's list in an object of lists of records."""
SCORES = ".score"
"""Suffix of the files of scores of mt-metrics-eval."""


def read_records(path: str | Path, what: str) -> Iterator[Record]:
    """Yield the records of a file, described as ``what`` in messages.

    CSV, TSV and files of scores are recognised by their name, everything else by its
    content. Raises :class:`InputError` with the place of a mistake.
    """
    file = existing(path, what)
    if file.suffix.lower() == ".parquet" and not is_parquet(file):
        raise InputError(
            "not readable as Parquet: it does not begin with PAR1", str(path)
        )

    if file.suffix == SCORES:
        yield from read_score_lines(file)
        return
    if is_table_file(file):
        yield from delimited_rows(file)
        return

    # An object may hold the records, or be the first one of JSON Lines.
    value = None
    if not is_parquet(file) and first_byte(file) == b"{":
        value = single_object(file)
    if value is not None:
        yield from records_of_object(value, str(path))
    else:
        yield from records(file)


def read_score_lines(path: Path) -> Iterator[Record]:
    """Yield the lines ``[DOMAIN] SYSTEM SCORE`` of a file of scores; the id of a score
    is its number among those of its system.

    The word None is no score.
    """
    counts: dict[str, int] = {}
    for number, line in read_lines(path):
        words = line.split()
        if len(words) not in (2, 3):
            raise InputError(
                f"found {len(words)} words; expected [DOMAIN] SYSTEM SCORE",
                f"{path}:{number}",
            )
        *domain, system, score = words
        counts[system] = counts.get(system, 0) + 1
        fields = {
            "id": str(counts[system]),
            "system": system,
            "score": None if score == "None" else score,
        }
        if domain:
            fields["domain"] = domain[0]
        yield Record(f"{path}:{number}", fields)


def records_of_object(value: Parameters, location: str) -> Iterator[Record]:
    """Yield the records that a JSON object holds: a list under a usual key, an object
    or list per key, or the object itself.

    >>> [
    ...     record.fields
    ...     for record in records_of_object({"x": {"n": 1}, "y": {"n": 2}}, "here")
    ... ]
    [{'key': 'x', 'n': 1}, {'key': 'y', 'n': 2}]
    >>> [
    ...     record.fields
    ...     for record in records_of_object(
    ...         {"HC": [{"n": 1}], "MM": [{"n": 2}]}, "here"
    ...     )
    ... ]
    [{'group': 'HC', 'n': 1}, {'group': 'MM', 'n': 2}]
    """
    # A record may have a list of objects too; one with an id is a record.
    wrappers = [name for name in WRAPPERS["references"] if _is_table(value.get(name))]
    if wrappers and not any(name in value for name in FILE_ID_COLUMNS):
        yield from list_items(value[wrappers[0]], f"{location}: {wrappers[0]}")
    elif holds_records(value):
        for name, item in value.items():
            fields = cast("Parameters", item)
            yield Record(f"{location}: '{name}'", {KEY: name, **fields})
    elif value and all(map(_is_table, value.values())):
        for name, items in value.items():
            for record in list_items(items, f"{location}: '{name}'"):
                yield Record(record.where, {GROUP: name, **record.fields})
    else:
        yield Record(f"{location}:1", value)


def _is_table(value: YamlValue) -> bool:
    """Return True for a list of objects."""
    return isinstance(value, list) and holds_records(value)


def holds_records(value: YamlValue) -> bool:
    """Return True for a list or an object that holds nothing but objects, and at least
    one.
    """
    items = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(items, list) or not items:
        return False
    return all(isinstance(item, Mapping) for item in cast("list[YamlValue]", items))
