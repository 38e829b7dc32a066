"""Correlations as files."""

import json

import pytest

from harness.analysis.column_table import from_records, read_columns
from harness.analysis.correlate import study
from harness.errors import InputError
from harness.reporting.correlation_files import write_study

STUDY = study(
    from_records("t", [{"a": i, "b": i * i, "flat": 1} for i in range(4)]), ["a", "flat"], ["b"], drop="never"
)


@pytest.mark.parametrize("name", ["s.csv", "s.tsv", "deep/s.parquet", "s.json"])
def test_all_digits_are_written(tmp_path, name):
    path = write_study(STUDY, tmp_path / name)
    expected = STUDY.record("a", "b")["r"]
    if path.suffix == ".json":
        assert json.loads(path.read_text())["correlations"][0]["r"] == expected
        return
    table = read_columns([path])
    assert table.labels["x"][0] == "a" and table.numbers["r"][0] == expected and table.numbers["n"][0] == 4


def test_another_suffix(tmp_path):
    with pytest.raises(InputError, match="ends with '.xlsx'; expected .csv"):
        write_study(STUDY, tmp_path / "s.xlsx")
