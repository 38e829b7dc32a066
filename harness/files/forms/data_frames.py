"""Forms of ``DataFrame.to_json`` of pandas, of each orientation.

https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.to_json.html; ``records``
are JSON lists or JSON Lines of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
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
_CAPTION_NAMES = (
    *CANDIDATE_COLUMNS,
    *REFERENCE_COLUMNS,
    "predict",
    "answer",
    "description",
)
_CAPTIONS = frozenset(map(plain_column, _CAPTION_NAMES))
_IDS = frozenset(map(plain_column, FILE_ID_COLUMNS)) - {INDEX}


class _Frame(NamedTuple):
    """Columns, labels of the rows and rows of a frame."""

    columns: Sequence[str]
    labels: Sequence[Any]
    rows: Sequence[Sequence[Any]]


def _is_caption_column(name: str, sample: Sample) -> bool:
    return plain_column(name) in _CAPTIONS or name in sample.names


def _is_id_column(name: str, sample: Sample) -> bool:
    return plain_column(name) in _IDS or name in sample.names


def _has_captions(names: Iterable[str], sample: Sample) -> bool:
    return any(_is_caption_column(name, sample) for name in names)


def _has_ids(names: Iterable[str], sample: Sample) -> bool:
    return any(_is_id_column(name, sample) for name in names)


def _is_columns(document: Parameters, sample: Sample) -> bool:
    """Return True for column -> label -> value, the default: all columns have the
    labels of the first.
    """
    columns = list(document.values())
    if not all(isinstance(column, dict) and column for column in columns):
        return False
    if not columns or not _has_captions(document, sample):
        return False
    labels = columns[0].keys()
    if any(column.keys() != labels for column in columns):
        return False

    # One column alone may be captions by id below a key, which they are, or a record of
    # the id of that name.
    if len(columns) > 1:
        return True
    is_wrapper = next(iter(document)) in WRAPPERS[sample.role]
    return not is_wrapper and not _has_captions(labels, sample)


def _is_index(document: Parameters, sample: Sample) -> bool:
    """Return True for label -> column -> value where the labels are numbers in order
    and the records have ids of their own.
    """
    records = list(document.values())
    if not all(isinstance(record, dict) and record for record in records):
        return False
    if not all(label.isdecimal() for label in document):
        return False
    names = records[0].keys()
    if any(record.keys() != names for record in records):
        return False
    if not _has_captions(names, sample) or not _has_ids(names, sample):
        return False

    # The labels of rows that were numbered, or those that a filter left of them; any
    # other labels are ids.
    numbers = [int(label) for label in document]
    if numbers == list(range(len(numbers))):
        return True
    own_id = next(name for name in names if _is_id_column(name, sample))
    says_more = plain_column(own_id) not in ("id", "key", "name")
    return says_more and numbers == sorted(numbers)


def _is_lists(document: Parameters, sample: Sample) -> bool:
    """Return True for column -> list of values, as ``Dataset.to_dict`` writes:
    captions, and ids that are texts or numbers.
    """
    columns = list(document.values())
    if len(columns) < 2 or not all(isinstance(column, list) for column in columns):
        return False
    if not columns[0] or len(set(map(len, columns))) > 1:
        return False

    has_ids = any(
        _is_id_column(_singular_id(name), sample)
        and all(isinstance(value, (str, int)) for value in column)
        for name, column in document.items()
    )
    return has_ids and _has_captions(document, sample)


def _singular_id(name: str) -> str:
    """Return the name of a column of ids, which lists have in the plural:
    ``image_ids``.
    """
    return name[:-1] if name.endswith("s") and plain_column(name[:-1]) in _IDS else name


def _is_split(document: Parameters) -> bool:
    """Return True for an object with the names of columns and lists of values."""
    rows = document.get("data")
    if not isinstance(document.get("columns"), list) or not isinstance(rows, list):
        return False
    return all(isinstance(row, list) for row in rows[:5])


def _is_table(document: Parameters) -> bool:
    """Return True for an object with a schema of columns and records."""
    fields = mapping(document.get("schema")).get("fields")
    return isinstance(fields, list) and isinstance(document.get("data"), list)


def _is_values(document: object) -> bool:
    """Return True for rows without names of columns: lists with more than one kind of
    value.
    """
    rows = items(document)[:5]
    if not rows or not all(isinstance(row, list) and len(row) > 1 for row in rows):
        return False
    return any(isinstance(v, (int, float)) or v is None for v in chain(*rows))


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
    if _is_columns(document, sample):
        return "columns"
    return "index" if _is_index(document, sample) else ""


def _read(sample: Sample) -> Form:
    orientation = _orientation(sample)
    document = sample.document
    if orientation == "values":
        raise InputError(
            "holds rows without names of columns, as "
            "DataFrame.to_json(orient='values') writes; "
            "expected records: write it with orient='records'",
            sample.location,
        )
    if not orientation:
        raise InputError(
            "is no table of DataFrame.to_json: expected an object of columns, "
            "of rows, or with 'columns' and 'data'",
            sample.location,
        )
    return _form(_frame(document, orientation, sample.location), sample)


def _frame(document: Parameters, orientation: str, location: str) -> _Frame:
    """Return the frame of a document of an orientation."""
    if orientation == "list":
        names = [_singular_id(name) for name in document]
        return _Frame(names, (), list(zip(*document.values())))
    if orientation == "columns":
        # By label: the columns may have them in different orders.
        columns = list(document.values())
        labels = list(columns[0])
        rows = [[column[label] for column in columns] for label in labels]
        return _Frame(list(document), labels, rows)
    if orientation == "index":
        records = list(document.values())
        names = list(records[0])
        rows = [[record[name] for name in names] for record in records]
        return _Frame(names, list(document), rows)
    if orientation == "split":
        names = [str(name) for name in document["columns"]]
        return _Frame(names, items(document.get("index")), document["data"])
    return _table_frame(document, location)


def _table_frame(document: Parameters, location: str) -> _Frame:
    """Return the frame of the orientation ``table``, whose index is a column of its
    records.
    """
    index = items(document["schema"].get("primaryKey"))
    records = document["data"]
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise InputError(
                f"found {kind(record)}; expected an object",
                f"{location}: data: record {number}",
            )

    # An index without a name of its own is the labels.
    names = list(dict.fromkeys(name for record in records for name in record))
    labels = [record.get(INDEX) for record in records] if index == [INDEX] else []
    if labels:
        names = [name for name in names if name != INDEX]
    rows = [[record.get(name) for name in names] for record in records]
    return _Frame(names, labels, rows)


def _form(frame: _Frame, sample: Sample) -> Form:
    """Return the records of a frame; the labels are ids where no column has some."""
    has_ids = _has_ids(frame.columns, sample) or INDEX in frame.columns
    uses_labels = not has_ids and len(frame.labels) == len(frame.rows)
    width = len(frame.columns)

    def rows() -> Iterator[Record]:
        for number, values in enumerate(frame.rows, 1):
            where = f"{sample.location}: row {number}"
            is_row = isinstance(values, (list, tuple))
            if not is_row or len(values) != width:
                count = len(values) if is_row else "no"
                raise InputError(f"the row has {count} values; expected {width}", where)
            fields = dict(zip(frame.columns, values))
            if uses_labels:
                fields["id"] = frame.labels[number - 1]
            yield Record(where, fields)

    return Form("pandas", rows(), numbered=not has_ids and not uses_labels)


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
    reading="columns of usual names; "
    "rows without names of columns (`values`) are refused",
)
