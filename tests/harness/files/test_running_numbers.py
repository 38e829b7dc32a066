"""Running numbers of records beside a column that both files have."""

from __future__ import annotations

import pytest

import harness
from harness.errors import InputError
from harness.files.records import Record
from harness.files.running_numbers import NumberedRecords, is_running

PLACES = ["beach", "harbour", "forest", "kitchen"]
SHUFFLED = ["forest", "beach", "kitchen", "harbour"]


def records(values, name="photo", **others):
    """Return numbered records with a column of values, and columns of one value."""
    return [
        Record(f"f:{k}", {"id": k, name: value, "caption": f"c{k}", **others})
        for k, value in enumerate(values)
    ]


def find(rows, values, name="photo", examples=None, **fields):
    """Return the other pairing of records with examples of some values."""
    numbered = NumberedRecords(rows[:20], ["id"], ["caption"])
    assert list(numbered.watch(rows)) == rows
    names = examples or [str(k) for k in range(len(values))]
    return numbered.find_other_pairing("id", names, {name: values, **fields})


def test_a_column_in_another_order_is_another_pairing():
    found = find(records(PLACES), SHUFFLED)
    assert (found.record, found.by_number, found.by_other) == (1, "0", "1")
    assert (found.column, found.other, found.value) == ("id", "photo", "beach")
    assert found.describe().endswith(
        "record 1 is example '0' by 'id', a running number of both sides, "
        "and '1' by 'photo' ('beach')"
    )


def test_the_same_order_is_none():
    assert find(records(PLACES), PLACES) is None


@pytest.mark.parametrize(
    ("own", "others"),
    [
        (["test"] * 4, ["test"] * 4),
        (["train", "val", "test", "test"], ["test", "train", "val", "test"]),
        (["a", "b", "c", "a"], ["b", "c", "a", "a"]),
        (["a", "b", "c", "d"], ["b", "a", "c", "e"]),
        ([1, 2, 3, 4], ["3", "1", "4", "2"]),
        ([31, 45, 28, 52], ["45", "28", "31", "52"]),
        (["a", "b", None, "d"], ["b", "a", "None", "d"]),
        ([0.1, 0.2, 0.3, 0.4], ["0.2", "0.1", "0.4", "0.3"]),
        (["0.1", "0.22", "3e-1", ".4"], ["0.22", "0.1", "3e-1", ".4"]),
        (["a", "b", "c", "d"], ["b", "a"]),
    ],
    ids=[
        "constant",
        "splits",
        "repeated",
        "others",
        "ranks",
        "lengths",
        "gap",
        "floats",
        "decimals",
        "two",
    ],
)
def test_columns_that_tell_nothing(own, others):
    assert find(records(own), others) is None


@pytest.mark.parametrize(
    ("own", "others"),
    [
        ([391895, 60623, 7, 42], ["60623", "391895", "7", "42"]),
        (["a/v1.jpg", "a/v2.jpg", "a/v3.jpg"], ["v2.png", "v1.png", "v3.png"]),
        (["a", "b", "c", "d"], ["b", "a", "c"]),
        (["a", "b", "c"], ["b", "a", "d", "c"]),
    ],
    ids=["numbers", "files", "limit", "missing"],
)
def test_values_that_are_compared(own, others):
    assert find(records(own), others).by_other == "1"


def test_a_column_with_the_order_of_the_numbers_confirms_them():
    rows = records(SHUFFLED, name="distractor")
    rows = [Record(r.where, {**r.fields, "photo": f"p{k}"}) for k, r in enumerate(rows)]
    photos = [f"p{k}" for k in range(4)]
    assert find(rows, PLACES, name="distractor", photo=photos) is None
    assert find(rows, PLACES, name="distractor", photo=photos[::-1]) is not None


def test_numbers_that_do_not_run_are_ids():
    rows = records(PLACES)
    rows[2].fields["id"] = 9
    assert find(rows, SHUFFLED) is None
    assert find(records(PLACES), SHUFFLED, examples=["0", "1", "3", "2"]) is None


def test_numbers_may_begin_elsewhere():
    examples = ["1", "2", "3", "4"]
    assert find(records(PLACES), SHUFFLED, examples=examples).by_other == "2"
    # the order is the same, or the numbers are
    assert find(records(PLACES), PLACES, examples=examples) is None
    assert find(records(["attic", *PLACES]), PLACES, examples=examples) is None


def test_a_file_whose_later_records_differ_is_read_on():
    many = [f"v{k}" for k in range(50)]
    for own in (many[:40] + many[:10], [*many[:49], None]):
        assert find(records(own), many[::-1]) is None
    late = records(many)
    late[40].fields["id"] = 77
    assert find(late, many[::-1]) is None
    assert find(records(many), many[::-1]) is not None


def test_running_numbers_begin_with_zero_or_one():
    assert is_running(["0", "1", "2"]) and is_running(["1", "2"])
    assert not is_running(["2", "3"]) and not is_running(["0", "2"])
    assert not is_running([])


def test_rows_of_a_program_are_refused_too():
    rows = [{"id": k, "photo": p, "caption": p} for k, p in enumerate(PLACES)]
    others = [{"id": k, "photo": p, "caption": p} for k, p in enumerate(SHUFFLED)]
    with pytest.raises(InputError, match="candidates: two columns .* by 'photo'"):
        harness.score(rows, others, "bleu1", bootstrap=0)
    assert harness.score(rows, rows, "bleu1", bootstrap=0)["bleu1"].value > 0.9
