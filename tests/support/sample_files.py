"""Tables of samples as files."""

from __future__ import annotations

from pathlib import Path

from harness.rundir.parquet import encode_columns
from harness.rundir.samples import SampleTable


def write_samples(path: Path, table: SampleTable) -> None:
    """Write a table as Parquet, one row group per system."""
    path.write_bytes(
        encode_columns(
            table.to_dict(),
            [(int(system.rows[0]), len(system.rows)) for system in table.systems],
        )
    )
