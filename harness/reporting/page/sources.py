"""Captions and data of a finished run, read again for the page: row group by row group, and where files are there and unchanged."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.contracts import CaptionSet, Example
from harness.errors import HarnessError
from harness.files.media import check_media
from harness.files.yaml_source import Located
from harness.registry import current
from harness.run.finished import Run
from harness.rundir.format import SAMPLES, open_run_file
from harness.rundir.parquet import damaged_file_error, require_values
from harness.rundir.samples import System
from harness.spec.models import DatasetSpec

COLUMNS = ("example", "candidates", "references")


def stream(run: Run, system: System) -> Iterator[CaptionSet]:
    """Yield the captions of a system, in the order of its rows; raise :class:`InputError` for a damaged file."""
    path = None if run.path is None else run.path / SAMPLES
    if path is None or not path.is_file():
        yield from system.caption_sets()
        return
    parquet: Any = importlib.import_module("pyarrow.parquet")
    # The rows of a system lie together, in the order of the run: row groups before the first and behind the last one are not decoded.
    first, last = int(system.rows.min()), int(system.rows.max())
    rows = set(system.rows.tolist())
    start = 0
    try:
        with open_run_file(path) as opened, parquet.ParquetFile(opened) as file:
            for group in range(file.num_row_groups):
                length = file.metadata.row_group(group).num_rows
                if start <= last and start + length > first:
                    table = file.read_row_group(group, columns=list(COLUMNS), use_threads=False)
                    require_values(table)
                    columns = table.to_pydict()
                    for k, (example, candidates, references) in enumerate(zip(*(columns[name] for name in COLUMNS))):
                        if start + k in rows:
                            yield CaptionSet(example, tuple(candidates), tuple(references))
                start += length
    except (OSError, ValueError) as error:
        raise damaged_file_error(path, error) from None


def examples_of(run: Run) -> list[Example]:
    """Return the examples of the data set that a run read; empty where its local files are missing or have changed.

    Data that are no local files are not read again: a page is written without network.
    """
    dataset = run.provenance.spec.get("dataset")
    if not isinstance(dataset, dict):
        return []
    spec = DatasetSpec.model_validate(dataset)
    if not any(isinstance(value, str) and Path(value).is_file() for value in spec.params.values()):
        return []
    try:
        reader: Any = current().create("readers", spec.reader, spec.params)
        if reader.fingerprint() != run.provenance.data.get("fingerprint"):
            return []
        return list(check_media(reader, (value for _, value in Located(spec.params).walk())))
    except (HarnessError, OSError):  # the run is complete without its data
        return []
