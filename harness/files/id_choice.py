"""Choice among the columns of ids of a file,
by the ids of the file that it is matched with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.errors import InputError
from harness.files.captions import match_file_names, name_keys
from harness.files.columns import ID_COLUMNS, normalise

_NAMES_OF_SUBJECTS = frozenset(
    normalise(name) for name in ID_COLUMNS[: ID_COLUMNS.index("id")]
)
"""Names of ids of what a caption describes, unlike ``id``,
which may be the number of the record.
"""
_NAMES_OF_MEDIA = frozenset(
    normalise(f"{kind}{end}")
    for kind in ("image", "video", "audio", "file")
    for end in ("", "_name", "_path", "_file")
) | {"filename", "path"}
"""Names of columns with the file that a caption describes."""
FIRST = 20
"""Number of records that show whether names of files may be ids of examples."""
IdsByColumn = Mapping[str, Sequence[str]]
"""Column of ids -> id of each record, columns in order of preference."""


@dataclass(frozen=True)
class IdChoice:
    """Ids of the records of a file, by one of its columns."""

    column: str
    ids: Sequence[str]
    """Id of each record; after renaming, the id of an example where one matches."""
    matched: int
    """Number of records whose id is that of an example."""
    covered: int
    """Number of examples that have a record."""
    examples: int
    """Number of examples."""
    renamed: tuple[str, str] | None = None
    """The first id that is matched by file name, and its example;
    None where ids are equal.
    """
    rejected: tuple[str, ...] = ()
    """Columns that pair some records with other examples, and were not taken."""

    @property
    def fits(self) -> bool:
        """True where all examples or all records are matched."""
        return bool(self.matched) and (
            self.covered == self.examples or self.matched == len(self.ids)
        )

    @property
    def score(self) -> int:
        """Number of matched records and examples."""
        return self.matched + self.covered


def choose_ids(
    columns: IdsByColumn,
    examples: Sequence[str],
    fields: IdsByColumn,
    location: str,
    *,
    by_name: bool = True,
) -> IdChoice:
    """Return the ids of records by the column that agrees with the examples.

    A column earlier in order is taken where it matches at least as many records and
    examples. A later one is taken where it alone fits: it matches all examples or all
    records, and the earlier one does not. Where both fit and pair differently, the
    fields that records and examples share decide. Ids that match no better than this
    are compared as names of files and numbers
    (:func:`~harness.files.captions.match_file_names`).

    Parameters
    ----------
    columns : mapping
        Columns of ids of the records; at least one.
    examples : sequence of str
        Ids of the examples.
    fields : mapping
        Fields of the examples with usual names of ids -> value of each example.
    location : str
        Place of the file, for the error.
    by_name : bool, default True
        Compare names of files and numbers where ids do not fit.

    Raises
    ------
    InputError
        Two columns pair records and examples in different ways, and neither is the
        better one.
    """
    known = set(examples)
    choices = [
        _match(column, ids, known) for column, ids in _records_last(columns).items()
    ]
    best = choices[0]
    for other in choices[1:]:
        best = _better(best, other, examples, fields, columns, location)
    if by_name and not best.fits:
        renamed = [_match_by_name(choice, examples, known) for choice in choices]
        # The number of a record may be the number at the end of a name by chance: what
        # a caption describes comes first.
        described = _NAMES_OF_SUBJECTS | _NAMES_OF_MEDIA
        found = [best, *(choice for choice in renamed if choice is not None)]
        best = max(
            found,
            key=lambda choice: (choice.score, _last_name(choice.column) in described),
        )
    if by_name and best.renamed is None and best.fits:
        _check_media(best, columns, examples, fields, location)
    rejected = [
        choice.column
        for choice in choices
        if choice.matched and choice.column != best.column and choice.ids != best.ids
    ]
    return replace(best, rejected=tuple(rejected))


def _records_last(columns: IdsByColumn) -> IdsByColumn:
    """Return the columns with those of a document (``doc.image_id``) before a number of
    the record, where each record has its own.
    """
    subjects = {
        column: ids
        for column, ids in columns.items()
        if "." in column
        and _last_name(column) in _NAMES_OF_SUBJECTS
        and len(set(ids)) == len(ids)
    }
    first = next(iter(columns))
    return (
        {**subjects, **columns}
        if subjects and _last_name(first) not in _NAMES_OF_SUBJECTS
        else columns
    )


def _match(
    column: str,
    ids: Sequence[str],
    known: set[str],
    renamed: tuple[str, str] | None = None,
) -> IdChoice:
    """Return the choice of a column with its numbers of matches."""
    distinct = set(ids)
    covered = distinct & known
    matched = len(ids) if covered == distinct else sum(key in covered for key in ids)
    return IdChoice(column, ids, matched, len(covered), len(known), renamed)


def _match_by_name(
    choice: IdChoice, examples: Sequence[str], known: set[str]
) -> IdChoice | None:
    """Return a choice with its ids matched by file name or number;
    None where that is not possible.
    """
    matches = match_file_names(dict.fromkeys(choice.ids), examples)
    if not matches:
        return None
    renamed = next((pair for pair in matches.items() if pair[0] != pair[1]), None)
    return _match(choice.column, [matches[key] for key in choice.ids], known, renamed)


def _check_media(
    best: IdChoice,
    columns: IdsByColumn,
    examples: Sequence[str],
    fields: IdsByColumn,
    location: str,
) -> None:
    """Raise :class:`InputError` where names of files have the ids of the examples too,
    and pair the records differently.
    """
    known = set(examples)
    for column, ids in columns.items():
        if (
            column == best.column
            or _last_name(column) not in _NAMES_OF_MEDIA
            or _last_name(best.column) in _NAMES_OF_MEDIA
        ):
            continue
        if known.isdisjoint(key for name in ids[:FIRST] for key in name_keys(name)):
            continue
        named = _match_by_name(_match(column, ids, known), examples, known)
        if (
            named is None
            or not named.fits
            or _pair_alike(best, named, examples)
            or _agree(best, examples, fields, columns)
        ):
            continue
        raise InputError(_refusal(best, named), location, parameter="id")


def _better(
    first: IdChoice,
    second: IdChoice,
    examples: Sequence[str],
    fields: IdsByColumn,
    columns: IdsByColumn,
    location: str,
) -> IdChoice:
    """Return the better of two choices, the first of which is preferred; raise
    :class:`InputError` where that cannot be told.
    """
    if _pair_alike(first, second, examples):
        return first
    if first.fits != second.fits:
        return first if first.fits else second
    agreement = [
        _agree(choice, examples, fields, columns) for choice in (first, second)
    ]
    if agreement[0] != agreement[1]:
        return first if agreement[0] else second
    both = {_last_name(choice.column) for choice in (first, second)}
    if first.fits and second.fits and len(both) == 2 and both <= _NAMES_OF_SUBJECTS:
        raise InputError(_refusal(first, second), location, parameter="id")
    if first.score >= second.score:
        return first
    if not first.matched:
        return second
    raise InputError(_refusal(first, second), location, parameter="id")


def _pair_alike(first: IdChoice, second: IdChoice, examples: Sequence[str]) -> bool:
    """Return True where two columns give each record the same example, or none."""
    if first.ids == second.ids:
        return True
    known = set(examples)
    pairs = zip(first.ids, second.ids, strict=True)
    return all(a == b or (a not in known and b not in known) for a, b in pairs)


def _agree(
    choice: IdChoice, examples: Sequence[str], fields: IdsByColumn, columns: IdsByColumn
) -> bool:
    """Return True where the fields that records and examples share are equal in every
    pair, and there is such a field.
    """
    shared = [
        (ids, fields[name])
        for name, ids in columns.items()
        if name in fields and name != choice.column
    ]
    if not shared:
        return False
    position = {key: k for k, key in enumerate(examples)}
    for ids, values in shared:
        for record, key in enumerate(choice.ids):
            if key in position and ids[record] != values[position[key]]:
                return False
    return True


def _refusal(first: IdChoice, second: IdChoice) -> str:
    """Return the message for two columns neither of which is the better one."""
    record = next(k for k, (a, b) in enumerate(zip(first.ids, second.ids)) if a != b)
    counts = [
        f"by '{choice.column}' {choice.covered:,} of {choice.examples:,} examples "
        "have records"
        for choice in (first, second)
    ]
    ids = f"record {record + 1} is '{first.ids[record]}' or '{second.ids[record]}'"
    return (
        f"two columns of ids pair records and examples differently: {counts[0]}, "
        f"{counts[1]} ({ids}); choose the column with id: ..."
    )


def choose_example_column(
    columns: IdsByColumn, others: Sequence[IdsByColumn], *, usual: bool = True
) -> str | None:
    """Return the column of ids of a file of references by the files of candidates; None
    for the first one, if that is usual.

    Parameters
    ----------
    columns : mapping
        Columns of ids of the references, in order of preference.
    others : sequence of mapping
        Columns of ids of each file of candidates.
    usual : bool, default True
        False for columns that have no usual names of ids.
    """
    first = next(iter(columns), None) if usual else None
    ranked = [
        (_rank_column(name, set(ids), others, is_first=name == first), name)
        for name, ids in columns.items()
    ]
    best = max(ranked, key=lambda pair: pair[0], default=None)  # the first of equals
    if (
        best is not None
        and best[0][0]
        and (media := _contradicting_media(best[1], columns, others)) is not None
    ):
        return media
    if best is not None and not best[0][0] and len(columns) > 1:
        return _column_by_name(columns, others, first)
    return None if best is None or best[1] == first or not best[0][0] else best[1]


def _column_by_name(
    columns: IdsByColumn, others: Sequence[IdsByColumn], first: str | None
) -> str | None:
    """Return the column of names of files or numbers by which every file of candidates
    fits, where no column has its ids.

    One whose every id has candidates comes before others.
    """
    fitting: list[str] = []
    for name, ids in columns.items():
        distinct = list(dict.fromkeys(ids))
        known = set(distinct)
        found = [
            [
                choice
                for column, values in other.items()
                if (
                    choice := _match_by_name(
                        _match(column, values, known), distinct, known
                    )
                )
            ]
            for other in others
        ]
        if found and all(
            any(choice.covered == choice.examples for choice in choices)
            for choices in found
        ):
            return None if name == first else name
        if found and all(any(choice.fits for choice in choices) for choices in found):
            fitting.append(name)
    return fitting[0] if fitting and fitting[0] != first else None


def _contradicting_media(
    name: str, columns: IdsByColumn, others: Sequence[IdsByColumn]
) -> str | None:
    """Return the column of the files that captions describe, where it pairs all records
    otherwise than the number of the record does.

    Both sides may number their records each in its own order: then the files say which
    records belong together.
    """
    if _last_name(name) in _NAMES_OF_SUBJECTS | _NAMES_OF_MEDIA:
        return None
    for media, files in columns.items():
        if _last_name(media) not in _NAMES_OF_MEDIA or len(set(files)) < len(files):
            continue
        pairs = dict(zip(columns[name], files))
        both = [
            (_find_named(name, other), _find_named(media, other)) for other in others
        ]
        if not both or not all(
            numbers and theirs and len(set(theirs)) == len(theirs)
            for numbers, theirs in both
        ):
            continue
        if all(
            pairs.get(number) == file
            for numbers, theirs in both
            for number, file in zip(numbers, theirs)
        ):
            continue
        stems = {number: name_keys(file)[0] for number, file in pairs.items()}
        known = set(stems.values())
        named = [
            (numbers, [name_keys(file)[0] for file in theirs])
            for numbers, theirs in both
        ]
        whole = len(known) == len(files) and all(
            set(theirs) == known and len(theirs) == len(known) for _, theirs in named
        )
        if whole and any(
            stems.get(number) != file
            for numbers, theirs in named
            for number, file in zip(numbers, theirs)
        ):
            return media
    return None


def _find_named(name: str, columns: IdsByColumn) -> Sequence[str]:
    """Return the ids of the column of a name; empty where there is none."""
    return next(
        (
            ids
            for column, ids in columns.items()
            if _last_name(column) == _last_name(name)
        ),
        (),
    )


def _rank_column(
    name: str, known: set[str], others: Sequence[IdsByColumn], *, is_first: bool
) -> tuple[bool, bool, bool]:
    """Return whether every file has a column that fits the ids of the references, that
    has all of them, and of the same name.

    The name of a running number, such as ``id``, says nothing, unless it is the usual
    one of the file.
    """
    if not others:
        return False, False, False
    counts = is_first or _last_name(name) in _NAMES_OF_SUBJECTS
    fitting: list[list[IdChoice]] = []
    for columns in others:
        fitting.append(
            [
                choice
                for column, ids in columns.items()
                if (choice := _match(column, ids, known)).fits
            ]
        )
    whole = [
        any(choice.covered == choice.examples for choice in found) for found in fitting
    ]
    same = [
        counts
        and any(_last_name(choice.column) == _last_name(name) for choice in found)
        for found in fitting
    ]
    return all(map(bool, fitting)), all(whole), all(same)


def _last_name(column: str) -> str:
    return normalise(column.rpartition(".")[2])
