"""Captions by id of one file of predictions, in any form."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from harness.contracts import Events, Reading
from harness.contracts.reading import KEYS, SHOWN_ITEMS
from harness.errors import InputError
from harness.files import captions
from harness.files.generated.cleaning import REPEATS
from harness.files.generated.record_signs import RecordSigns
from harness.files.id_choice import IdChoice, choose_ids
from harness.files.row_groups import RowGroups
from harness.files.running_numbers import NumberedRecords

USUAL = ""
"""Column name that stands for the usual names."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Choice:
    """Selection of columns and systems in the records of a file."""

    id: str | None = USUAL
    """Column of the ids; empty: a usual name; None: the records are numbered from 0."""
    candidates: str = USUAL
    """Column of the captions; empty: a usual name."""
    systems: tuple[str, ...] = ()
    """Systems to select from objects of systems."""
    allow_empty: bool = False
    """True if empty captions are accepted."""
    events: Events | None = None
    """Treatment of texts with times."""
    clean: tuple[str, ...] = ()
    """Parts that are removed of captions."""


class RecordCaptions(NamedTuple):
    """Captions of one record."""

    texts: tuple[str, ...] | None
    """The captions; None for null."""
    single: bool
    """True for a record with one caption; several such records of an id form its set.
    """
    location: str


@dataclass
class Table:
    """Captions of one file by id, in the order of the file."""

    path: Path
    form: str = ""
    id: str | None = None
    """Column of the ids; None where they are positions or keys of an object."""
    columns: tuple[str, ...] = ()
    """Columns of the captions."""
    other_columns: tuple[str, ...] = ()
    """Columns with other usual names that could hold captions."""
    captions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Captions by id."""
    null: dict[str, None] = field(default_factory=dict)
    """Ids whose captions are null, as an ordered set."""
    signs: RecordSigns = field(default_factory=RecordSigns)
    """Marks of the records about their captions, and what is removed of these."""
    numbered: bool = False
    """True when the ids are the positions of the records, from 0."""
    possible_ids: dict[str, list[str]] = field(default_factory=dict)
    """Columns that can hold the ids, where there are several -> id of each record."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Kind of content that is not read -> its number."""
    other_ids: tuple[str, ...] = ()
    """Columns that give other ids, and were not taken."""
    remarks: list[str] = field(default_factory=list)
    """Notes on ids that were matched although they are not equal."""
    failures: dict[str, str] = field(default_factory=dict)
    """Id of an answer that is no set of events -> reason, with the answer."""
    groups: RowGroups | None = None
    """Column that tells apart records of one id."""
    numbered_records: NumberedRecords | None = None
    """Columns that may contradict running numbers; None for a column of ids that the
    user names.
    """
    no_ids: InputError | None = None
    """Error for a file without a usual column of ids; None where there is one,
    or where none is needed.
    """
    _records: list[RecordCaptions] = field(default_factory=list)
    """The records, until the column of their ids is chosen."""
    _counts: dict[str, int] = field(default_factory=dict)
    """Number of records with one caption by id."""

    def add(
        self, key: str, texts: tuple[str, ...] | None, *, single: bool, location: str
    ) -> None:
        """Add the captions of a record; raise :class:`InputError` for an id that
        already has a list of captions.

        Parameters
        ----------
        key
            Id of the example.
        texts
            Captions, or None for null.
        single
            True for a record with one caption; several such records of an id form its
            set.
        location
            Location of the record, for messages.
        """
        present = key in self.captions or key in self.null
        if present and not (single and key in self._counts):
            raise InputError(f"the id '{key}' occurs twice", location)
        if single:
            self._counts[key] = self._counts.get(key, 0) + 1
        if texts:
            self.captions[key] = self.captions.get(key, ()) + texts
            self.null.pop(key, None)
        elif key not in self.captions:
            self.null[key] = None

    def hold(self, captions: RecordCaptions) -> None:
        """Keep a record whose id is not chosen yet."""
        self._records.append(captions)

    def choose(
        self, examples: Sequence[str], fields: Mapping[str, Sequence[str]]
    ) -> None:
        """Give the records their ids by the column that agrees with the examples;
        arguments as for :func:`choose_ids`.
        """
        choice = choose_ids(
            self.possible_ids,
            examples,
            fields,
            str(self.path),
            by_name=self.no_ids is None,
        )

        if self.no_ids is not None:
            if not choice.fits:
                raise self.no_ids
            choice = replace(choice, rejected=())
            self.remarks.append(f"'{choice.column}' has the ids of the examples")
        self._take(choice)

        if choice.renamed is not None:
            self.remarks.append(
                f"its ids are matched by file name: '{choice.renamed[0]}' is "
                f"'{choice.renamed[1]}'"
            )

    def take_usual(self) -> None:
        """Give the records the ids of the first column that can hold them."""
        if self.no_ids is not None:
            raise self.no_ids
        column, ids = next(iter(self.possible_ids.items()))
        self._take(
            IdChoice(column, ids, 0, 0, 0, rejected=tuple(self.possible_ids)[1:])
        )

    def _take(self, choice: IdChoice) -> None:
        self.id = choice.column
        self.other_ids = choice.rejected
        for key, record in zip(choice.ids, self._records, strict=True):
            self.add(key, record.texts, single=record.single, location=record.location)
        self._records.clear()
        self.end_records()

    @property
    def undecided(self) -> bool:
        """True while the column of the ids is not chosen."""
        return bool(self._records)

    def rename(self, names: Mapping[str, str]) -> None:
        """Give the captions other ids."""
        self.captions = {names[key]: texts for key, texts in self.captions.items()}
        self.null = {names[key]: None for key in self.null}

    def reading(self) -> Reading:
        """Return how the file was read."""
        ids = self.id if self.columns else None if self.numbered else KEYS
        first = {
            key: texts[:SHOWN_ITEMS]
            for key, texts in islice(self.captions.items(), SHOWN_ITEMS)
        }

        texts = sum(map(len, self.captions.values()))
        return Reading(
            str(self.path),
            "candidates",
            self.form,
            ids,
            self.columns,
            len(self.captions) + len(self.null),
            texts,
            dict(self.left_out),
            tuple(self.possible_ids),
            self.other_ids,
            self.other_columns,
            tuple(self.remarks),
            first,
        )

    def end_records(self) -> None:
        """Leave out repeats where this is asked for, and note repeated ids:
        all records have their ids.
        """
        self.signs.captions = sum(map(len, self.captions.values()))
        if REPEATS in self.signs.names:
            self.captions = {
                key: self.signs.drop_repeats(texts)
                for key, texts in self.captions.items()
            }
        if self.groups is not None:
            repeated = any(count > 1 for count in self._counts.values())
            if remark := self.groups.remark(repeated=repeated):
                self.remarks.append(remark)
        self.note_repeated_ids()

    def note_repeated_ids(self) -> None:
        """Note the ids of several records with one caption,
        where this looks like a mistake.
        """
        repeated = self.repeated_ids()
        if repeated:
            verb = "id occurs" if len(repeated) == 1 else "ids occur"
            number = f"{len(repeated)} {verb}"
            _log.warning(
                "note: %s: %s more than once (%s); the captions of an id form one "
                "set of candidates",
                self.path,
                number,
                captions.quote_list(repeated),
            )

    def repeated_ids(self) -> list[str]:
        """Return the ids of several records with one caption,
        where this looks like a mistake.

        Sets of one size for every id are none. Those that all repeat one caption have a
        remark of their own (:func:`~harness.files.generated.remarks.output_remarks`).
        """
        ids = [key for key, count in self._counts.items() if count > 1]
        same = all(len(set(self.captions.get(key, ()))) < 2 for key in ids)
        return ids if not same and len(set(self._counts.values())) > 1 else []
