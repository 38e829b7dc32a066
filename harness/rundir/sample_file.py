"""samples.parquet under construction: one row group per shard of a system, so that
memory does not grow with the run.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import BinaryIO

import numpy as np

from harness.contracts import CaptionSet, Parameters, Values
from harness.files.memory import require_memory
from harness.rundir.format import escape_surrogates, plain
from harness.rundir.parquet import Arrow
from harness.rundir.records import decoding_key
from harness.rundir.sample_events import EVENTS, EventColumn, event_type
from harness.rundir.samples import KEY_COLUMNS, MAX_META, META, P_PREFIX, SampleTable


class SampleColumns:
    """Columns of samples.parquet under construction, system by system."""

    def __init__(self, metrics: Sequence[str], *, has_events: bool = False) -> None:
        self._has_events = has_events
        self._keys: dict[str, list[object]] = {name: [] for name in KEY_COLUMNS}
        self._scores: dict[str, list[object]] = {name: [] for name in metrics}
        self._p_values: dict[str, list[object]] = {}
        self._meta: list[object] = []
        self._rows = 0

    def begin(
        self, model: str, decoding: Parameters, sets: Sequence[CaptionSet]
    ) -> None:
        """Start the rows of one model and decoding;
        columns that :meth:`add` does not fill stay null.
        """
        self._pad()
        key = decoding_key(decoding)
        for item in sets:
            self._keys["model"].append(model)
            self._keys["decoding"].append(key)
            self._keys["example"].append(item.id)
            self._keys["candidates"].append(_valid_utf8(item.candidates))
            self._keys["references"].append(_valid_utf8(item.references))
            self._meta.append(_metadata(item.meta))
        self._rows += len(sets)

    def add(self, metric: str, scores: np.ndarray, p_values: np.ndarray | None) -> None:
        """Add the scores and p-values (B,) of one metric to the rows begun last;
        NaN becomes null.
        """
        self._scores[metric].extend(_nulls(scores))
        if p_values is not None:
            column = self._p_values.setdefault(metric, [])
            # systems before this one may have none
            column.extend([None] * (self._rows - len(p_values) - len(column)))
            column.extend(_nulls(p_values))

    def _pad(self) -> None:
        for column in (*self._scores.values(), *self._p_values.values()):
            column.extend([None] * (self._rows - len(column)))

    def columns(self) -> dict[str, Sequence[object]]:
        """Return the columns by name; metrics without any score per example are left
        out.
        """
        self._pad()
        scores = {name: column for name, column in self._scores.items() if column}
        p_values = {
            f"{P_PREFIX}{name}": column for name, column in self._p_values.items()
        }
        meta = {META: self._meta} if any(self._meta) else {}
        events: dict[str, Sequence[object]] = {}
        if self._has_events:
            texts = self._keys["candidates"], self._keys["references"]
            events[EVENTS] = EventColumn(*texts)
        return {**self._keys, **meta, **events, **scores, **p_values}

    def table(self) -> SampleTable:
        """Return the table of :meth:`columns`."""
        return SampleTable(self.columns())


class SampleWriter:
    """Writes the rows of systems, shard by shard;
    complete when its ``with`` block ends without an error.

    Parameters
    ----------
    file : binary file, optional
        File to write, closed at the end; None: the table is kept in memory
        (:attr:`table`).
    metrics : sequence of str
        Labels of the metrics.
    tested : collection of str
        Labels of the metrics that have p-values for some system.
    has_meta : bool
        True when examples have metadata.
    has_events : bool
        True when references are sets of events.
    """

    def __init__(
        self,
        file: BinaryIO | None,
        metrics: Sequence[str],
        tested: Sequence[str],
        *,
        has_meta: bool,
        has_events: bool = False,
    ) -> None:
        self._file = file
        self._metrics = list(metrics)
        self._tested = list(tested)
        self._has_meta = has_meta
        self._has_events = has_events
        self._columns = self._new_columns()
        self._writer: Arrow = None

    @property
    def table(self) -> SampleTable:
        """The table, of a writer without a file."""
        return self._columns.table()

    def _new_columns(self) -> SampleColumns:
        return SampleColumns(self._metrics, has_events=self._has_events)

    def write(
        self,
        model: str,
        decoding: Parameters,
        sets: Sequence[CaptionSet],
        scores: Mapping[str, np.ndarray],
        p_values: Mapping[str, np.ndarray],
    ) -> None:
        """Add rows: caption sets, scores and p-values (B,) by metric."""
        columns = self._columns if self._file is None else self._new_columns()
        columns.begin(model, decoding, sets)
        for name in self._metrics:
            columns.add(name, scores[name], p_values.get(name))
        if self._file is not None and sets:
            self._append(columns)

    def _append(self, columns: SampleColumns) -> None:
        arrow: Arrow = importlib.import_module("pyarrow")
        schema = self._schema(arrow)
        written = columns.columns()

        # The schema is that of the first row group: a column without values in this
        # one is null.
        nothing = [None] * len(written["example"])
        arrays = [
            arrow.array(list(written.get(field.name) or nothing), type=field.type)
            for field in schema
        ]
        rows = arrow.table(arrays, schema)
        require_memory(2 * rows.nbytes)
        self._open(schema).write_table(rows)

    def _schema(self, arrow: Arrow) -> Arrow:
        """Return the names and types of all columns."""
        types: dict[str, Arrow] = {
            "model": arrow.string(),
            "decoding": arrow.string(),
            "example": arrow.string(),
            "candidates": arrow.list_(arrow.string()),
            "references": arrow.list_(arrow.string()),
        }
        if self._has_meta:
            types[META] = arrow.string()
        if self._has_events:
            types[EVENTS] = event_type()
        for name in self._metrics:
            types[name] = arrow.float64()
        for name in self._metrics:
            if name in self._tested:
                types[f"{P_PREFIX}{name}"] = arrow.float64()
        return arrow.schema(list(types.items()))

    def _open(self, schema: Arrow) -> Arrow:
        if self._writer is None:
            parquet: Arrow = importlib.import_module("pyarrow.parquet")
            self._writer = parquet.ParquetWriter(self._file, schema, compression="zstd")
        return self._writer

    def __enter__(self) -> SampleWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is None:
            return
        with self._file:
            if kind is None:
                # A run without rows has a file too.
                arrow: Arrow = importlib.import_module("pyarrow")
                empty = arrow.schema([(name, arrow.string()) for name in KEY_COLUMNS])
                self._open(empty).close()
                self._file.flush()
                os.fsync(self._file.fileno())
            elif self._writer is not None:
                self._writer.close()


def _metadata(meta: Parameters) -> str | None:
    """Return the short texts, numbers and flags of metadata as JSON;
    None where there are none.
    """
    short: Values = {}
    for name, value in meta.items():
        is_short_text = isinstance(value, str) and len(value) <= MAX_META
        if is_short_text or isinstance(value, (int, float)):
            short[name] = value
    return json.dumps(plain(short), ensure_ascii=True) if short else None


def _nulls(values: np.ndarray) -> list[float | None]:
    numbers: list[float] = values.astype(np.float64, copy=False).tolist()
    # NaN alone differs from itself
    return [number if number == number else None for number in numbers]


def _valid_utf8(texts: Sequence[str]) -> list[str]:
    """Return texts as valid UTF-8: lone surrogates, which Parquet cannot hold,
    are escaped.
    """
    return [escape_surrogates(text) for text in texts]
