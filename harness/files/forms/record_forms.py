"""Forms whose records are converted one by one to records with usual columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from harness.contracts import Parameters, Role, Values
from harness.errors import InputError
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.forms.sample import Sample
from harness.files.records import Record
from harness.files.yaml_source import YamlValue


class Conversion(NamedTuple):
    """Role and names on which the conversion of records depends, and its counts."""

    role: Role
    left_out: Counter[str]
    """Reason -> number of what was left out."""
    names: tuple[str, ...] = ()
    """Names of columns in parameters of the user."""

    def captions(self, value: YamlValue) -> Values:
        """Return captions as the column of the role."""
        return {self.role: value}


Convert = Callable[[Record, Conversion], "Parameters | None"]
"""Function from a record to one with the columns ``candidates`` or ``references``
(None: there is none), and ``id`` where it has one.
"""


def record_kind(
    name: str,
    summary: str,
    fits: Callable[[Parameters], bool],
    convert: Convert,
    examples: Sequence[FormExample],
    *,
    constants: bool = False,
    others: Sequence[str] = (),
    reading: str = "",
    options: str = "",
    splits: str = "",
) -> FormKind:
    """Return a form of records, in whatever file they are: JSON, JSON Lines,
    Parquet, csv, a spreadsheet.

    Parameters
    ----------
    name, summary, examples, reading, options, splits
        As of :class:`~harness.files.forms.form_kind.FormKind`.
    fits : callable
        Return True for the fields of a record of the form; a file has the form where
        the first records fit.
    convert : callable
        See :data:`Convert`.
    constants : bool
        The form may hold NaN and Infinity.
    others : sequence of str
        Further columns of ids, behind those of usual names.
    """

    def recognise(sample: Sample) -> bool:
        return bool(sample.records) and all(map(fits, sample.records))

    def read(sample: Sample) -> Form:
        return convert_records(
            sample, name, convert, constants=constants, others=others
        )

    return FormKind(
        name,
        summary,
        recognise,
        read,
        examples,
        reading=reading,
        splits=splits,
        options=options,
    )


def convert_records(
    sample: Sample,
    name: str,
    convert: Convert,
    *,
    constants: bool = False,
    others: Sequence[str] = (),
) -> Form:
    """Return the converted records of a sample; numbered where the first one has no
    column of ids.
    """
    left_out: Counter[str] = Counter()
    conversion = Conversion(sample.role, left_out, sample.names)

    def rows() -> Iterator[Record]:
        for row in sample.rows(constants=constants):
            fields = convert(row, conversion)
            if fields is None:
                continue
            # An item without references is none; one without candidates is named later.
            if sample.role == "references" and fields.get("references", "") is None:
                continue
            yield Record(row.where, fields)

    ids = _id_columns(sample, convert, others)
    return Form(
        name,
        rows(),
        numbered=ids == (),
        key=sample.key,
        ids=ids or (),
        left_out=left_out,
    )


def _id_columns(
    sample: Sample, convert: Convert, others: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the columns of ids of the first records, the preferred one first; None
    where no record can be converted.
    """
    scratch = Conversion(sample.role, Counter(), sample.names)
    for fields in sample.records:
        record = None
        with suppress(InputError):  # raised with its place when the record is read
            record = convert(Record(sample.location, fields), scratch)
        if record is None:
            continue

        columns = ["id"] if "id" in record else []
        columns += sample.id_columns(record)
        columns += [column for column in others if column in record]
        return tuple(dict.fromkeys(columns))
    return None


def has(fields: Parameters, *names: str) -> bool:
    """Return True for a record with all columns of some names."""
    return all(name in fields for name in names)


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object, and an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Return a list, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def prefix_scalars(prefix: str, values: object) -> Values:
    """Return the texts and numbers of an object as ``PREFIX.NAME``."""
    return {
        f"{prefix}.{name}": value
        for name, value in mapping(values).items()
        if isinstance(value, (str, int, float))
    }


def single(texts: Sequence[str]) -> YamlValue:
    """Return the only text of a list, the list of several, None for no text."""
    return texts[0] if len(texts) == 1 else list(texts) or None
