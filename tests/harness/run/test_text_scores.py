"""Scores of lists and mappings of texts."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.run.text_scores import caption_sets, sets_of


def test_lists_become_numbered_caption_sets():
    one, other = caption_sets([["a", "b"], ["c"]], [["d"], ["e", "f"]])
    assert (one.id, one.candidates, one.references) == ("0", ("a", "b"), ("d",))
    assert other.references == ("e", "f")


def test_mappings_are_joined_by_id():
    sets = sets_of({"x": ["a"], "y": ["b"]}, {"y": ["c"], "x": ["d"]}, allow_missing=False)
    assert {item.id: (item.candidates, item.references) for item in sets} == {"x": (("a",), ("d",)), "y": (("b",), ("c",))}


def test_dictionaries_of_pycocoevalcap():
    references = {7: [{"image_id": 7, "caption": "a"}, {"image_id": 7, "caption": "b"}], 8: [{"caption": "c"}]}
    sets = sets_of({7: [{"image_id": 7, "caption": "x"}], 8: "y"}, references, allow_missing=False)
    assert [(item.id, item.candidates, item.references) for item in sets] == [
        ("7", ("x",), ("a", "b")), ("8", ("y",), ("c",)),
    ]  # fmt: skip


@pytest.mark.parametrize("pair", [("p.json", [["a"]]), ([["a"]], {"1": "a"}), ({"1": "a"}, "r.json")])
def test_values_of_two_kinds_are_refused(pair):
    with pytest.raises(InputError, match="candidates and references are both paths, both mappings or both lists"):
        sets_of(*pair, allow_missing=False)


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ([["a"]], [], "1 example has candidates but 0 have references"),
        (["a", "b"], [["x", "y"]] * 3, r"2 examples have candidates but 3 have references; of lists .* pass list\(zip\(\*references\)\)"),
        (["a", "b"], [["x"]] * 3, "2 examples have candidates but 3 have references$"),
        ([], [], "there are no examples"),
        (["a dog", ["a cat"]], [["a dog"], ["a cat"]], "candidates: example 1: is a list, example 0 is a text; expected one kind"),
        ([7], [["a dog"]], "expected a text or a list of texts; found 7"),
        ([[]], [["a"]], "the list is empty"),
        ("a dog", [["a"]], "expected a list with one list of texts, or one text, per example"),
    ],
)
def test_mistakes_name_their_place(candidates, references, message):
    with pytest.raises(InputError, match=message):
        caption_sets(candidates, references)
