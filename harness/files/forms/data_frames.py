"""Forms of ``DataFrame.to_json`` of pandas, of each orientation.

https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.to_json.html; ``records``
are JSON lists or JSON Lines of records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from harness.contracts import Parameters
from harness.errors import InputError
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS, REFERENCE_COLUMNS
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.json_shape import WRAPPERS
from harness.files.forms.record_forms import items, mapping
from harness.files.forms.sample import Sample
from harness.files.forms.text import plain_column
from harness.files.records import Record, kind

INDEX = "index"
"""Column of the labels of the rows, where the frame has no other column of ids."""
_CAPTIONS = frozenset(
    map(
        plain_column,
        (*CANDIDATE_COLUMNS, *REFERENCE_COLUMNS, "predict", "answer", "description"),
    )
)
_IDS = frozenset(map(plain_column, FILE_ID_COLUMNS)) - {INDEX}


class _Frame(NamedTuple):
    """Columns, labels of the rows and rows of a frame."""

    columns: Sequence[str]
    labels: Sequence[Any]
    rows: Sequence[Sequence[Any]]


def _has_captions(names: Sequence[str], sample: Sample) -> bool:
    return any(
        plain_column(name) in _CAPTIONS or name in sample.names for name in names
    )


def _has_ids(names: Sequence[str], sample: Sample) -> bool:
    return any(plain_column(name) in _IDS or name in sample.names for name in names)


def _is_columns(document: Parameters, sample: Sample) -> bool:
    """Return True for column -> label -> value, the default:
    all columns have the labels of the first.
    """
    columns = list(document.values())
    if (
        not columns
        or not all(isinstance(column, dict) and column for column in columns)
        or not _has_captions(list(document), sample)
    ):
        return False
    labels = columns[0].keys()
    same = all(column.keys() == labels for column in columns)
    # One column alone may be captions by id below a key, which they are, or a record of
    # the id of that name.
    alone = len(columns) == 1 and (
        next(iter(document)) in WRAPPERS[sample.role]
        or _has_captions(list(labels), sample)
    )
    return same and not alone


def _is_index(document: Parameters, sample: Sample) -> bool:
    """Return True for label -> column -> value where the labels are numbers in order
    and the records have ids of their own.
    """
    labels = list(document)
    records = list(document.values())
    if not all(isinstance(record, dict) and record for record in records) or not all(
        label.isdecimal() for label in labels
    ):
        return False
    names = list(records[0])
    if (
        not _has_captions(names, sample)
        or not _has_ids(names, sample)
        or any(record.keys() != records[0].keys() for record in records)
    ):
        return False
    numbers = [int(label) for label in labels]
    # The labels of rows that were numbered, or those that a filter left of them; any
    # other labels are ids.
    own = next(
        name for name in names if plain_column(name) in _IDS or name in sample.names
    )
    counted = numbers == list(range(len(numbers)))
    return counted or (
        plain_column(own) not in ("id", "key", "name") and numbers == sorted(numbers)
    )


def _is_lists(document: Parameters, sample: Sample) -> bool:
    """Return True for column -> list of values, as ``Dataset.to_dict`` writes:
    captions, and ids that are texts or numbers.
    """
    columns = list(document.values())
    if (
        len(columns) < 2
        or not all(
            isinstance(column, list) and len(column) == len(columns[0])
            for column in columns
        )
        or not columns[0]
    ):
        return False
    names = [_singular_id(name) for name in document]
    identified = any(
        (plain_column(name) in _IDS or name in sample.names)
        and all(isinstance(value, (str, int)) for value in column)
        for name, column in zip(names, columns)
    )
    return identified and _has_captions(list(document), sample)


def _singular_id(name: str) -> str:
    """Return the name of a column of ids, which lists have in the plural:
    ``image_ids``.
    """
    return name[:-1] if name.endswith("s") and plain_column(name[:-1]) in _IDS else name


def _is_split(document: Parameters) -> bool:
    rows = document.get("data")
    columns = document.get("columns")
    return (
        isinstance(columns, list)
        and isinstance(rows, list)
        and all(isinstance(row, list) for row in rows[:5])
    )


def _is_table(document: Parameters) -> bool:
    return isinstance(
        mapping(document.get("schema")).get("fields"), list
    ) and isinstance(document.get("data"), list)


def _is_values(document: object) -> bool:
    """Return True for rows without names of columns:
    lists with more than one kind of value.
    """
    rows = items(document)[:5]
    return (
        bool(rows)
        and all(isinstance(row, list) and len(row) > 1 for row in rows)
        and any(
            isinstance(value, (int, float)) or value is None
            for row in rows
            for value in row
        )
    )


def _orientation(sample: Sample) -> str:
    """Return the orientation of a frame; empty for another file."""
    document = sample.document
    if _is_values(document):
        return "values"
    if not isinstance(document, dict) or not document:
        return ""
    if _is_split(document):
        return "split"
    if _is_table(document):
        return "table"
    if _is_lists(document, sample):
        return "list"
    return (
        "columns"
        if _is_columns(document, sample)
        else "index"
        if _is_index(document, sample)
        else ""
    )


def _read(sample: Sample) -> Form:
    orientation = _orientation(sample)
    document = sample.document
    if orientation == "values":
        raise InputError(
            "holds rows without names of columns, as "
            "DataFrame.to_json(orient='values') writes; expected records: "
            "write it with "
            "orient='records'",
            sample.location,
        )
    if not orientation:
        raise InputError(
            "is no table of DataFrame.to_json: expected an object of columns, "
            "of rows, or with 'columns' and 'data'",
            sample.location,
        )
    if orientation == "list":
        frame = _Frame(
            [_singular_id(name) for name in document], (), list(zip(*document.values()))
        )
    elif orientation == "columns":
        labels = list(next(iter(document.values())))
        frame = _Frame(
            list(document),
            labels,
            list(zip(*(column.values() for column in _aligned(document, labels)))),
        )
    elif orientation == "index":
        columns = list(next(iter(document.values())))
        frame = _Frame(
            columns,
            list(document),
            [[record[name] for name in columns] for record in document.values()],
        )
    elif orientation == "split":
        frame = _Frame(
            [str(name) for name in document["columns"]],
            items(document.get("index")),
            document["data"],
        )
    else:
        frame = _table_frame(document, sample.location)
    return _form(frame, sample)


def _aligned(document: Parameters, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return the columns with their labels in one order."""
    return [{label: column[label] for label in labels} for column in document.values()]


def _table_frame(document: Parameters, location: str) -> _Frame:
    """Return the frame of the orientation ``table``,
    whose index is a column of its records.
    """
    index = items(document["schema"].get("primaryKey"))
    records = document["data"]
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise InputError(
                f"found {kind(record)}; expected an object",
                f"{location}: data: record {number}",
            )
    columns = list(dict.fromkeys(name for record in records for name in record))
    labels = [record.get(INDEX) for record in records] if index == [INDEX] else []
    columns = [name for name in columns if not (labels and name == INDEX)]
    return _Frame(
        columns, labels, [[record.get(name) for name in columns] for record in records]
    )


def _form(frame: _Frame, sample: Sample) -> Form:
    identified = _has_ids(frame.columns, sample) or INDEX in frame.columns
    labelled = not identified and len(frame.labels) == len(frame.rows)

    def rows() -> Iterator[Record]:
        for number, values in enumerate(frame.rows, 1):
            where = f"{sample.location}: row {number}"
            if not isinstance(values, (list, tuple)) or len(values) != len(
                frame.columns
            ):
                raise InputError(
                    "the row has "
                    f"{len(values) if isinstance(values, (list, tuple)) else 'no'} "
                    f"values; expected {len(frame.columns)}",
                    where,
                )
            fields = dict(zip(frame.columns, values))
            yield Record(
                where, fields | ({"id": frame.labels[number - 1]} if labelled else {})
            )

    return Form("pandas", rows(), numbered=not identified and not labelled)


PANDAS = FormKind(
    "pandas",
    "`DataFrame.to_json` of pandas, of each orientation with names of columns",
    lambda sample: bool(_orientation(sample)),
    _read,
    [
        FormExample(
            '{"image_id": {"0": 42, "1": 73}, "caption": {"0": "a dog", "1": "a cat"}}',
            "a column, else the labels of the rows",
            "`to_json()`, by columns",
        ),
        FormExample(
            '{"0": {"image_id": 42, "caption": "a dog"}, "1": {"image_id": 73, '
            '"caption": "a cat"}}',
            "a column, else the labels of the rows",
            '`to_json(orient="index")`',
        ),
        FormExample(
            '{"columns": ["image_id", "caption"], "index": [0, 1], "data": [[42, '
            '"a dog"], [73, "a cat"]]}',
            "a column, else the labels of the rows",
            '`to_json(orient="split")`',
        ),
        FormExample.of_json(
            {
                "schema": {
                    "fields": [{"name": "index", "type": "integer"}],
                    "primaryKey": ["index"],
                },
                "data": [
                    {"index": 0, "image_id": 42, "caption": "a dog"},
                    {"index": 1, "image_id": 73, "caption": "a cat"},
                ],
            },
            "a column, else the labels of the rows",
            '`to_json(orient="table")`',
        ),
    ],
    splits="split",
    reading="columns of usual names; rows without names of columns (`values`) are refused",
)
