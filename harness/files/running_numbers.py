"""Records with running numbers, beside another column that both files have: where it
pairs them in another order, there are two readings.

A program may number the records of each file in the order in which it wrote them. Then
a column such as ``photo`` says which records belong together, though no usual name of
ids tells so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.files.captions import name_keys
from harness.files.columns import scalar_columns
from harness.files.fields import is_media_name
from harness.files.records import Record
from harness.files.yaml_source import YamlValue

FEWEST_RECORDS = 3
"""Number of records, and of examples, below which values agree by chance."""
LONGEST_VALUE = 200
"""Characters of a text that may name what a caption describes."""
SPARSE = 10
"""Width of the range of whole numbers that may be ids, per number."""
_DECIMAL = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
"""A measured number in a table of texts."""


def is_running(ids: Sequence[str]) -> bool:
    """Return True for the numbers of records in their order, from 0 or 1."""
    return ids[:1] in (["0"], ["1"]) and list(ids) == [
        str(number) for number in range(int(ids[0]), int(ids[0]) + len(ids))
    ]


class OtherPairing(NamedTuple):
    """A record that is one example by its running number, and another one by a column
    that both files have.
    """

    record: int
    """Position of the record, from 1."""
    column: str
    """Column of the running numbers."""
    by_number: str
    """Id of the example by the running number."""
    other: str
    """Name of the other column."""
    by_other: str
    """Id of the example by the other column."""
    value: str
    """Value of the example in the other column."""

    def describe(self) -> str:
        """Return both readings as a clause."""
        return (
            "two columns pair records and examples, and differently: record "
            f"{self.record} is example '{self.by_number}' by '{self.column}', a "
            f"running number of both sides, and '{self.by_other}' by '{self.other}' "
            f"('{self.value}')"
        )


class NumberedRecords:
    """Columns of the records of a file that have a value of its own in each, where the
    ids of the records are running numbers.

    Parameters
    ----------
    head : sequence of Record
        The first records.
    ids : collection of str
        Columns with usual names of ids.
    captions : collection of str
        Columns of captions, which are none.
    """

    def __init__(
        self, head: Sequence[Record], ids: Collection[str], captions: Collection[str]
    ) -> None:
        self._starts: dict[str, int] = {}
        """Column of running numbers -> the first of them."""
        self._places: dict[str, dict[str, int]] = {}
        """Other column -> value -> position of its record."""
        if len(head) < FEWEST_RECORDS:
            return
        for name in ids:
            numbers = [str(row.fields.get(name)) for row in head]
            if is_running(numbers):
                self._starts[name] = int(numbers[0])
        if not self._starts:
            return
        for name in scalar_columns(head[0].fields, captions):
            values = {_value_text(row.fields.get(name)) for row in head}
            if name not in self._starts and len(values - {None}) == len(head):
                self._places[name] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The other columns."""
        return tuple(self._places)

    def watch(self, rows: Iterable[Record]) -> Iterator[Record]:
        """Return the records, whose values are noted as they are read."""
        return self._note_values(rows) if self._places else iter(rows)

    def _note_values(self, rows: Iterable[Record]) -> Iterator[Record]:
        remaining = iter(rows)
        for position, row in enumerate(remaining):
            fields = row.fields
            for name, start in list(self._starts.items()):
                if str(fields.get(name)) != str(start + position):
                    del self._starts[name]
            if not self._starts:
                self._places.clear()
            for name, places in list(self._places.items()):
                value = _value_text(fields.get(name))
                if value is None or places.setdefault(value, position) != position:
                    del self._places[name]
            yield row
            if not self._places:
                break
        yield from remaining

    def find_other_pairing(
        self,
        column: str | None,
        examples: Sequence[str],
        fields: Mapping[str, Sequence[str]],
    ) -> OtherPairing | None:
        """Return where another column pairs all records or all examples in another
        order than their running numbers, which may begin at 0 on one side and at 1 on
        the other; None where there is no such column, or one with the order of the
        numbers.

        Parameters
        ----------
        column : str or None
            Column of the ids of the records; None for no column.
        examples : sequence of str
            Ids of the examples.
        fields : mapping
            Column of :attr:`columns` -> value of each example.
        """
        start = self._starts.get(column or "")
        if start is None or not is_running(examples):
            return None
        offset = int(examples[0]) - start
        found: OtherPairing | None = None
        for name, values in fields.items():
            pairs = _match_values(self._places.get(name, {}), values)
            if len(pairs) < FEWEST_RECORDS or _lie_close(values):
                continue
            moved = [pair for pair in pairs if pair.record != pair.example + offset]
            # the numbers are right, or so is the order, which begins elsewhere
            if not moved or all(pair.record == pair.example for pair in pairs):
                return None
            if found is None:
                record, example = min(moved)
                found = OtherPairing(
                    record + 1,
                    column or "",
                    str(start + record),
                    name,
                    examples[example],
                    values[example],
                )
        return found


class _Pair(NamedTuple):
    """Positions of a record and of an example with the same value."""

    record: int
    example: int


def _value_text(value: YamlValue) -> str | None:
    """Return a value that may be an id as a text, None for any other one."""
    if isinstance(value, str):
        is_long = len(value) > LONGEST_VALUE
        return None if is_long or _DECIMAL.fullmatch(value) else value
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else None


def _match_values(places: Mapping[str, int], values: Sequence[str]) -> list[_Pair]:
    """Return the records and examples with the same value, names of files without
    folder and ending; none unless all records or all examples have one, and each has
    its own.
    """
    if len(set(values)) < len(values):
        return []
    fewest = min(len(places), len(values))
    pairs = _same_values(places, values)
    if len(pairs) < fewest and is_media_name(values[0]):
        stems = {name_keys(value)[0]: position for value, position in places.items()}
        keys = [name_keys(value)[0] for value in values]
        if len(stems) == len(places) and len(set(keys)) == len(keys):
            pairs = _same_values(stems, keys)
    return pairs if len(pairs) == fewest else []


def _same_values(places: Mapping[str, int], values: Sequence[str]) -> list[_Pair]:
    return [
        _Pair(places[value], k) for k, value in enumerate(values) if value in places
    ]


def _lie_close(values: Sequence[str]) -> bool:
    """Return True for whole numbers that lie close, such as ranks and lengths: those of
    two files have nothing to do with each other.
    """
    if not all(value.isascii() and value.isdecimal() for value in values):
        return False
    numbers = [int(value) for value in values]
    return max(numbers) - min(numbers) < SPARSE * len(numbers)
