"""All texts of one length as examples."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.testing import check_reader
from harness_tasks.text_spaces.reader import SyntheticTexts
from harness_tasks.text_spaces.spaces import texts


def test_texts_in_the_order_of_their_numbers():
    examples = list(SyntheticTexts(vocabulary=3, length=2))
    expected = [(" ".join(f"w{k}" for k in row),) for row in texts(3, 2).tolist()]
    assert [example.references for example in examples] == expected
    assert [example.id for example in examples] == [str(k) for k in range(9)]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"vocabulary": 0}, "vocabulary is 0"),
        ({"length": 2.5}, "length is 2.5"),
        ({"length": 20}, "at most 4096"),
    ],
)
def test_invalid_sizes_of_texts(params, message):
    with pytest.raises(InputError, match=message):
        SyntheticTexts(**params)


def test_fingerprint_holds_the_parameters():
    assert (
        SyntheticTexts(vocabulary=3, length=2).fingerprint()
        == "synthetic-texts|V:3|L:2"
    )


def test_the_reader_passes_its_checks():
    assert not [
        o
        for o in check_reader({"synthetic-texts": {"vocabulary": 3, "length": 2}})
        if o.failed
    ]
