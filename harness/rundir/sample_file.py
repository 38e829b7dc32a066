"""samples.parquet under construction: one row group per shard of a system, so that memory does not grow with the run."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from harness.contracts import CaptionSet, Parameters
from harness.files.memory import require_memory
from harness.rundir.samples import KEY_COLUMNS, META, P_PREFIX, SampleColumns, SampleTable


class SampleWriter:
    """Writes the rows of systems, shard by shard; complete when its ``with`` block ends without an error.

    Parameters
    ----------
    path : Path, optional
        File to write; None: the table is kept in memory (:attr:`table`).
    metrics : sequence of str
        Labels of the metrics.
    tested : collection of str
        Labels of the metrics that have p-values for some system.
    has_meta : bool
        True when examples have metadata.
    """

    def __init__(self, path: Path | None, metrics: Sequence[str], tested: Sequence[str], *, has_meta: bool) -> None:
        self._path = path
        self._metrics, self._tested, self._has_meta = list(metrics), list(tested), has_meta
        self._columns = SampleColumns(metrics)
        self._writer: Any = None

    @property
    def table(self) -> SampleTable:
        """The table, of a writer without a path."""
        return self._columns.table()

    def write(
        self,
        model: str,
        decoding: Parameters,
        sets: Sequence[CaptionSet],
        scores: Mapping[str, np.ndarray],
        p_values: Mapping[str, np.ndarray],
    ) -> None:
        """Add rows: caption sets, scores and p-values (B,) by metric."""
        columns = self._columns if self._path is None else SampleColumns(self._metrics)
        columns.begin(model, decoding, sets)
        for name in self._metrics:
            columns.add(name, scores[name], p_values.get(name))
        if self._path is not None and sets:
            self._append(columns)

    def _append(self, columns: SampleColumns) -> None:
        arrow: Any = importlib.import_module("pyarrow")
        table = columns.table()
        texts = {"model": arrow.string(), "decoding": arrow.string(), "example": arrow.string()}
        lists = dict.fromkeys(("candidates", "references"), arrow.list_(arrow.string()))
        types: dict[str, Any] = {**texts, **lists}
        types.update({META: arrow.string()} if self._has_meta else {})
        types.update(dict.fromkeys(self._metrics, arrow.float64()))
        types.update({f"{P_PREFIX}{name}": arrow.float64() for name in self._metrics if name in self._tested})
        schema = arrow.schema(list(types.items()))
        values = [table[name] if name in table else [None] * len(table) for name in types]
        rows = arrow.table([arrow.array(column, type=types[name]) for name, column in zip(types, values)], schema)
        require_memory(2 * rows.nbytes)
        self._open(schema).write_table(rows)

    def _open(self, schema: Any) -> Any:
        if self._writer is None:
            parquet: Any = importlib.import_module("pyarrow.parquet")
            self._writer = parquet.ParquetWriter(self._temporary, schema, compression="zstd")
        return self._writer

    @property
    def _temporary(self) -> Path:
        assert self._path is not None
        return self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")

    def __enter__(self) -> SampleWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._path is None:
            return
        try:
            if kind is None:
                arrow: Any = importlib.import_module("pyarrow")
                self._open(arrow.schema([(name, arrow.string()) for name in KEY_COLUMNS])).close()
                with open(self._temporary, "rb") as file:
                    os.fsync(file.fileno())
                os.replace(self._temporary, self._path)
            elif self._writer is not None:
                self._writer.close()
        finally:
            self._temporary.unlink(missing_ok=True)
