"""Results of verbs: rows as tables of pyarrow and pandas."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.contracts import VerbResult, WrittenFiles, arrow_table
from harness.reporting.table import Table


@dataclass(frozen=True)
class Rows(VerbResult):
    rows: list[dict[str, Any]]

    ROWS = "rows"

    def to_dict(self):
        return {"rows": self.rows}

    def blocks(self):
        yield Table(["name"], [[row["name"]] for row in self.rows], "l")
        yield "a <line>"


def test_rows_with_other_keys_have_nulls():
    table = arrow_table([{"a": 1}, {"b": [0.5, 1.5]}])
    assert table.to_pylist() == [{"a": 1, "b": None}, {"a": None, "b": [0.5, 1.5]}]
    assert arrow_table([]).num_rows == 0


def test_mappings_and_values_of_several_types_are_json():
    rows = [{"m": {"n": 1}, "x": 1}, {"m": None, "x": "many"}]
    table = arrow_table(rows)
    assert table.column("m").to_pylist() == ['{"n": 1}', None]
    assert table.column("x").to_pylist() == ["1", '"many"']


def test_a_result_is_text_html_arrow_and_frame():
    result = Rows([{"name": "a"}, {"name": "<b>"}])
    assert [line.rstrip() for line in str(result).splitlines()] == [
        "name",
        "━━━━",
        "a",
        "<b>",
        "a <line>",
    ]
    html = result._repr_html_()
    assert "&lt;b&gt;" in html and "a &lt;line&gt;" in html and "<b>" not in html
    assert result.to_arrow().to_pylist() == result.rows
    pytest.importorskip("pandas")
    assert result.to_frame()["name"].tolist() == ["a", "<b>"]


def test_written_files_are_paths_with_remarks():
    files = WrittenFiles([Path("a"), Path("b")], ["done"])
    assert files == [Path("a"), Path("b")]
    assert str(files).splitlines() == ["a", "b", "done"]
    assert files.to_dict() == {"files": ["a", "b"]}
    assert files.to_arrow().to_pylist() == [{"file": "a"}, {"file": "b"}]


def test_the_base_has_no_content():
    for member in (VerbResult().to_dict, VerbResult().blocks):
        with pytest.raises(NotImplementedError):
            member()
