"""References that a caption is, and the rules by which they are removed."""

import pytest

from harness.errors import InputError
from tests.support.reference_sets import ITEMS, PAIRS, SET, references


def test_own_reference():
    one = [[r[0]] for r in references(SET, own="caption")]
    assert one == [
        [("r0", "r2", "r3", "r4")],
        [ITEMS[0].references],
        [("r0", "r1", "r2", "r4")],
        [ITEMS[1].references],
    ]
    assert [r[0] for r in references(SET, own="item")][:3] == [("r0", "r2", "r4")] * 3
    assert references(SET, own="keep")[0][0] == ITEMS[0].references
    assert [r[0] for r in references(PAIRS, own="pair")][:2] == [("r0", "r3", "r4")] * 2
    assert [r[0] for r in references(PAIRS, own="caption")][:2] == [
        ("r0", "r2", "r3", "r4"),
        ("r0", "r1", "r3", "r4"),
    ]


def test_own_by_category():
    by = references(PAIRS, own={"HC": "pair", "MM": "keep"})
    assert by[0][0] == ("r0", "r3", "r4")
    with pytest.raises(
        InputError, match=r"references\.own has no entry for category 'MM'; found HC"
    ):
        references(PAIRS, own={"HC": "pair"})
