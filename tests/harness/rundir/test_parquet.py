"""Parquet: columns by name, row groups, damaged files."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from harness.errors import InputError
from harness.rundir.parquet import column_names, read_column, write_columns

COLUMNS = {"a.b": [1.0, None, 3.0], "text": ["x", "y", "z"], "lists": [["p"], [], ["q", "r"]]}


def test_columns_come_back_by_name_in_row_groups(tmp_path):
    file = tmp_path / "t.parquet"
    write_columns(file, COLUMNS, [(0, 2), (2, 1)])
    assert column_names(file) == ("a.b", "text", "lists")
    assert {name: read_column(file, name) for name in COLUMNS} == COLUMNS
    assert pq.ParquetFile(file).num_row_groups == 2


@pytest.mark.parametrize("keep", [0, 3, 40])
def test_a_truncated_file_is_one_line(tmp_path, keep):
    file = tmp_path / "t.parquet"
    write_columns(file, COLUMNS, [(0, 3)])
    file.write_bytes(file.read_bytes()[:keep])
    for read in (column_names, lambda path: read_column(path, "text")):
        with pytest.raises(InputError, match="is damaged .*; run the spec again to rebuild it"):
            read(file)
