"""Marks that exclude a reference."""

from __future__ import annotations

import pytest

from harness.files.marks import find_mark


@pytest.mark.parametrize(
    ("fields", "mark"),
    [
        ({"is_rejected": True, "is_precanned": True}, "is_rejected"),
        ({"is_rejected": False, "is_precanned": True}, "is_precanned"),
        ({"rejected": "TRUE"}, "rejected"),
        ({"isRejected": 1}, "isRejected"),
        ({"valid": False}, "valid: false"),
        ({"is_valid": "no"}, "is_valid: false"),
    ],
)
def test_marks_exclude(fields, mark):
    assert find_mark({"caption": "a dog", **fields}) == mark


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"is_rejected": False},
        {"rejected": None},
        {"valid": True},
        {"rejected": "a cat sits"},
        {"valid": 2},
        {"rejected": ""},
    ],
)
def test_other_values_do_not(fields):
    assert find_mark({"caption": "a dog", **fields}) is None
