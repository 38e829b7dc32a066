"""References of several files, joined by their ids."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.contracts import Example
from harness.errors import InputError
from harness_tasks.readers.joined import join_readers

ONE = [Example("a", ("x", "y"), media=None, meta={"k": 1}), Example("b", ("z",))]
OTHER = [
    Example("b", ("w",), source="s"),
    Example("a", ("v",), media="a.jpg", meta={"k": 2, "l": 3}),
]


def test_references_are_joined_by_id_in_the_order_of_the_files():
    expected = [
        Example("a", ("x", "y", "v"), media="a.jpg", meta={"k": 1, "l": 3}),
        Example("b", ("z", "w"), source="s"),
    ]
    assert list(join_readers({"1": ONE, "2": OTHER}, None)) == expected
    assert [
        example.references for example in join_readers({"1": ONE, "2": OTHER}, 2)
    ] == [("x", "y"), ("z", "w")]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (OTHER[:1], "2: has no references for 1 of 2 examples of 1: 'a'"),
        (
            [*OTHER, Example("c", ("u",))],
            "2: has references for 1 example not in 1: 'c'",
        ),
    ],
)
def test_other_ids_are_one_line(other, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        list(join_readers({"1": ONE, "2": other}, None))


def test_sets_of_annotators_may_lack_examples():
    other = [Example("b", ("w",)), Example("c", ("u",))]
    examples = list(join_readers({"1": ONE, "2": other}, None, partial=True))
    assert [(item.id, item.references) for item in examples] == [
        ("a", ("x", "y")),
        ("b", ("z", "w")),
        ("c", ("u",)),
    ]


def test_an_example_without_a_reference_in_any_file_is_named():
    empty = [replace(example, references=()) for example in ONE]
    with pytest.raises(InputError, match="^1: the example 'a' has no reference in any"):
        list(join_readers({"1": empty, "2": empty}, None))
