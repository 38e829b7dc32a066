"""The ``predictions`` adapter: captions from files,
checked against the examples of the task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from harness.files.forms import existing_captions
from harness.files.generated.cleaning import check_clean
from harness.files.generated.record_signs import RecordSigns
from harness.files.generated.timed_texts import TimeUnit
from harness.files.table_columns import check_mapping
from harness.files.user_files import fingerprint
from harness.registry.file_forms import form_names
from harness_models.predictions.example_matching import match_examples
from harness_models.predictions.formats import FORMATS
from harness_models.predictions.id_errors import (
    missing_error,
    no_ids_error,
    unknown_error,
)
from harness_models.predictions.record_tables import find_matching_column, read_table
from harness_models.predictions.table import USUAL, Choice, Table


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

        The message gives their number and the first ids. Unknown
        ids are accepted if the task is a part of its data set. A file without any id of
        the task is always an error.
        """
        # one pass: the examples may lie on disk
        names = [example.id for example in task.examples]

        ids = set(names)
        for table in self._read():
            match_examples(table, task, names, by_position=self.choice.id is None)

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
                other = find_matching_column(table.path, self.format, self.choice, ids)
                raise no_ids_error(table, other, names, unknown)

            if self.answer_events is not None:
                _read_answers(table, task, self.answer_events)
                self._note_sets(table, missing, () if task.partial else unknown)
                continue
            if missing and not self.allow_missing:
                raise missing_error(table, task, missing)
            if unknown and not (self.allow_unknown or task.partial):
                raise unknown_error(table, unknown)

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
