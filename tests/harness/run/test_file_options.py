"""Options of files of candidates and references."""

from __future__ import annotations

from harness.run.file_options import FileOptions


def test_parameters_of_the_components():
    assert FileOptions().of_candidates() == FileOptions().of_references() == {}
    options = FileOptions(None, ("said",), (), "key", ("a", "b"))
    assert options.of_candidates("beam", options.column) == {
        "columns": {"id": None},
        "candidates": "said",
        "system": "beam",
    }
    assert options.of_references() == {
        "columns": {"id": "key", "references": ["a", "b"]}
    }
