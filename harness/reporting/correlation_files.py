"""Correlation studies as files: CSV, TSV, JSON or Parquet, one row per x column, y column and group."""

from __future__ import annotations

from pathlib import Path

from harness.analysis.correlate import Study
from harness.errors import InputError
from harness.reporting.formats.delimited import delimit
from harness.rundir.format import to_json, write_atomically
from harness.rundir.parquet import write_columns

COLUMNS = ("x", "y", "group", "n", "r", "r2", "p", "spearman", "kendall")
SUFFIXES = (".csv", ".tsv", ".json", ".parquet")


def write_study(study: Study, path: Path) -> Path:
    """Write all correlations of a study in the format that the name of the file says, and return the path.

    Raises :class:`InputError` for another suffix.
    """
    records = study.records()
    suffix = path.suffix.lower()
    if suffix == ".json":
        write_atomically(path, to_json({"source": study.source, "by": study.by, "correlations": records}))
    elif suffix == ".parquet":
        path.parent.mkdir(parents=True, exist_ok=True)
        write_columns(path, {name: [record[name] for record in records] for name in COLUMNS}, [(0, len(records))])
    elif suffix in SUFFIXES:
        rows = [
            list(COLUMNS),
            *(["" if record[name] is None else record[name] for name in COLUMNS] for record in records),
        ]
        text = delimit(rows, "\t" if suffix == ".tsv" else ",")
        write_atomically(path, text.encode("utf-8"))
    else:
        raise InputError(
            f"the name ends with '{path.suffix}'; expected {', '.join(SUFFIXES)}", str(path), expected=SUFFIXES
        )
    return path
