"""Signs in the texts of a whole set."""

from __future__ import annotations

import pytest

from harness.contracts import CaptionSet
from harness.files.generated.remarks import output_remarks
from harness.files.generated.set_signs import SetSigns


def signs(*sets, role="references"):
    """Return the signs of the texts of items ``0``, ``1``, ... ."""
    out = SetSigns(role)
    for key, item in enumerate(sets):
        out.add([str(key)], [item])
    return out


def test_words_for_missing_values():
    text, count, example = signs(["a dog"], ["nan", "a cat"], ["None"]).absent()
    assert text == (
        "2 of 4 references are words for missing values (nan, None), as of '1', and "
        "scored as such"
    )
    assert (count, example) == (2, "1")
    assert signs(["none"], ["Nan is old"], ["null and void"]).absent() is None


@pytest.mark.parametrize("mark", ["|", " ||| ", "<sep>", "\n", "\t", "; "])
def test_references_that_were_joined(mark):
    sets = [[f"a dog{mark}the dog"], [f"a cat{mark}the cat"], [f"a bus{mark}it"]]
    text, count = signs(*sets).joined()
    assert text.startswith("3 of 3 references hold ")
    assert count == 3


def test_single_references_with_marks_in_some_are_not_joined():
    sets = [["a dog; the dog"], ["a cat"], ["a bus"], ["a man"]]
    assert signs(*sets).joined() is None
    assert signs(["a; b", "c"], ["d; e", "f"], ["g; h", "i"]).joined() is None
    assert signs(["a\n"], ["b\n"], ["c\n"]).joined() is None, "ends of lines"
    answers = [["a dog.\nIt runs."], ["a cat.\nIt sleeps."], ["a bus.\nIt waits."]]
    assert signs(*answers, role="candidates").joined() is None


def test_special_tokens_join_nothing():
    sets = [[f"<|im_start|>a {noun}<|im_end|>"] for noun in ("dog", "cat", "bus")]
    assert signs(*sets, role="candidates").joined() is None
    mixed = [[f"{text}|the {text}"] for (text,) in sets]
    assert signs(*mixed, role="candidates").joined()[1] == 3


def test_captions_that_are_lists_of_words():
    sets = [
        ["a", "dog", "runs", "on", "grass"],
        ["two", "cats", "sleep"],
        ["a", "b", "c", "d"],
    ]
    text, count = signs(*sets, role="candidates").split()
    assert text.startswith("all 12 captions of 3 examples are single words")
    assert count == 3
    assert signs(["yes"], ["no"], ["two"]).split() is None
    assert signs(*(["yes"] * 10 for _ in range(4))).split() is None, "answers of VQA"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a caf\\u00e9", "\\u00e9"),
        ("cats &amp; dogs", "&amp;"),
        ("a cafÃ©", "Ã©"),
        ("itâ€™s red", "â€™"),
        ("a caf\ufffd", "\ufffd"),
        ("a dog\\n", "\\n"),
    ],
)
def test_codes_in_place_of_characters(text, code):
    sentence, count, example = signs(["a dog"], [text]).codes()
    assert sentence.startswith(
        f"1 of 2 references holds codes in place of characters ({code}), as of '1'"
    )
    assert (count, example) == (1, "1")


@pytest.mark.parametrize(
    "text", ["a café", "R&B; jazz", "C:\\new", "Ã bientôt", "‚a €5 note’", "狗 & 猫"]
)
def test_characters_that_are_no_codes(text):
    assert signs([text]).codes() is None


def test_they_are_remarks():
    sets = [
        CaptionSet(str(k), ("nan",) if k == 2 else (f"a dog {k}",), ("x | y",))
        for k in range(4)
    ]
    kinds = [remark.kind for remark in output_remarks(sets)]
    assert kinds == ["absent", "joined"]
