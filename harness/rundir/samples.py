"""Samples of a run: one row per (model, decoding, example) with captions,
per-example scores and p-values.

Columns are read lazily: from Parquet by column, or from memory for a run without a
directory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from harness.contracts import CaptionSet, Parameters
from harness.errors import InputError, UnknownName, did_you_mean
from harness.files.json_text import parse_json
from harness.rundir.format import file_digest
from harness.rundir.parquet import (
    LISTS,
    NUMBERS,
    RECORDS,
    TEXTS,
    column_kinds,
    damaged_file_error,
    read_codes,
    read_column,
    read_numbers,
    read_rows,
    read_table,
    row_count,
    table_of,
)
from harness.rundir.records import decoding_text, text_of_fields, varying_fields
from harness.rundir.sample_events import EVENTS, event_type

KEY_COLUMNS = {
    "model": TEXTS,
    "decoding": TEXTS,
    "example": TEXTS,
    "candidates": LISTS,
    "references": LISTS,
}
"""Names of the columns that every table has, and their kinds."""
META = "meta"
"""Column of the examples' short metadata, JSON objects;
only in runs whose examples have any.
"""
OPTIONAL_COLUMNS = {META: TEXTS, EVENTS: RECORDS}
"""Names of the columns that are no scores and that some tables have,
and their kinds.
"""
P_PREFIX = "p:"
MAX_META = 80
"""Maximum number of characters of a metadata text that is written."""
Column = Sequence[object]


def cluster_of(
    meta: Parameters, column: str, example: str, role: str = "cluster"
) -> str:
    """Return the value of a metadata column as text: the cluster of an example,
    or another ``role``.

    Raises :class:`InputError` where the example has none.
    """
    if column not in meta:
        hint = did_you_mean(column, meta)
        raise InputError(
            f"{role}: example '{example}' has no '{column}' in its metadata{hint}; "
            f"it has {', '.join(meta) or 'none'}",
            parameter=role,
            value=column,
        )
    return str(meta[column])


@dataclass(frozen=True, eq=False)
class System:
    """One model under one decoding: the rows of a sample table that belong to it."""

    model: str
    decoding_key: str
    """The decoding as sorted JSON, as in the column ``decoding``."""
    rows: np.ndarray
    """Row numbers in the table, shape (B,)."""
    table: SampleTable

    @cached_property
    def decoding(self) -> Parameters:
        """Decoding fields that differ from the defaults,
        and ``references`` where the spec cuts them.
        """
        return self.table.json_object("decoding", self.decoding_key)

    @property
    def references(self) -> int | None:
        """Number of references that the spec cuts to; None: all."""
        return self.decoding.get("references")

    @property
    def label(self) -> str:
        """Model and its whole decoding; tables of a run have
        :attr:`SampleTable.labels`.
        """
        return f"{self.model} {decoding_text(self.decoding)}".strip()

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Example ids, length B."""
        names = self.table.texts("example")
        return tuple(names[int(row)] for row in self.rows)

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """Example id -> position within the system."""
        return {example: position for position, example in enumerate(self.examples)}

    def scores(self, metric: str) -> np.ndarray:
        """Return per-example scores, float64, shape (B,), NaN where undefined."""
        return self.table.numbers(metric)[self.rows]

    def p_values(self, metric: str) -> np.ndarray | None:
        """Return per-example p-values, shape (B,), or None when the metric has none."""
        name = f"{P_PREFIX}{metric}"
        return self.table.numbers(name)[self.rows] if name in self.table.names else None

    def clusters(self, column: str, role: str = "cluster") -> list[str]:
        """Return the value of a metadata column of each example, length B; raise
        :class:`InputError` where it is missing.
        """
        metadata = self.table.metadata
        return [
            cluster_of(metadata[int(row)], column, name, role)
            for name, row in zip(self.examples, self.rows)
        ]

    def caption_sets(self, positions: Iterable[int] | None = None) -> list[CaptionSet]:
        """Return the captions of the system as caption sets, length B, or those at some
        positions within the system.
        """
        candidates = cast("Sequence[Sequence[str]]", self.table["candidates"])
        references = cast("Sequence[Sequence[str]]", self.table["references"])
        sets: list[CaptionSet] = []
        for position in range(len(self.rows)) if positions is None else positions:
            row = int(self.rows[position])
            sets.append(
                CaptionSet(
                    self.examples[position],
                    tuple(candidates[row]),
                    tuple(references[row]),
                )
            )
        return sets

    def iter_caption_sets(self) -> Iterator[CaptionSet]:
        """Yield the caption sets of :meth:`caption_sets`, with a part of the file in
        memory at a time.
        """
        path = self.table.file
        if path is None:
            yield from self.caption_sets()
            return

        # The rows of a system lie together, in the order of the run: row groups before
        # the first and behind the last one are not decoded.
        own_rows = set(self.rows.tolist())
        names = ("example", "candidates", "references")
        rows = read_rows(path, names, int(self.rows.min()), int(self.rows.max()))
        for row, (example, candidates, references) in rows:
            if row in own_rows:
                yield CaptionSet(example, tuple(candidates), tuple(references))


class SampleTable:
    """Columns of samples.parquet, read lazily by name."""

    def __init__(
        self,
        columns: Mapping[str, Column] | None = None,
        path: Path | None = None,
        checksum: str | None = None,
    ) -> None:
        self._unread = path
        self._checksum = checksum
        self._columns: dict[str, Column] = dict(columns or {})
        self._numbers: dict[str, np.ndarray] = {}

    @classmethod
    def empty(cls) -> SampleTable:
        """Return a table without rows."""
        return cls(dict.fromkeys(KEY_COLUMNS, ()))

    @classmethod
    def open(cls, path: Path, checksum: str | None = None) -> SampleTable:
        """Return the table of a Parquet file, which is checked when it is first read.

        Without a checksum (SHA-256), a file that does not exist is an empty table. The
        first use raises :class:`InputError` for a file with another checksum, and for
        columns that are missing or have other types.
        """
        if checksum is None and not path.is_file():
            return cls.empty()
        return cls(path=path, checksum=checksum)

    @cached_property
    def _path(self) -> Path | None:
        """The file, checked; None for a table in memory."""
        path = self._unread
        if path is None:
            return None
        try:
            digest = file_digest(path)
        except FileNotFoundError:
            raise InputError(
                "is missing; run the spec again to rebuild it", str(path)
            ) from None
        if self._checksum not in (None, digest):
            raise damaged_file_error(path, "its checksum differs")

        # A table without rows may lack columns, or have others in their place.
        kinds = column_kinds(path) if row_count(path) else {}
        expected = {**dict.fromkeys(kinds, NUMBERS), **OPTIONAL_COLUMNS, **KEY_COLUMNS}
        for name in KEY_COLUMNS | kinds if kinds else ():
            kind = kinds.get(name, "nothing")
            if kind != expected[name]:
                raise damaged_file_error(
                    path, f"column '{name}': found {kind}, expected {expected[name]}"
                )
        return path

    @property
    def file(self) -> Path | None:
        """The Parquet file, None for a table in memory or an empty one."""
        return self._path

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        if self._path is None:
            return tuple(self._columns)
        return tuple(column_kinds(self._path))

    @property
    def metrics(self) -> tuple[str, ...]:
        """Labels of the metrics that have per-example scores."""
        return tuple(
            name for name in self.scored_columns if not name.startswith(P_PREFIX)
        )

    @property
    def scored_columns(self) -> tuple[str, ...]:
        """Names of all number columns: scores, and p-values as ``p:METRIC``."""
        others = KEY_COLUMNS | OPTIONAL_COLUMNS
        return tuple(name for name in self.names if name not in others)

    @property
    def metadata(self) -> list[Parameters]:
        """Metadata of the example of each row: short texts,
        numbers and flags by name.
        """
        if META not in self.names:
            return [{}] * len(self)
        return [
            self.json_object(META, text) if text else {} for text in self.texts(META)
        ]

    def json_object(self, name: str, text: str) -> Parameters:
        """Return the mapping of a value of column ``name``; raise :class:`InputError`
        when it is no JSON object.
        """
        try:
            value = parse_json(text)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise damaged_file_error(
                self._path or Path("samples"),
                f"column '{name}': not a JSON object: {text[:60]!r}",
            )
        return cast("Parameters", value)

    def __len__(self) -> int:
        if self._path is not None and "model" not in self._columns:
            return row_count(self._path)
        return len(self._column("model"))

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Column:
        """Return a column as stored: texts, lists of texts,
        or numbers with None for null.
        """
        if name not in self.names:
            raise UnknownName(
                f"the samples have no column '{name}'{did_you_mean(name, self.names)}",
                value=name,
            )
        return self._column(name)

    def _column(self, name: str) -> Column:
        if name not in self._columns and self._path is not None:
            self._columns[name] = read_column(
                self._path, name, whole=name in KEY_COLUMNS
            )
        return self._columns[name]

    def texts(self, name: str) -> Sequence[str]:
        """Return a text column (``model``, ``decoding`` or ``example``)."""
        return cast("Sequence[str]", self._column(name))

    def lists(self, name: str) -> Sequence[tuple[str, ...]]:
        """Return a column of texts lists (``candidates`` or ``references``),
        one tuple per row.
        """
        return [tuple(cast("Sequence[str]", row)) for row in self._column(name)]

    def numbers(self, name: str) -> np.ndarray:
        """Return a number column, float64, shape (rows,), NaN for null."""
        if name not in self._numbers:
            if self._path is not None and name not in self._columns:
                self._numbers[name] = read_numbers(self._path, name)
            else:
                values = [np.nan if x is None else x for x in self._column(name)]
                self._numbers[name] = np.array(values, dtype=np.float64)
        return self._numbers[name]

    @cached_property
    def systems(self) -> tuple[System, ...]:
        """Models with their decodings, in the order of the run."""
        keys, numbers = self._system_keys()
        order = np.argsort(numbers, kind="stable")
        counts = np.bincount(numbers, minlength=len(keys))
        row_groups = np.split(order, np.cumsum(counts)[:-1]) if len(keys) else []
        return tuple(System(*key, rows, self) for key, rows in zip(keys, row_groups))

    @cached_property
    def labels(self) -> Mapping[tuple[str, str], str]:
        """Model and decoding key -> model with what tells its decoding apart: the
        fields in which the decodings of the run differ.
        """
        varying = varying_fields(system.decoding for system in self.systems)
        labels: dict[tuple[str, str], str] = {}
        for system in self.systems:
            text = text_of_fields(system.decoding, varying)
            label = f"{system.model} {text}".strip()
            labels[system.model, system.decoding_key] = label
        return labels

    def _system_keys(self) -> tuple[list[tuple[str, str]], np.ndarray]:
        """Return the distinct pairs of model and decoding by first occurrence, and the
        number of each row's pair (rows,).
        """
        if self._path is not None and len(self):
            return _distinct_pairs(
                read_codes(self._path, "model"), read_codes(self._path, "decoding")
            )
        numbers: dict[tuple[str, str], int] = {}
        rows = [
            numbers.setdefault(key, len(numbers))
            for key in zip(self.texts("model"), self.texts("decoding"))
        ]
        return list(numbers), np.asarray(rows, dtype=np.int64)

    def to_arrow(self) -> Any:
        """Return all columns as a ``pyarrow.Table``."""
        if self._path is not None:
            return read_table(self._path)
        columns = self.to_dict()
        return table_of(columns, {EVENTS: event_type()} if EVENTS in columns else None)

    def to_dict(self) -> dict[str, list[object]]:
        """Return all columns as lists."""
        return {name: list(self._column(name)) for name in self.names}


def _distinct_pairs(
    first: tuple[list[str], np.ndarray], second: tuple[list[str], np.ndarray]
) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Return the distinct pairs of texts of two columns by first occurrence, and the
    number of each row's pair (rows,).

    A column is its distinct texts and the number of each row's text, so that no text is
    compared for each of millions of rows.
    """
    first_texts, first_codes = first
    second_texts, second_codes = second
    pairs = first_codes.astype(np.int64) * len(second_texts) + second_codes
    distinct, first_rows, inverse = np.unique(
        pairs, return_index=True, return_inverse=True
    )

    # numpy sorts the pairs by their numbers; the order is that of their first rows
    order = np.argsort(first_rows)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))

    texts: list[tuple[str, str]] = []
    for pair in distinct[order]:
        i, j = divmod(int(pair), len(second_texts))
        texts.append((first_texts[i], second_texts[j]))
    return texts, rank[inverse]
