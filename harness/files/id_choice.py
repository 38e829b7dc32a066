"""Choice among the columns of ids of a file, by the ids of the file that it is matched
with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.errors import InputError
from harness.files.captions import match_file_names, name_keys
from harness.files.columns import ID_COLUMNS, normalise
from harness.files.running_numbers import is_running

_NAMES_OF_SUBJECTS = frozenset(
    normalise(name) for name in ID_COLUMNS[: ID_COLUMNS.index("id")]
)
"""Names of ids of what a caption describes, unlike ``id``, which may be the number of
the record.
"""
_NAMES_OF_MEDIA = frozenset(
    normalise(f"{kind}{end}")
    for kind in ("image", "img", "video", "audio", "file")
    for end in ("", "_name", "_path", "_file", "_filename", "_url")
) | {"filename", "path", "url"}
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
    """The first id that is matched by file name, and its example; None where ids are
    equal.
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
    target = _Target(examples, fields, columns, location)
    choices = [
        _match(column, ids, target.known)
        for column, ids in _records_last(columns).items()
    ]
    best = choices[0]
    for choice in choices[1:]:
        best = target.better(best, choice)

    # The number of a record may be the number at the end of a name by chance: what a
    # caption describes comes first.
    if by_name and not best.fits:
        renamed = [_match_by_name(choice, examples, target.known) for choice in choices]
        described = _NAMES_OF_SUBJECTS | _NAMES_OF_MEDIA
        best = max(
            [best, *(choice for choice in renamed if choice is not None)],
            key=lambda choice: (choice.score, _last_name(choice.column) in described),
        )

    if by_name and best.renamed is None and best.fits:
        target.check_media(best)
    rejected = [
        choice.column
        for choice in choices
        if choice.matched and choice.column != best.column and choice.ids != best.ids
    ]
    return replace(best, rejected=tuple(rejected))


class _Target:
    """The examples that the records of a file are matched with, and what the records
    say of them: the parameters of :func:`choose_ids`.
    """

    def __init__(
        self,
        examples: Sequence[str],
        fields: IdsByColumn,
        columns: IdsByColumn,
        location: str,
    ) -> None:
        self.examples = examples
        self.known = set(examples)
        """Ids of the examples."""
        self.fields = fields
        self.columns = columns
        self.location = location

    def better(self, first: IdChoice, second: IdChoice) -> IdChoice:
        """Return the better of two choices, the first of which is preferred; raise
        :class:`InputError` where that cannot be told.
        """
        if self._pair_alike(first, second):
            return first

        # A column that fits comes first, then one that shared fields confirm.
        if first.fits != second.fits:
            return first if first.fits else second
        agrees = self._agrees(first)
        if agrees != self._agrees(second):
            return first if agrees else second

        # Two names of what a caption describes, image_id and video_id, cannot both be
        # right.
        names = {_last_name(choice.column) for choice in (first, second)}
        both_describe = len(names) == 2 and names <= _NAMES_OF_SUBJECTS
        if first.fits and second.fits and both_describe:
            raise self._refusal(first, second)
        if first.score >= second.score:
            return first
        if not first.matched:
            return second
        raise self._refusal(first, second)

    def check_media(self, best: IdChoice) -> None:
        """Raise :class:`InputError` where names of files have the ids of the examples
        too, and pair the records differently.
        """
        if _last_name(best.column) in _NAMES_OF_MEDIA:
            return
        for column, ids in self.columns.items():
            if column == best.column or _last_name(column) not in _NAMES_OF_MEDIA:
                continue
            keys = (key for name in ids[:FIRST] for key in name_keys(name))
            if self.known.isdisjoint(keys):
                continue

            by_file = _match_by_name(
                _match(column, ids, self.known), self.examples, self.known
            )
            if by_file is None or not by_file.fits:
                continue
            if self._pair_alike(best, by_file) or self._agrees(best):
                continue
            raise self._refusal(best, by_file)

    def _pair_alike(self, first: IdChoice, second: IdChoice) -> bool:
        """Return True where two columns give each record the same example, or none."""
        if first.ids == second.ids:
            return True
        return all(
            a == b or (a not in self.known and b not in self.known)
            for a, b in zip(first.ids, second.ids, strict=True)
        )

    def _agrees(self, choice: IdChoice) -> bool:
        """Return True where the fields that records and examples share are equal in
        every pair, and there is such a field.
        """
        shared = [
            (ids, self.fields[name])
            for name, ids in self.columns.items()
            if name in self.fields and name != choice.column
        ]
        position = {key: k for k, key in enumerate(self.examples)}
        for ids, values in shared:
            for record, key in enumerate(choice.ids):
                if key in position and ids[record] != values[position[key]]:
                    return False
        return bool(shared)

    def _refusal(self, first: IdChoice, second: IdChoice) -> InputError:
        """Return the error for two columns neither of which is the better one."""
        counts = [
            f"by '{choice.column}' {choice.covered:,} of {choice.examples:,} examples "
            "have records"
            for choice in (first, second)
        ]
        pairs = enumerate(zip(first.ids, second.ids))
        record = next(k for k, (a, b) in pairs if a != b)
        ids = f"record {record + 1} is '{first.ids[record]}' or '{second.ids[record]}'"
        return InputError(
            f"two columns of ids pair records and examples differently: {counts[0]}, "
            f"{counts[1]} ({ids}); choose the column with id: ...",
            self.location,
            parameter="id",
        )


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
    if not subjects or _last_name(first) in _NAMES_OF_SUBJECTS:
        return columns
    return {**subjects, **columns}


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
    """Return a choice with its ids matched by file name or number; None where that is
    not possible.
    """
    matches = match_file_names(dict.fromkeys(choice.ids), examples)
    if not matches:
        return None
    renamed = next((pair for pair in matches.items() if pair[0] != pair[1]), None)
    return _match(choice.column, [matches[key] for key in choice.ids], known, renamed)


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
    ranks = {
        name: _rank_column(name, set(ids), others, is_first=name == first)
        for name, ids in columns.items()
    }
    best = max(ranks, key=lambda name: ranks[name], default=None)  # the first of equals
    if best is None:
        return None

    fits_all, _, _ = ranks[best]
    if not fits_all:
        return _column_by_name(columns, others, first) if len(columns) > 1 else None
    media = _contradicting_media(best, columns, others)
    if media is not None:
        return media
    return None if best == first else best


def _column_by_name(
    columns: IdsByColumn, others: Sequence[IdsByColumn], first: str | None
) -> str | None:
    """Return the column of names of files or numbers by which every file of candidates
    fits, where no column has its ids.

    One whose every id has candidates comes before others.
    """
    fitting: list[str] = []
    for name, ids in columns.items():
        files = [_choices_by_name(ids, file) for file in others]
        if not files:
            continue
        if all(any(c.covered == c.examples for c in choices) for choices in files):
            return None if name == first else name
        if all(any(choice.fits for choice in choices) for choices in files):
            fitting.append(name)
    return fitting[0] if fitting and fitting[0] != first else None


def _choices_by_name(ids: Sequence[str], columns: IdsByColumn) -> list[IdChoice]:
    """Return the columns of a file of candidates that match ids of references by file
    name or number.
    """
    distinct = list(dict.fromkeys(ids))
    known = set(distinct)
    choices: list[IdChoice] = []
    for column, values in columns.items():
        choice = _match_by_name(_match(column, values, known), distinct, known)
        if choice is not None:
            choices.append(choice)
    return choices


def _contradicting_media(
    name: str, columns: IdsByColumn, others: Sequence[IdsByColumn]
) -> str | None:
    """Return the column of the files that captions describe, or of other ids, where it
    pairs all records otherwise than the number of the record does.

    Both sides may number their records each in its own order: then the files say which
    records belong together.
    """
    if _last_name(name) in _NAMES_OF_SUBJECTS | _NAMES_OF_MEDIA:
        return None
    for media, files in columns.items():
        if media == name or len(set(files)) < len(files):
            continue
        if _last_name(media) not in _NAMES_OF_MEDIA and not (
            is_running(columns[name]) and not all(map(str.isdigit, files))
        ):
            continue
        candidates = [
            (_column_of_name(name, file), _column_of_name(media, file))
            for file in others
        ]
        if _contradicts(columns[name], files, candidates):
            return media
    return None


def _contradicts(
    numbers: Sequence[str],
    files: Sequence[str],
    candidates: Sequence[tuple[Sequence[str], Sequence[str]]],
) -> bool:
    """Return True where every file of candidates has all files of the references, and
    one of them with another number.

    Parameters
    ----------
    numbers, files : sequence of str
        Number and file of each reference.
    candidates : sequence of (sequence of str, sequence of str)
        The same of each file of candidates; empty where it has no such column.
    """
    # a file may have several records, each with a number of its own
    is_complete = all(
        own_numbers and len(set(own_files)) == len(files)
        for own_numbers, own_files in candidates
    )
    if not candidates or not is_complete:
        return False
    pairs = dict(zip(numbers, files))
    if not _has_other_pair(pairs, candidates):
        return False

    # The names of files differ by folder and ending at most.
    stems = {number: name_keys(file)[0] for number, file in pairs.items()}
    known = set(stems.values())
    if len(known) < len(files):
        return False
    own_stems: list[tuple[Sequence[str], Sequence[str]]] = []
    for own_numbers, own_files in candidates:
        names = [name_keys(file)[0] for file in own_files]
        if set(names) != known:
            return False
        own_stems.append((own_numbers, names))
    return _has_other_pair(stems, own_stems)


def _has_other_pair(
    pairs: Mapping[str, str], files: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> bool:
    """Return True where a record of one of the files has another file than the number
    stands for.
    """
    for numbers, names in files:
        if any(pairs.get(number) != name for number, name in zip(numbers, names)):
            return True
    return False


def _column_of_name(name: str, columns: IdsByColumn) -> Sequence[str]:
    """Return the ids of the column of a name; empty where there is none."""
    for column, ids in columns.items():
        if _last_name(column) == _last_name(name):
            return ids
    return ()


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
    name_counts = is_first or _last_name(name) in _NAMES_OF_SUBJECTS
    all_fit = all_complete = all_alike = True
    for columns in others:
        choices = [_match(column, ids, known) for column, ids in columns.items()]
        fitting = [choice for choice in choices if choice.fits]
        all_fit = all_fit and bool(fitting)
        all_complete = all_complete and any(c.covered == c.examples for c in fitting)
        names = {_last_name(choice.column) for choice in fitting}
        all_alike = all_alike and name_counts and _last_name(name) in names
    return all_fit, all_complete, all_alike


def _last_name(column: str) -> str:
    """Return the last step of a dotted path, normalised."""
    return normalise(column.rpartition(".")[2])
