"""Numbers that describe a data set of captions."""

from __future__ import annotations

import pytest

from harness.analysis.description import describe_captions


def test_numbers_of_captions():
    numbers = describe_captions(
        {
            "1": ["A dog runs.", "a dog runs.", "The brown dog is running"],
            "2": ["people's hats", "A dog runs."],
        }
    )
    assert (
        numbers["examples"] == 2
        and numbers["captions"] == 5
        and numbers["captions of an example, mean"] == 2.5
    )
    assert (
        numbers["words of a caption, most"] == 5
        and numbers["words of a caption, median"] == 3
    )
    assert numbers["distinct words"] == 9  # people's is one word
    assert numbers["share of distinct words that occur once"] == pytest.approx(6 / 9)
    assert (
        numbers["captions that repeat one of their example"] == 1
        and numbers["captions of several examples"] == 3
    )
