"""Texts of the decoding of a record."""

from __future__ import annotations

import pytest

from harness.rundir.records import ResultRecord, decoding_text


@pytest.mark.parametrize(
    ("decoding", "text"),
    [
        ({}, ""),
        ({"strategy": "nucleus", "temperature": 0.7, "candidates": 10}, "nucleus T=0.7 n=10"),
        ({"temperature": 1.0}, "T=1"),
        ({"temperature": 0.1234561}, "T=0.1234561"),
        ({"temperature": 0.1234567}, "T=0.1234567"),
    ],
)
def test_a_text_has_every_digit_of_its_numbers(decoding, text):
    assert decoding_text(decoding) == text


def test_a_record_has_no_time_where_none_was_measured():
    assert ResultRecord(model="a", metric="m").seconds == 0.0
